import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { EmbeddedLocation } from '../../db/engine/embedded.ts';
import { type Database, openDatabase } from '../../db/engine/engine.ts';
import { migrate, type MigrateOptions, schemaState } from '../../db/engine/migrate.ts';
import type { Config } from '../../server/config.ts';
import { CommandError } from '../failures.ts';
import { pluralize } from '../pluralize.ts';

/** Opens and migrates the embedded database. Says so if it has to create it, which takes seconds. */
export async function openUpToDate(
  location: EmbeddedLocation,
  printMessage: (text: string) => void,
): Promise<Database> {
  const { dataDir } = location;
  if (!existsSync(join(dataDir, 'database'))) printMessage(`Creating a database in ${dataDir} …\n`);
  const database = await openDatabase(location);
  try {
    if ((await schemaState(database)).state !== 'current') {
      await refuseNewerSchema(database);
      await migrate(database, { report: (line) => printMessage(`${line}\n`) });
    }
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Applies the pending migrations and prints their names. */
export async function migrateLocation(
  config: Config,
  printMessage: (text: string) => void,
  onProgress?: MigrateOptions['onProgress'],
): Promise<string[]> {
  const { databaseUrl, dataDir, prepared, wire } = config;
  // There is no timeout because creating an index over many rows can take long.
  const location =
    databaseUrl === undefined
      ? { dataDir, wire }
      : { url: databaseUrl, prepared, wire, statementTimeoutMs: 0 };
  const database = await openDatabase(location);
  try {
    await refuseNewerSchema(database);
    return await migrate(database, {
      log: (line) => printMessage(`${line}\n`),
      ...(onProgress && { onProgress }),
    });
  } finally {
    await database.close();
  }
}

/** Throws if an external database is not up to date, because only `migrate` may change it. */
export async function requireCurrentSchema(database: Database): Promise<void> {
  await refuseNewerSchema(database);
  const { state, pending } = await schemaState(database);
  if (state === 'current') return;
  const problem =
    state === 'empty' ? 'has no tables yet' : `is behind by ${pluralize(pending.length, 'migration')}`;
  throw new CommandError(`The database ${problem}. Run \`npx workgraph migrate\`.`);
}

async function refuseNewerSchema(database: Database): Promise<void> {
  const { state } = await schemaState(database);
  if (state === 'ahead') {
    throw new CommandError('The database was migrated by a newer version of workgraph. Update workgraph.');
  }
}
