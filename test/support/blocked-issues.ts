import { sql } from 'kysely';
import type { App } from './app.ts';

/** Runs the work while every request that reads issues is blocked. Requests for teams are not: teams are cached. */
export async function whileIssuesAreBlocked<Result>(
  { database }: Pick<App, 'database'>,
  work: () => Promise<Result>,
): Promise<Result> {
  if (database.engine === 'embedded') {
    const connection = await database.connect();
    return work().finally(() => connection.release());
  }
  return database.unscoped.transaction().execute(async (trx) => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);
    await sql`lock table issue in access exclusive mode`.execute(trx);
    return work();
  });
}
