import type { DataDirectoryLock } from '../../db/engine/directory-lock.ts';
import { type Database, openDatabase } from '../../db/engine/engine.ts';
import { type Config, readConfig, type Settings } from '../../server/config.ts';
import { openStorage } from '../../storage/open-storage.ts';
import type { DatabaseCommand, Terminal } from '../environment.ts';
import { openUpToDate, requireCurrentSchema } from './open-location.ts';

interface LocalRun {
  /** The settings that the command's flags contain. */
  readonly settings: Settings;
  readonly terminal: Terminal;
  /** The lock of the data directory, if the database is the embedded one. */
  readonly lock?: DataDirectoryLock | undefined;
}

/** Opens the database, runs the command in this process, and closes the database. */
export async function runHere(
  command: Pick<DatabaseCommand, 'execute' | 'hasNoTimeout'>,
  args: Record<string, unknown>,
  { settings, terminal, lock }: LocalRun,
): Promise<number> {
  const config = readConfig(settings);
  const { dataDir } = config;
  const database = await open(config, command, { terminal, lock });
  try {
    if (config.databaseUrl !== undefined) await requireCurrentSchema(database);
    return await command.execute({ ...terminal, database, dataDir, store: openStorage(config) }, args);
  } finally {
    await database.close();
  }
}

function open(
  { databaseUrl: url, prepared, wire, dataDir }: Config,
  { hasNoTimeout }: Pick<DatabaseCommand, 'hasNoTimeout'>,
  { terminal, lock }: Pick<LocalRun, 'terminal' | 'lock'>,
): Promise<Database> {
  if (url === undefined) return openUpToDate({ dataDir, lock }, terminal.stderr);
  return openDatabase({ url, prepared, wire, ...(hasNoTimeout && { statementTimeoutMs: 0 }) });
}
