import type { DirectoryLock } from '../db/engine/directory-lock.ts';
import { type Database, openDatabase } from '../db/engine/engine.ts';
import type { Config } from '../server/config.ts';
import { openStorage } from '../storage/open-storage.ts';
import type { DatabaseCommand, Terminal } from './environment.ts';
import { openUpToDate, requireCurrentSchema } from './open-location.ts';

interface Here {
  readonly config: Config;
  readonly terminal: Terminal;
  /** The lock of the data directory, if the database is the embedded one. */
  readonly lock?: DirectoryLock;
}

/** Opens the database, runs the command in this process, and closes the database. */
export async function runHere(
  command: Pick<DatabaseCommand, 'execute' | 'hasNoTimeout'>,
  args: Record<string, unknown>,
  here: Here,
): Promise<number> {
  const { config, terminal } = here;
  const { dataDir } = config;
  const database = await open(here, command);
  try {
    if (config.databaseUrl !== undefined) await requireCurrentSchema(database);
    return await command.execute({ ...terminal, database, dataDir, store: openStorage(config) }, args);
  } finally {
    await database.close();
  }
}

function open(
  { config, terminal, lock }: Here,
  { hasNoTimeout }: Pick<DatabaseCommand, 'hasNoTimeout'>,
): Promise<Database> {
  const { databaseUrl: url, prepared, wire, dataDir } = config;
  if (url === undefined) return openUpToDate({ dataDir, lock }, terminal.stderr);
  return openDatabase({ url, prepared, wire, ...(hasNoTimeout && { statementTimeoutMs: 0 }) });
}
