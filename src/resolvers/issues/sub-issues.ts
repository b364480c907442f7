import type { IssueRow } from '../../db/issues.ts';
import { inside, type Trx } from '../../db/engine/transaction.ts';
import { changeIssues } from '../../db/writes/issue-change.ts';

/** Adds to the sub-issue counts of locked parents. What belongs to an issue is no part of its revision. */
export async function addToSubIssueCounts(
  trx: Trx,
  locked: ReadonlyMap<string, IssueRow>,
  differences: ReadonlyMap<string, number>,
): Promise<void> {
  const parents = [...differences].flatMap(([id, difference]) => {
    const parent = locked.get(id);
    return parent && difference !== 0
      ? [{ issue: { id }, set: { subIssueCount: parent.subIssueCount + difference } }]
      : [];
  });
  const columns = ['subIssueCount'] as const;
  await changeIssues(
    inside(trx),
    { kind: 'columns', named: 'id', columns, deleted: true, wait: true },
    parents,
  );
}

/** Moves locked issues away from a parent that is being deleted; they remember it. */
export function detachChildren(trx: Trx, ids: readonly string[], parentId: string): Promise<void> {
  const set = { parentIssueId: null, deletedParentIssueId: parentId };
  return setParents(
    trx,
    ids.map((id) => ({ issue: { id }, set })),
  );
}

/** Gives locked issues back to their restored parent. */
export function reattachChildren(trx: Trx, ids: readonly string[], parentId: string): Promise<void> {
  const set = { parentIssueId: parentId, deletedParentIssueId: null };
  return setParents(
    trx,
    ids.map((id) => ({ issue: { id }, set })),
  );
}

/** Sets the parents of locked issues, or the deleted parents that they remember. */
export async function setParents(
  trx: Trx,
  children: readonly {
    issue: { id: string };
    set: { parentIssueId: string | null; deletedParentIssueId: string | null };
  }[],
): Promise<void> {
  await changeIssues(
    inside(trx),
    {
      kind: 'revision',
      named: 'id',
      columns: ['parentIssueId', 'deletedParentIssueId'],
      deleted: true,
      wait: true,
    },
    children,
  );
}

/** Makes locked issues forget the deleted parent that they were waiting for; a client sees no difference. */
export async function forgetDeletedParent(trx: Trx, ids: readonly string[]): Promise<void> {
  await changeIssues(
    inside(trx),
    { kind: 'columns', named: 'id', columns: ['deletedParentIssueId'], deleted: true, wait: true },
    ids.map((id) => ({ issue: { id }, set: { deletedParentIssueId: null } })),
  );
}
