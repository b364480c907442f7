import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../db/engine/engine.ts';
import type { Config } from './config.ts';

type NeighbourConfig = Partial<Pick<Config, 'signingKeys' | 'storageUrl' | 'dataDir'>>;

const listener = 'workgraph listener';

/** The settings that servers on one database must share. Without them, each uses keys or files in its own data directory. */
const sharedSettings = {
  SIGNING_KEYS: 'keys',
  STORAGE_URL: 'files',
} as const;

/**
 * The name of the database connection on which a server listens. It names the data directory with the server's own keys or files,
 * so that another server on the database can find out whether it uses the same.
 */
export function listenerName({ signingKeys = [], storageUrl, dataDir = '' }: NeighbourConfig): string {
  const home = createHash('sha256').update(`${hostname()}:${dataDir}`).digest('hex').slice(0, 8);
  const ownSettings = [
    ...(signingKeys.length > 0 ? [] : [`${sharedSettings.SIGNING_KEYS}=${home}`]),
    ...(storageUrl === undefined ? [`${sharedSettings.STORAGE_URL}=${home}`] : []),
  ];
  return [listener, ...ownSettings].join(' ');
}

/**
 * Warns when another server listens on the same PostgreSQL database and has a different signing key or other files. It does not
 * see servers that do not listen, for example behind a pooler. If the database does not answer, the server starts without a
 * warning.
 */
export async function warnOfNeighbours(
  database: Database,
  config: NeighbourConfig,
  logger: Logger,
): Promise<void> {
  if (database.engine !== 'postgres') return;
  const names = await listenersOn(database).catch((error: unknown) => {
    logger.debug({ err: error }, 'the search for other servers on this database failed');
    return [];
  });
  const settings = differingSettings(listenerName(config), names);
  if (settings.length === 0) return;
  logger.warn(
    { settings },
    `Another server uses this database with a different ${settings.join(' and ')}. Files that one server stores or URLs that it signs do not work on the other. Configure the same values on all servers.`,
  );
}

async function listenersOn({ unscoped }: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct application_name as name from pg_stat_activity
    where datname = current_database() and application_name like ${`${listener}%`}`.execute(unscoped);
  return rows.map(({ name }) => name);
}

/** The settings in which a server differs from any of the others. */
function differingSettings(ownName: string, others: readonly string[]): string[] {
  return Object.entries(sharedSettings).flatMap(([setting, label]) =>
    others.some((other) => dataDirIn(other, label) !== dataDirIn(ownName, label)) ? [setting] : [],
  );
}

/** The data directory in a server's name; undefined when the server has the setting and does not use its data directory. */
function dataDirIn(name: string, label: string): string | undefined {
  return name
    .split(' ')
    .find((part) => part.startsWith(`${label}=`))
    ?.slice(label.length + 1);
}
