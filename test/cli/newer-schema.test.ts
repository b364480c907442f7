import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { migrateLocation, openUpToDate, requireCurrentSchema } from '../../src/cli/location/open-location.ts';
import { openDatabase } from '../../src/db/engine/engine.ts';
import { readConfig } from '../../src/server/config.ts';
import { copyIntoDirectory } from '../support/templates.ts';

let dataDir: string;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'workgraph-newer-'));
  await copyIntoDirectory('migrated', dataDir);
  const database = await openDatabase({ dataDir });
  await sql`insert into migration (name) values ('9999_later')`.execute(database.unscoped);
  await database.close();
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const silent = () => {};
const refusal = 'The database was migrated by a newer version of workgraph. Update workgraph.';

it('neither a command nor a server opens a database that a newer version has changed', async () => {
  await expect(openUpToDate({ dataDir }, silent)).rejects.toThrow(refusal);
  const database = await openDatabase({ dataDir });
  try {
    await expect(requireCurrentSchema(database)).rejects.toThrow(refusal);
  } finally {
    await database.close();
  }
});

it('migrate refuses a database that a newer version has changed', async () => {
  await expect(migrateLocation(readConfig({ DATA_DIR: dataDir }), silent)).rejects.toThrow(refusal);
});
