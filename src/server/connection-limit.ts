import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../db/engine/engine.ts';
import type { Config } from './config.ts';
import { connectionsOf } from './workers/shares.ts';

type ConnectionConfig = Partial<Pick<Config, 'pool' | 'readDatabaseUrls' | 'prepared'>>;

/**
 * Warns when the service may open more connections than PostgreSQL accepts. A replica accepts at least as many as its primary and
 * is sent fewer, so the limit of the primary decides. Behind a pooler, which PREPARED=off indicates, the connections are the
 * pooler's.
 */
export async function warnOfConnectionLimit(
  { engine, unscoped }: Database,
  { pool, readDatabaseUrls = [], prepared = true }: ConnectionConfig,
  workers: number,
  logger: Logger,
): Promise<void> {
  if (engine !== 'postgres' || !pool || !prepared) return;
  const { primary: connections } = connectionsOf({ pool, readDatabaseUrls }, workers);
  const { rows } = await sql<{ accepted: number }>`
    select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      as accepted`.execute(unscoped);
  const [{ accepted } = { accepted: connections }] = rows;
  if (connections <= accepted) return;
  logger.warn(
    { connections, accepted },
    `The service may open ${connections} connections, but PostgreSQL accepts ${accepted}. Set a lower POOL_SIZE or fewer WORKERS, or raise max_connections.`,
  );
}
