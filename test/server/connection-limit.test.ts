import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { pino } from 'pino';
import { readConfig } from '../../src/server/config.ts';
import { warnOfConnectionLimit } from '../../src/server/connection-limit.ts';
import { hasServer } from '../db/engines.ts';
import { type App, startApp } from '../support/app.ts';

let app: App;
/** The number of connections that PostgreSQL accepts. */
let maxConnections: number;
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
  if (!hasServer) return;
  const { rows } = await sql<{ accepted: number }>`
    select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      as accepted`.execute(app.database.unscoped);
  maxConnections = rows[0]?.accepted ?? 0;
});
afterAll(() => app.stop());

async function warnings(workers: number, settings: Record<string, string>): Promise<unknown[]> {
  const lines: unknown[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const config = readConfig({ DATABASE_URL: 'postgres://127.0.0.1/any', ...settings }, {});
  await warnOfConnectionLimit(app.database, config, workers, logger);
  return lines;
}

const onPostgres = hasServer ? it : it.skip;

onPostgres(
  'the start warns if all workers together may open more connections than PostgreSQL accepts',
  async () => {
    // Each of two workers has a connection for probes; one of them listens, and one holds the janitor's lock.
    const maxPoolSize = Math.floor((maxConnections - 2) / 2) - 1;
    expect(await warnings(2, { POOL_SIZE: String(maxPoolSize) })).toEqual([]);
    expect(await warnings(2, { POOL_SIZE: String(maxPoolSize + 1) })).toEqual([
      expect.objectContaining({
        level: 40,
        accepted: maxConnections,
        connections: 2 * (maxPoolSize + 2) + 2,
      }),
    ]);
  },
);

onPostgres(
  'the start counts the connections over which workers ask for the positions of replicas',
  async () => {
    const maxPoolSize = Math.floor((maxConnections - 2) / 2) - 1;
    const settings = { READ_DATABASE_URLS: 'postgres://127.0.0.1/replica', POOL_SIZE: String(maxPoolSize) };
    expect(await warnings(2, settings)).toHaveLength(1);
  },
);

onPostgres(
  'the start does not warn behind a pooler, whose connections are not those of PostgreSQL',
  async () => {
    expect(await warnings(64, { POOL_SIZE: '100', PREPARED: 'off' })).toEqual([]);
  },
);
