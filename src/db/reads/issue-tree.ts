import { sql } from 'kysely';
import { anyUuid } from '../query/any-uuid.ts';
import { workspaceOf } from '../engine/tenant-handle.ts';
import type { Trx } from '../engine/transaction.ts';

// 'wgpt' in ASCII: keeps these locks apart from any other advisory lock of the database.
const parentLocks = 0x77677074;

/**
 * Holds the parents of a workspace's issues still until the transaction ends: two moves at once could close a circle
 * that neither of them sees. Creating below a parent only shares the lock, since a new issue closes none.
 */
export async function lockParents(trx: Trx, mode: 'exclusive' | 'shared'): Promise<void> {
  const take = mode === 'shared' ? sql.raw('pg_advisory_xact_lock_shared') : sql.raw('pg_advisory_xact_lock');
  await trx
    .selectNoFrom(sql`${take}(${parentLocks}::int, hashtext(${workspaceOf(trx)}))`.as('taken'))
    .execute();
}

/** The issue's parent, its parent's parent and so on, nearest first. */
export async function selectAncestorIds(trx: Trx, issueId: string): Promise<string[]> {
  const rows = await trx
    .withRecursive('ancestor', (db) =>
      db
        .selectFrom('issue')
        .select('parentIssueId')
        .where('id', '=', issueId)
        .union((eb) =>
          eb
            .selectFrom('issue')
            .innerJoin('ancestor', 'ancestor.parentIssueId', 'issue.id')
            .select('issue.parentIssueId'),
        ),
    )
    .selectFrom('ancestor')
    .select('parentIssueId')
    .where('parentIssueId', 'is not', null)
    .execute();
  return rows.flatMap(({ parentIssueId }) => parentIssueId ?? []);
}

/** The sub-issues of an issue, those included that are deleted themselves. */
export async function selectChildIds(trx: Trx, issueId: string): Promise<string[]> {
  const children = trx.selectFrom('issue').select('id').where('parentIssueId', '=', issueId);
  // Each half has a partial index of its own.
  const rows = await children
    .where('deletedUtc', 'is', null)
    .unionAll(children.where('deletedUtc', 'is not', null))
    .execute();
  return rows.map(({ id }) => id);
}

/** The issues that an issue was the parent of when it was deleted, and that got no other since. */
export async function selectOrphanIds(trx: Trx, issueId: string): Promise<string[]> {
  const rows = await trx
    .selectFrom('issue')
    .select('id')
    .where('deletedParentIssueId', '=', issueId)
    .execute();
  return rows.map(({ id }) => id);
}

/** Takes sub-issues from a parent that is being deleted; they remember it. */
export async function detachChildren(trx: Trx, ids: string[], parentId: string): Promise<void> {
  if (ids.length === 0) return;
  await trx
    .updateTable('issue')
    .set((eb) => ({
      parentIssueId: null,
      deletedParentIssueId: parentId,
      revision: eb('revision', '+', 1),
    }))
    .where('id', '=', anyUuid(ids))
    .execute();
}

/** Gives sub-issues back to their restored parent. */
export async function reattachChildren(trx: Trx, ids: string[], parentId: string): Promise<void> {
  if (ids.length === 0) return;
  await trx
    .updateTable('issue')
    .set((eb) => ({
      parentIssueId: parentId,
      deletedParentIssueId: null,
      revision: eb('revision', '+', 1),
    }))
    .where('id', '=', anyUuid(ids))
    .execute();
}

/** Makes issues forget the deleted parent that they were waiting for; a client sees no difference. */
export async function forgetDeletedParent(trx: Trx, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await trx.updateTable('issue').set({ deletedParentIssueId: null }).where('id', '=', anyUuid(ids)).execute();
}

/** Adds to the sub-issue counts of locked parents; what hangs on an issue is no revision of it. */
export async function addToSubIssueCounts(trx: Trx, changes: ReadonlyMap<string, number>): Promise<void> {
  const changed = [...changes].filter(([, difference]) => difference !== 0);
  if (changed.length === 0) return;
  const ids = changed.map(([id]) => id);
  const differences = changed.map(([, difference]) => difference);
  await trx
    .updateTable('issue')
    .from(
      sql<{ id: string; difference: number }>`unnest(${ids}::uuid[], ${differences}::int[])`.as<'change'>(
        sql`change(id, difference)`,
      ),
    )
    .set((eb) => ({ subIssueCount: eb('issue.subIssueCount', '+', eb.ref('change.difference')) }))
    .whereRef('issue.id', '=', 'change.id')
    .execute();
}
