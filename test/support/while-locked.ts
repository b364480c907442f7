import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../../src/db/engine/engine.ts';
import type { UnscopedTrx } from '../../src/db/engine/transaction.ts';

/**
 * Starts the work while another session holds a lock that the work needs, and releases the lock once the work waits for it. Needs a PostgreSQL
 * server, because the embedded engine has one session.
 */
export async function whileLocked<Result>(
  { unscoped }: Database,
  hold: (trx: UnscopedTrx) => Promise<unknown>,
  work: () => Promise<Result>,
): Promise<PromiseSettledResult<Result>> {
  let done: Promise<PromiseSettledResult<Result>[]> | undefined;
  await unscoped.transaction().execute(async (trx) => {
    await hold(trx);
    done = Promise.allSettled([work()]);
    for (let waiting = 0; waiting === 0; await delay(10)) {
      // This runs outside the transaction, which would cache the statistics of other sessions.
      const { rows } = await sql<{ waiting: number }>`
        select count(*)::int as waiting from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(unscoped);
      waiting = rows[0]?.waiting ?? 0;
    }
  });
  const [settled] = (await done) ?? [];
  if (!settled) throw new Error('The work has not started.');
  return settled;
}
