import { addGoneIssues, insertRows } from '../../db/writes/import-writes.ts';
import { takeIssueNumbers } from '../../db/issues.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import { type ImportWarning, insertHistories } from './import-history.ts';
import type { PlacedParents } from './import-parents.ts';
import type { ImportTarget, People } from './import-people.ts';
import {
  assigneeRowsOf,
  commentEntry,
  commentRows,
  issueEntry,
  labelRows,
  linkRows,
  newIssueRow,
  type PreparedIssue,
  roleRows,
  subscriptionRows,
} from './import-rows.ts';
import type { CountedIssue } from '../../resolvers/issues/issue-counts.ts';

/** Inserts issues with all that hangs on them, numbered in the order of the file. */
export async function insertFresh(
  trx: Trx,
  target: ImportTarget,
  people: People,
  fresh: readonly PreparedIssue[],
  parents: PlacedParents,
  warnings: ImportWarning[],
): Promise<{ counted: CountedIssue[]; comments: number }> {
  const issues = await numberedRows(trx, people, fresh, parents);
  const comments = fresh.map((prepared) => ({
    prepared,
    ...commentRows(target, prepared, people, new Map()),
  }));
  const rowsOf = <Row>(rows: (prepared: PreparedIssue, people: People) => Row[]): Row[] =>
    fresh.flatMap((prepared) => rows(prepared, people));
  await insertRows(trx, 'issue', issues);
  await insertRows(trx, 'issueLabel', rowsOf(labelRows));
  await insertRows(trx, 'issueAssignee', rowsOf(assigneeRowsOf));
  await insertRows(trx, 'issueRoleAssignment', rowsOf(roleRows));
  await insertRows(trx, 'issueSubscription', rowsOf(subscriptionRows));
  await insertRows(
    trx,
    'issueLink',
    rowsOf((prepared) => linkRows(target, prepared, people)),
  );
  await insertRows(
    trx,
    'comment',
    comments.flatMap(({ rows }) => rows),
  );
  await insertHistories(trx, target, people, fresh, warnings);
  await target.ledger.remember(trx, 'issue', fresh.map(issueEntry));
  await target.ledger.remember(
    trx,
    'comment',
    comments.flatMap(({ prepared: { issue }, ids }) =>
      issue.comments.map((comment) => commentEntry(issue, comment, ids.get(comment.sourceId) ?? '')),
    ),
  );
  return {
    // Deliveries and projects count living issues.
    counted: issues.filter(({ deletedUtc }) => deletedUtc === null),
    comments: comments.reduce((sum, { rows }) => sum + rows.length, 0),
  };
}

async function numberedRows(
  trx: Trx,
  people: People,
  fresh: readonly PreparedIssue[],
  { living, deleted, deletedChildren }: PlacedParents,
) {
  const numbers = await takeNumbers(trx, fresh);
  const children = new Map<string, number>();
  for (const [childId, parentId] of living) {
    if (!deletedChildren.has(childId)) children.set(parentId, (children.get(parentId) ?? 0) + 1);
  }
  return fresh.map((prepared, index) =>
    newIssueRow(prepared, people, {
      number: numbers[index] ?? 0,
      parentIssueId: living.get(prepared.id) ?? null,
      deletedParentIssueId: deleted.get(prepared.id) ?? null,
      subIssueCount: children.get(prepared.id) ?? 0,
    }),
  );
}

/** Takes numbers from the counters of teams, which are locked in the order of their ids. */
async function takeNumbers(trx: Trx, fresh: readonly PreparedIssue[]): Promise<number[]> {
  const counts = new Map<string, number>();
  for (const { references } of fresh) counts.set(references.teamId, (counts.get(references.teamId) ?? 0) + 1);
  const next = new Map<string, number>();
  for (const [teamId, count] of [...counts].sort(([left], [right]) => (left < right ? -1 : 1))) {
    next.set(teamId, (await takeIssueNumbers(trx, teamId, count)).number);
    const gone = fresh.filter((each) => each.references.teamId === teamId && each.issue.deletedUtc).length;
    if (gone > 0) await addGoneIssues(trx, teamId, gone);
  }
  return fresh.map(({ references: { teamId } }) => {
    const number = next.get(teamId) ?? 0;
    next.set(teamId, number + 1);
    return number;
  });
}
