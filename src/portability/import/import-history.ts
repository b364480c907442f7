import {
  selectAttachmentsOf,
  selectFeeds,
  selectInstallations,
  selectIssuesWithThread,
} from '../../db/imports.ts';
import type { NewRow } from '../../db/tables/tenant-tables.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import { insertRows } from '../../db/writes/import-writes.ts';
import { events } from '../../model/events.ts';
import type { CleanActivity, CleanAttachment } from './import-clean-history.ts';
import type { ImportTarget, People } from './import-people.ts';
import type { PreparedIssue } from './import-rows.ts';
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
  fresh: readonly PreparedIssue[],
  warnings: ImportWarning[],
): Promise<void> {
  const histories = fresh.map((prepared) => ({
    prepared,
    activity: prepared.issue.activity ?? [],
    existingEntries: 0,
    attachments: prepared.issue.attachments ?? [],
    hasThread: prepared.issue.agentThread !== undefined,
  }));
  await write(trx, target, people, histories, warnings);
}

/**
 * Writes the missing parts of the history of existing issues, and returns the entries that were added to each feed. A
 * feed is not changed if it has entries that the source does not have. An existing thread is not changed either.
 */
export async function completeHistories(
  trx: Trx,
  target: ImportTarget,
  people: People,
  changed: readonly PreparedIssue[],
  warnings: ImportWarning[],
): Promise<Map<string, readonly CleanActivity[]>> {
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
    const { id, issue } = prepared;
    const feed = feeds.get(id) ?? [];
    const activity = issue.activity ?? [];
    const isContinued = feed.every((entry, index) => isSame(entry, activity[index]));
    const known = attachments.get(id) ?? [];
    return {
      prepared,
      activity: isContinued ? activity.slice(feed.length) : [],
      existingEntries: feed.length,
      attachments: (issue.attachments ?? []).filter(
        ({ fileName, createdUtc }) =>
          !known.some(
            (row) => row.fileName === fileName && row.createdUtc.getTime() === createdUtc.getTime(),
          ),
      ),
      hasThread: issue.agentThread !== undefined && !threaded.has(id),
    };
  });
  await write(trx, target, people, histories, warnings);
  return new Map(histories.map(({ prepared, activity }) => [prepared.id, activity]));
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
): Promise<void> {
  // Files are stored while the statements run.
  const storing = storeAttachments(target, people, histories, warnings);
  try {
    const entries = histories.flatMap((history) => activityRows(target, people, history));
    await insertRows(trx, 'activity', entries);
    await writeThreads(trx, target, people, histories, warnings);
  } finally {
    // If a statement failed, the caller removes the stored files, so nothing may be stored after this point.
    await Promise.allSettled([storing]);
  }
  await insertRows(trx, 'attachment', await storing);
}

async function writeThreads(
  trx: Trx,
  target: ImportTarget,
  people: People,
  histories: readonly History[],
  warnings: ImportWarning[],
): Promise<void> {
  const withThread = histories.filter(({ hasThread }) => hasThread);
  if (withThread.length === 0) return;
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
}

/** How many files are stored at the same time. For each, one file is open for reading and one for writing. */
const filesAtOnce = 16;

async function storeAttachments(
  target: ImportTarget,
  people: People,
  histories: readonly History[],
  warnings: ImportWarning[],
): Promise<NewRow<'attachment'>[]> {
  const all = histories.flatMap(({ prepared, attachments }) =>
    attachments.map((attachment, index) => ({ prepared, attachment, index })),
  );
  const rows: NewRow<'attachment'>[] = [];
  for (let from = 0; from < all.length; from += filesAtOnce) {
    const stored = await Promise.allSettled(
      all
        .slice(from, from + filesAtOnce)
        .map(({ prepared, ...file }) => storeAttachment(target, people, prepared, file)),
    );
    for (const result of stored) {
      if (result.status === 'rejected') throw result.reason;
      const { row, warning } = result.value;
      if (row) rows.push(row);
      if (warning) warnings.push(warning);
    }
  }
  return rows;
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
        madeUtc: occurredUtc,
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
): Promise<{ row?: NewRow<'attachment'>; warning?: ImportWarning }> {
  const { file, fileName, contentType, createdUtc, uploadedUtc } = attachment;
  const id = newId({ kind: 'attachment', key: `${issue.sourceId} ${fileName}`, madeUtc: createdUtc, index });
  const row = { id, revision: 1, fileName, contentType };
  const stored = await files.add({ ...row, workspaceId, file });
  if ('missing' in stored) {
    return { warning: { line, text: `the attachment ${fileName} is skipped: ${stored.missing}` } };
  }
  const uploadedByUserAccountId = people.account(attachment.uploadedBy);
  const times = { createdUtc, uploadedUtc, deletedUtc: null };
  return { row: { ...row, ...stored, issueId, uploadedByUserAccountId, ...times } };
}
