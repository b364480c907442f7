import {
  selectAttachmentsOf,
  selectFeeds,
  selectInstallations,
  selectIssuesWithThread,
} from '../../db/imports.ts';
import type { NewRow } from '../../db/tables/tenant-tables.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import { insertRows } from '../../db/writes/insert-rows.ts';
import { events } from '../../model/events.ts';
import type { CleanActivity, CleanAttachment } from './import-clean-history.ts';
import type { ImportTarget, People } from './import-people.ts';
import type { PreparedIssue, WrittenHistory } from './import-rows.ts';
import { threadRows } from './import-threads.ts';

/** A warning about a line of the file, for the user. */
export interface ImportWarning {
  line: number;
  text: string;
}

/** The parts of an issue's history that are to be written. */
interface History {
  readonly prepared: PreparedIssue;
  readonly activity: readonly CleanActivity[];
  /** The number of entries that the feed already has. */
  readonly existingEntries: number;
  readonly attachments: readonly CleanAttachment[];
  readonly hasThread: boolean;
}

/** Writes the whole history of new issues: activity feeds, attachments with their files, and agent threads. */
export async function insertHistories(
  trx: Trx,
  target: ImportTarget,
  people: People,
  newIssues: readonly PreparedIssue[],
  warnings: ImportWarning[],
): Promise<(prepared: PreparedIssue) => WrittenHistory> {
  const histories = newIssues.map((prepared) => ({
    prepared,
    activity: prepared.issue.activity ?? [],
    existingEntries: 0,
    attachments: prepared.issue.attachments ?? [],
    hasThread: prepared.issue.agentThread !== undefined,
  }));
  return write(trx, target, people, histories, warnings);
}

/**
 * Writes the missing parts of the history of existing issues, and returns the entries that were added to each feed. A
 * feed is not changed if it has entries that the source does not have. An existing thread is not changed either. An attachment
 * that came before is not added again, even if it was deleted here and its row no longer exists.
 */
export async function completeHistories(
  trx: Trx,
  target: ImportTarget,
  people: People,
  changed: readonly PreparedIssue[],
  warnings: ImportWarning[],
): Promise<{
  added: ReadonlyMap<string, readonly CleanActivity[]>;
  written: (prepared: PreparedIssue) => WrittenHistory;
}> {
  const idsWith = (has: (prepared: PreparedIssue) => unknown) => changed.filter(has).map(({ id }) => id);
  const feeds = Map.groupBy(
    await selectFeeds(
      trx,
      idsWith(({ issue }) => issue.activity?.length),
    ),
    ({ issueId }) => issueId,
  );
  const attachments = Map.groupBy(
    await selectAttachmentsOf(
      trx,
      idsWith(({ issue }) => issue.attachments?.length),
    ),
    ({ issueId }) => issueId,
  );
  const threaded = await selectIssuesWithThread(
    trx,
    idsWith(({ issue }) => issue.agentThread),
  );
  const histories = changed.map((prepared): History => {
    const { id, issue, stored } = prepared;
    const feed = feeds.get(id) ?? [];
    const activity = issue.activity ?? [];
    const isContinued = feed.every((entry, index) => isSame(entry, activity[index]));
    const known = attachments.get(id) ?? [];
    return {
      prepared,
      activity: isContinued ? activity.slice(feed.length) : [],
      existingEntries: feed.length,
      attachments: (issue.attachments ?? []).filter(
        ({ key, fileName, createdUtc }) =>
          !stored.files?.includes(key) &&
          !known.some(
            (row) => row.fileName === fileName && row.createdUtc.getTime() === createdUtc.getTime(),
          ),
      ),
      hasThread: issue.agentThread !== undefined && !threaded.has(id),
    };
  });
  const written = await write(trx, target, people, histories, warnings);
  return { added: new Map(histories.map(({ prepared, activity }) => [prepared.id, activity])), written };
}

function isSame(
  entry: Pick<CleanActivity, 'occurredUtc' | 'text'> & { eventType: string },
  other: CleanActivity | undefined,
): boolean {
  return (
    entry.eventType === other?.eventType &&
    entry.text === other.text &&
    entry.occurredUtc.getTime() === other.occurredUtc.getTime()
  );
}

async function write(
  trx: Trx,
  target: ImportTarget,
  people: People,
  histories: readonly History[],
  warnings: ImportWarning[],
): Promise<(prepared: PreparedIssue) => WrittenHistory> {
  // Files are stored while the statements run.
  const storing = storeAttachments(target, people, histories, warnings);
  let messages: readonly NewRow<'agentThreadMessage'>[];
  try {
    const entries = histories.flatMap((history) => activityRows(target, people, history));
    await insertRows(trx, 'activity', entries);
    messages = await writeThreads(trx, target, people, histories, warnings);
  } finally {
    // If a statement failed, the caller removes the stored files, so nothing may be stored after this point.
    await Promise.allSettled([storing]);
  }
  const { rows, skipped } = await storing;
  await insertRows(trx, 'attachment', rows);
  return ({ id, issue }) => ({
    attachments: rows.filter(({ issueId }) => issueId === id).length,
    messages: messages.filter(({ issueId }) => issueId === id).length,
    files: (issue.attachments ?? []).filter((attachment) => !skipped.has(attachment)).map(({ key }) => key),
  });
}

async function writeThreads(
  trx: Trx,
  target: ImportTarget,
  people: People,
  histories: readonly History[],
  warnings: ImportWarning[],
): Promise<readonly NewRow<'agentThreadMessage'>[]> {
  const withThread = histories.filter(({ hasThread }) => hasThread);
  if (withThread.length === 0) return [];
  const installations = await selectInstallations(trx);
  const threads = withThread.flatMap(({ prepared }) => {
    const rows = threadRows(target, prepared, people, installations);
    if (!rows)
      warnings.push({ line: prepared.line, text: 'no agent is installed, so its agent thread is skipped' });
    return rows ?? [];
  });
  const rows = threads.map(({ thread }) => thread);
  await insertRows(trx, 'agentThread', rows);
  const messages = threads.flatMap((thread) => thread.messages);
  await insertRows(trx, 'agentThreadMessage', messages);
  return messages;
}

/** How many files are stored at the same time. For each, one file is open for reading and one for writing. */
const filesAtOnce = 16;

async function storeAttachments(
  target: ImportTarget,
  people: People,
  histories: readonly History[],
  warnings: ImportWarning[],
): Promise<{ rows: NewRow<'attachment'>[]; skipped: ReadonlySet<CleanAttachment> }> {
  const all = histories.flatMap(({ prepared, attachments }) =>
    attachments.map((attachment, index) => ({ prepared, attachment, index })),
  );
  const rows: NewRow<'attachment'>[] = [];
  const skipped = new Set<CleanAttachment>();
  for (let from = 0; from < all.length; from += filesAtOnce) {
    const stored = await Promise.allSettled(
      all
        .slice(from, from + filesAtOnce)
        .map(({ prepared, ...file }) => storeAttachment(target, people, prepared, file)),
    );
    for (const result of stored) {
      if (result.status === 'rejected') throw result.reason;
      const { value } = result;
      if ('row' in value) rows.push(value.row);
      else {
        skipped.add(value.skipped);
        warnings.push(value.warning);
      }
    }
  }
  return { rows, skipped };
}

function activityRows(
  { newId }: ImportTarget,
  people: People,
  { prepared: { id: issueId, issue }, activity, existingEntries }: History,
): NewRow<'activity'>[] {
  return activity.map(({ eventType, actor, occurredUtc, text }, index) => {
    const position = existingEntries + index;
    return {
      issueId,
      sortOrder: position + 1,
      id: newId({
        kind: 'activity',
        key: `${issue.sourceId} ${position}`,
        createdUtc: occurredUtc,
        index: position,
      }),
      eventType,
      actorUserAccountId: people.account(actor),
      occurredUtc,
      iconCss: events[eventType].icon,
      text,
    };
  });
}

async function storeAttachment(
  { workspaceId, newId, files }: ImportTarget,
  people: People,
  { id: issueId, issue, line }: PreparedIssue,
  { attachment, index }: { attachment: CleanAttachment; index: number },
): Promise<{ row: NewRow<'attachment'> } | { skipped: CleanAttachment; warning: ImportWarning }> {
  const { file, fileName, contentType, createdUtc, uploadedUtc } = attachment;
  const id = newId({ kind: 'attachment', key: `${issue.sourceId} ${fileName}`, createdUtc, index });
  const row = { id, revision: 1, fileName, contentType };
  const stored = await files.add({ ...row, workspaceId, file });
  if ('missing' in stored) {
    const text = `the attachment ${fileName} is skipped: ${stored.missing}`;
    return { skipped: attachment, warning: { line, text } };
  }
  const uploadedByUserAccountId = people.account(attachment.uploadedBy);
  const times = { createdUtc, uploadedUtc, deletedUtc: null };
  return { row: { ...row, ...stored, issueId, uploadedByUserAccountId, ...times } };
}
