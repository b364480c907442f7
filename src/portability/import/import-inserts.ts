import { insertRows, upsertImportSources } from '../../db/writes/import-writes.ts';
import { takeIssueNumbers } from '../../db/issues.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import type { ImportTarget, People } from './import-people.ts';
import {
  assigneeRowsOf,
  commentRows,
  commentSource,
  issueSource,
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
  parents: ReadonlyMap<string, string>,
): Promise<{ issues: CountedIssue[]; comments: number }> {
  const { workspaceId } = target;
  const issues = await numberedRows(trx, workspaceId, people, fresh, parents);
  const comments = fresh.map((prepared) => ({
    prepared,
    ...commentRows(workspaceId, prepared, people, new Map()),
  }));
  const rowsOf = <Row>(
    rows: (workspaceId: string, prepared: PreparedIssue, people: People) => Row[],
  ): Row[] => fresh.flatMap((prepared) => rows(workspaceId, prepared, people));
  await insertRows(trx, 'issue', issues);
  await insertRows(trx, 'issueLabel', rowsOf(labelRows));
  await insertRows(trx, 'issueAssignee', rowsOf(assigneeRowsOf));
  await insertRows(trx, 'issueRoleAssignment', rowsOf(roleRows));
  await insertRows(trx, 'issueSubscription', rowsOf(subscriptionRows));
  await insertRows(trx, 'issueLink', rowsOf(linkRows));
  await insertRows(
    trx,
    'comment',
    comments.flatMap(({ rows }) => rows),
  );
  const sources = comments.flatMap(({ prepared: { issue }, ids }) =>
    issue.comments.map((comment) => commentSource(target, issue, comment, ids.get(comment.sourceId) ?? '')),
  );
  await upsertImportSources(trx, [...fresh.map((prepared) => issueSource(target, prepared)), ...sources]);
  return { issues, comments: comments.reduce((sum, { rows }) => sum + rows.length, 0) };
}

async function numberedRows(
  trx: Trx,
  workspaceId: string,
  people: People,
  fresh: readonly PreparedIssue[],
  parents: ReadonlyMap<string, string>,
) {
  const numbers = await takeNumbers(trx, workspaceId, fresh);
  const children = new Map<string, number>();
  for (const parentId of parents.values()) children.set(parentId, (children.get(parentId) ?? 0) + 1);
  return fresh.map((prepared, index) =>
    newIssueRow(workspaceId, prepared, people, {
      number: numbers[index] ?? 0,
      parentIssueId: parents.get(prepared.id) ?? null,
      subIssueCount: children.get(prepared.id) ?? 0,
    }),
  );
}

/** Takes numbers from the counters of teams, which are locked in the order of their ids. */
async function takeNumbers(
  trx: Trx,
  workspaceId: string,
  fresh: readonly PreparedIssue[],
): Promise<number[]> {
  const counts = new Map<string, number>();
  for (const { references } of fresh) counts.set(references.teamId, (counts.get(references.teamId) ?? 0) + 1);
  const next = new Map<string, number>();
  for (const [teamId, count] of [...counts].sort(([left], [right]) => (left < right ? -1 : 1))) {
    next.set(teamId, (await takeIssueNumbers(trx, workspaceId, teamId, count)).number);
  }
  return fresh.map(({ references: { teamId } }) => {
    const number = next.get(teamId) ?? 0;
    next.set(teamId, number + 1);
    return number;
  });
}
