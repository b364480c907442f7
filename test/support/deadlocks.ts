import { sql } from 'kysely';
import type { Database } from '../../src/db/engine/engine.ts';

/**
 * The number of deadlocks that PostgreSQL has counted in a database. A session reports its own at the end of a transaction, at most
 * once a second, so the idle connections of this process are used once to report theirs. Those of another process report theirs at
 * the end of a later transaction.
 */
export async function deadlocksIn({ unscoped }: Pick<Database, 'unscoped'>): Promise<number> {
  await Promise.all(
    Array.from({ length: 20 }, () =>
      sql`select pg_stat_force_next_flush(), pg_sleep(0.02)`.execute(unscoped),
    ),
  );
  const { rows } = await sql<{ deadlocks: number }>`
    select deadlocks::int as deadlocks from pg_stat_database where datname = current_database()`.execute(
    unscoped,
  );
  return rows[0]?.deadlocks ?? Number.NaN;
}
