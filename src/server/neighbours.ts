import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../db/engine/engine.ts';
import type { Config } from './config.ts';

type NeighbourConfig = Partial<Pick<Config, 'signingKeys' | 'storageUrl' | 'dataDir'>>;

const listener = 'workgraph listener';

/** The settings without which each server has something of its own in its data directory. */
const shared = {
  SIGNING_KEYS: 'keys',
  STORAGE_URL: 'files',
} as const;

/**
 * The name of the database connection on which a server listens. It says which data directory holds what the server has
 * for itself alone, so that the next server on the database can tell whether it has the same.
 */
export function listenerName({ signingKeys = [], storageUrl, dataDir = '' }: NeighbourConfig): string {
  const home = createHash('sha256').update(`${hostname()}:${dataDir}`).digest('hex').slice(0, 8);
  const own = [
    ...(signingKeys.length > 0 ? [] : [`${shared.SIGNING_KEYS}=${home}`]),
    ...(storageUrl === undefined ? [`${shared.STORAGE_URL}=${home}`] : []),
  ];
  return [listener, ...own].join(' ');
}

/**
 * Warns when another server listens on the same PostgreSQL database and has a signing key or files of its own. Servers
 * that do not listen, as behind a pooler, are not seen. A database that does not answer does not keep a server from
 * starting.
 */
export async function warnOfNeighbours(
  database: Database,
  config: NeighbourConfig,
  logger: Logger,
): Promise<void> {
  if (database.engine !== 'postgres') return;
  const names = await listenersOn(database).catch((error: unknown) => {
    logger.debug({ err: error }, 'other servers on this database could not be looked for');
    return [];
  });
  const settings = apart(listenerName(config), names);
  if (settings.length === 0) return;
  logger.warn(
    { settings },
    `Another server works on this database, and the two do not share ${settings.join(' and ')}: files that one takes or addresses that one signs are no good at the other. Give all servers the same values.`,
  );
}

async function listenersOn({ unscoped }: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct application_name as name from pg_stat_activity
    where datname = current_database() and application_name like ${`${listener}%`}`.execute(unscoped);
  return rows.map(({ name }) => name);
}

/** The settings by which a server differs from any of the others. */
function apart(own: string, others: readonly string[]): string[] {
  return Object.entries(shared).flatMap(([setting, word]) =>
    others.some((other) => homeIn(other, word) !== homeIn(own, word)) ? [setting] : [],
  );
}

/** Where the server of this name keeps its own; undefined when it has what all are given. */
function homeIn(name: string, word: string): string | undefined {
  return name
    .split(' ')
    .find((part) => part.startsWith(`${word}=`))
    ?.slice(word.length + 1);
}
