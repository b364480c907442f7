import { sql } from 'kysely';
import type { Database } from './engine.ts';
import type { UnscopedTrx } from './transaction.ts';

/**
 * Reads the database of one moment, across all workspaces: for the operator. The embedded engine has one session, where
 * everything else waits until the work is done.
 */
export function inSnapshot<Result>(
  { unscoped }: Pick<Database, 'unscoped'>,
  work: (trx: UnscopedTrx) => Promise<Result>,
): Promise<Result> {
  return unscoped
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      // Whole tables are joined, by keys that lead with the workspace. Loops within loops, and merges by the workspace
      // alone, take for ever there, and statistics that are old or few let the planner believe in them.
      await sql`set local enable_nestloop = off`.execute(trx);
      await sql`set local enable_mergejoin = off`.execute(trx);
      return work(trx);
    });
}
