import { sql } from 'kysely';
import type { Database } from './engine.ts';
import type { UnscopedTrx } from './transaction.ts';

/**
 * Reads all workspaces in one database snapshot, for commands of the operator. On the embedded engine, which has one
 * session, everything else waits until the work is done.
 */
export function inSnapshotOfAll<Result>(
  { unscoped }: Pick<Database, 'unscoped'>,
  work: (trx: UnscopedTrx) => Promise<Result>,
): Promise<Result> {
  return unscoped
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      // Whole tables are joined by keys that begin with the workspace. With missing or old statistics the planner
      // chooses nested loops, or merge joins by the workspace alone, which take hours.
      await sql`set local enable_nestloop = off`.execute(trx);
      await sql`set local enable_mergejoin = off`.execute(trx);
      return work(trx);
    });
}
