import { insertRows } from '../../db/writes/insert-rows.ts';
import { addGoneIssues, markHistory } from '../../db/writes/import-writes.ts';
import { createIssues, formOf } from '../../db/writes/issue-creation.ts';
import { transactionTarget, type Trx } from '../../db/engine/transaction.ts';
import { type ImportWarning, insertHistories } from './import-history.ts';
import type { BatchParents } from './import-parents.ts';
import type { ImportTarget, People } from './import-people.ts';
import { historySinceUtc, stageRows } from './import-stages.ts';
import {
  commentEntry,
  commentRows,
  isNotDeleted,
  issueEntry,
  linkRows,
  newIssue,
  type PreparedIssue,
} from './import-rows.ts';

/** Inserts issues with everything that belongs to them, numbered in the order of the file. Returns the number of comments. */
export async function insertNewIssues(
  trx: Trx,
  target: ImportTarget,
  people: People,
  newIssues: readonly PreparedIssue[],
  parents: BatchParents,
  warnings: ImportWarning[],
): Promise<number> {
  await insertIssues(trx, people, newIssues, parents);
  const comments = newIssues.map((prepared) => ({
    prepared,
    ...commentRows(target, prepared, people, new Map()),
  }));
  await insertRows(
    trx,
    'issueLink',
    newIssues.flatMap((prepared) => linkRows(target, prepared, people)),
  );
  await insertRows(
    trx,
    'comment',
    comments.flatMap(({ rows }) => rows),
  );
  const written = await insertHistories(trx, target, people, newIssues, warnings);
  await target.ledger.remember(
    trx,
    'issue',
    newIssues.map((prepared) => {
      const deletedLinks = prepared.issue.links.filter((link) => !isNotDeleted(link)).length;
      return issueEntry(prepared, { ...written(prepared), deletedLinks });
    }),
  );
  await target.ledger.remember(
    trx,
    'comment',
    comments.flatMap(({ prepared: { issue }, ids }) =>
      issue.comments.map((comment) => commentEntry(issue, comment, ids.get(comment.sourceId) ?? '')),
    ),
  );
  return comments.reduce((sum, { rows }) => sum + rows.length, 0);
}

async function insertIssues(
  trx: Trx,
  people: People,
  newIssues: readonly PreparedIssue[],
  { notDeleted, deleted, deletedChildren }: BatchParents,
): Promise<void> {
  const children = new Map<string, number>();
  for (const [childId, parentId] of notDeleted) {
    if (!deletedChildren.has(childId)) children.set(parentId, (children.get(parentId) ?? 0) + 1);
  }
  const issues = newIssues.map((prepared) =>
    newIssue(prepared, people, {
      parentIssueId: notDeleted.get(prepared.id) ?? null,
      deletedParentIssueId: deleted.get(prepared.id) ?? null,
      subIssueCount: children.get(prepared.id) ?? 0,
    }),
  );
  await createIssues(transactionTarget(trx), { ...formOf(issues), preloads: [], wait: true }, issues);
  await insertRows(
    trx,
    'issueStage',
    newIssues.flatMap(({ id, references, stages }) => stageRows(id, references.teamId, stages)),
  );
  await markHistory(
    trx,
    newIssues.flatMap(({ issue, stages }) => historySinceUtc(issue, stages) ?? []),
  );
  const gone = Map.groupBy(
    newIssues.filter(({ issue }) => issue.deletedUtc),
    ({ references }) => references.teamId,
  );
  for (const [teamId, { length }] of gone) await addGoneIssues(trx, teamId, length);
}
