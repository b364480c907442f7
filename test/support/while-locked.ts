import { sql } from 'kysely';
import type { Database } from '../../src/db/engine/engine.ts';
import type { UnscopedTrx } from '../../src/db/engine/transaction.ts';
import { eventually } from './eventually.ts';

/**
 * Starts the work while another session holds a lock that the work needs, and releases the lock once the work waits for it. Needs a PostgreSQL
 * server, because the embedded engine has one session.
 */
export async function whileLocked<Result>(
  database: Database,
  hold: (trx: UnscopedTrx) => Promise<unknown>,
  work: () => Promise<Result>,
): Promise<PromiseSettledResult<Result>> {
  let done: Promise<PromiseSettledResult<Result>[]> | undefined;
  await database.unscoped.transaction().execute(async (trx) => {
    await hold(trx);
    done = Promise.allSettled([work()]);
    await untilLockWaits(database, 1);
  });
  const [settled] = (await done) ?? [];
  if (!settled) throw new Error('The work has not started.');
  return settled;
}

/** Waits until this many sessions of the database, or more, wait for a lock. */
export async function untilLockWaits({ unscoped }: Database, sessions: number): Promise<void> {
  await eventually(async () => {
    // A transaction would cache the statistics of other sessions, so this runs outside of the one that holds the lock.
    const { rows } = await sql<{ waiting: number }>`
      select count(*)::int as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(unscoped);
    return (rows[0]?.waiting ?? 0) >= sessions;
  });
}
