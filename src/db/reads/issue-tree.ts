import { sql } from 'kysely';
import { advisoryLocks } from '../engine/advisory-locks.ts';
import { workspaceOf } from '../engine/tenant-handle.ts';
import type { Trx } from '../engine/transaction.ts';

/**
 * Prevents changes of parents in the workspace until the transaction ends: two simultaneous changes could form a cycle
 * that neither of them sees. Creating a sub-issue takes the lock in shared mode, since a new issue cannot be part of a
 * cycle.
 */
export async function lockParents(trx: Trx, mode: 'exclusive' | 'shared'): Promise<void> {
  const take = mode === 'shared' ? sql.raw('pg_advisory_xact_lock_shared') : sql.raw('pg_advisory_xact_lock');
  await trx
    .selectNoFrom(sql`${take}(${advisoryLocks.parents}::int, hashtext(${workspaceOf(trx)}))`.as('taken'))
    .execute();
}

/** The ids of the issue's ancestors, nearest first. */
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

/** The ids of the sub-issues of an issue, including deleted ones. */
export async function selectChildIds(trx: Trx, issueId: string): Promise<string[]> {
  const rows = await trx.selectFrom('issue').select('id').where('parentIssueId', '=', issueId).execute();
  return rows.map(({ id }) => id);
}

/** The ids of the issues that lost their parent when it was deleted, and have got no other parent since. */
export async function selectOrphanIds(trx: Trx, issueId: string): Promise<string[]> {
  const rows = await trx
    .selectFrom('issue')
    .select('id')
    .where('deletedParentIssueId', '=', issueId)
    .execute();
  return rows.map(({ id }) => id);
}
