import { insertRows } from '../../db/writes/insert-rows.ts';
import { updateImportedComment } from '../../db/writes/import-writes.ts';
import {
  insertSubscriptions,
  replaceAssignees,
  replaceLabels,
  replaceRoleAssignments,
} from '../../db/writes/issue-sets.ts';
import { selectLinkHashes } from '../../db/imports.ts';
import type { Row } from '../../db/tables/tables.ts';
import { transactionTarget, type Trx } from '../../db/engine/transaction.ts';
import { changeIssues } from '../../db/writes/issue-change.ts';
import type { RequestedChange } from '../../db/writes/issue-parts.ts';
import { changeOrigin } from '../../model/codes.ts';
import type { SettableColumn } from '../../model/issue-columns.ts';
import { type IssueField, issueFields } from '../../model/issue-fields.ts';
import { newUuid } from '../../resolvers/ids.ts';
import type { CleanComment } from './import-clean.ts';
import { completeHistories, type ImportWarning } from './import-history.ts';
import type { BatchParents } from './import-parents.ts';
import type { ImportTarget, People } from './import-people.ts';
import {
  assigneeRowsOf,
  changedIssueColumns,
  commentEntry,
  commentKey,
  commentRows,
  issueEntry,
  linkRows,
  type PreparedIssue,
  roleRows,
  subscriptionRows,
  updatesIn,
} from './import-rows.ts';

interface ReimportedIssues {
  prepared: readonly PreparedIssue[];
  /** Their rows, locked. */
  locked: ReadonlyMap<string, Row<'issue'>>;
}

/**
 * Updates issues that were imported before to their present state in the source. Data that the source does not have is kept,
 * including comments and links that were removed there. Returns the number of new comments.
 */
export async function updateChanged(
  trx: Trx,
  target: ImportTarget,
  people: People,
  changed: ReimportedIssues,
  parents: BatchParents,
  warnings: ImportWarning[],
): Promise<number> {
  const { added, written } = await completeHistories(trx, target, people, changed.prepared, warnings);
  const changes = changed.prepared.flatMap((prepared): RequestedChange[] => {
    const before = changed.locked.get(prepared.id);
    if (!before) return [];
    const entries = added.get(prepared.id) ?? [];
    const set = {
      ...changedIssueColumns(prepared, people, before),
      labelIds: prepared.references.labelIds.toSorted(),
      parentIssueId: parents.notDeleted.get(prepared.id) ?? null,
      deletedParentIssueId: parents.deleted.get(prepared.id) ?? null,
      activityCount: before.activityCount + entries.length,
      lastActivityUtc: entries.at(-1)?.occurredUtc ?? before.lastActivityUtc,
      // The import counts as a change, and so does each update in the feed.
      revision: before.revision + 1 + updatesIn(entries),
    };
    const event = { id: newUuid(), actor: null, fields: fieldsChanged(before, set, prepared) };
    return [{ issue: { id: prepared.id }, set, event }];
  });
  await changeTogether(trx, changes);
  let comments = 0;
  for (const prepared of changed.prepared) {
    if (!changed.locked.has(prepared.id)) continue;
    await replaceSets(trx, prepared, people);
    comments += await writeComments(trx, target, prepared, people);
  }
  await addLinks(trx, target, people, changed.prepared);
  await target.ledger.remember(
    trx,
    'issue',
    changed.prepared.map((prepared) => issueEntry(prepared, { ...written(prepared), deletedLinks: 0 })),
  );
  return comments;
}

/** The fields whose values differ between the source and the workspace. */
function fieldsChanged(
  before: Row<'issue'>,
  set: NonNullable<RequestedChange['set']>,
  { references, assignees }: PreparedIssue,
): IssueField[] {
  const values: Partial<Record<IssueField, unknown>> = {
    ...set,
    labelIds: references.labelIds.toSorted(),
    assigneeUserAccountIds: assignees.all,
  };
  return (Object.keys(issueFields) as IssueField[]).filter(
    (name) =>
      Object.hasOwn(values, name) &&
      JSON.stringify(values[name]) !== JSON.stringify(before[name as keyof Row<'issue'>]),
  );
}

/** Changes locked issues; those that set the same columns share a statement. */
async function changeTogether(trx: Trx, changes: readonly RequestedChange[]): Promise<void> {
  const byColumns = Map.groupBy(changes, ({ set = {} }) => Object.keys(set).sort().join());
  for (const alike of byColumns.values()) {
    const columns = Object.keys(alike[0]?.set ?? {}).sort() as SettableColumn[];
    await changeIssues(
      transactionTarget(trx),
      { kind: 'import', named: 'id', columns, deleted: true, wait: true },
      alike,
      { eventType: 'issue.updated.v1', origin: changeOrigin.import },
    );
  }
}

async function replaceSets(trx: Trx, prepared: PreparedIssue, people: People): Promise<void> {
  const { id, issue, references } = prepared;
  await replaceLabels(trx, [id], references.labelIds);
  await replaceAssignees(trx, [id], assigneeRowsOf(prepared));
  await insertSubscriptions(trx, subscriptionRows(prepared, people));
  if (issue.roleAssignments) await replaceRoleAssignments(trx, [id], roleRows(prepared, people));
}

/** Adds links that the issues have never had, so that links that were deleted here stay deleted. */
async function addLinks(
  trx: Trx,
  target: ImportTarget,
  people: People,
  changed: readonly PreparedIssue[],
): Promise<void> {
  const links = changed
    .flatMap((prepared) => linkRows(target, prepared, people))
    .filter(({ deletedUtc }) => deletedUtc === null);
  const keyOf = (link: Pick<Row<'issueLink'>, 'issueId' | 'urlHash'>) =>
    `${link.issueId} ${link.urlHash.toString('hex')}`;
  const known = new Set(
    (await selectLinkHashes(trx, [...new Set(links.map(({ issueId }) => issueId))])).map(keyOf),
  );
  await insertRows(
    trx,
    'issueLink',
    links.filter((link) => !known.has(keyOf(link))),
  );
}

/** Adds new comments and updates those that have changed. Returns the number of new ones. */
async function writeComments(
  trx: Trx,
  target: ImportTarget,
  prepared: PreparedIssue,
  people: People,
): Promise<number> {
  const { issue } = prepared;
  const keys = issue.comments.map(({ sourceId }) => commentKey(issue, sourceId));
  const imported = await target.ledger.find(trx, 'comment', keys);
  const before = (comment: CleanComment) => imported.get(commentKey(issue, comment.sourceId));
  const known = new Map(
    issue.comments.flatMap((comment) => {
      const earlier = before(comment);
      return earlier ? [[comment.sourceId, earlier.targetId] as const] : [];
    }),
  );
  const { rows, ids } = commentRows(target, prepared, people, known);
  await insertRows(trx, 'comment', rows);
  const written = issue.comments.filter((comment) => before(comment)?.record.digest !== comment.fingerprint);
  for (const { sourceId, body, updatedUtc, deletedUtc = null } of written) {
    const id = known.get(sourceId);
    const columns = { body, isEdited: true, updatedUtc, deletedUtc };
    if (id) await updateImportedComment(trx, id, columns);
  }
  await target.ledger.remember(
    trx,
    'comment',
    written.map((comment) =>
      commentEntry(issue, comment, ids.get(comment.sourceId) ?? '', before(comment)?.record),
    ),
  );
  return rows.length;
}
