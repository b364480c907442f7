import { sql } from 'kysely';
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
