import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { type Database, openDatabase } from '../../src/db/engine/engine.ts';
import { migrate } from '../../src/db/engine/migrate.ts';
import { engines, type TemporaryDatabase } from './engines.ts';

const table = `export const up = (db) =>
  db.schema.createTable('thing').addColumn('id', 'integer').addColumn('old', 'integer').execute();`;
const oldIndex = `export const indexes = { creates: { thing_by_old: 'thing (old)' } };`;
const newIndex = `export const indexes = { creates: { thing_by_id: 'thing (id)' }, drops: ['thing_by_old'] };`;

describe.each(engines)('a migration of indexes on the %s engine', (engine, newDatabase) => {
  let temporary: TemporaryDatabase;
  let database: Database;
  let folder: string;
  beforeAll(async () => {
    temporary = await newDatabase();
    database = await openDatabase(temporary.location);
    folder = mkdtempSync(join(tmpdir(), 'workgraph-indexes-'));
  });
  afterAll(async () => {
    await database.close();
    await temporary.remove();
    rmSync(folder, { recursive: true });
  });
  beforeEach(async () => {
    await sql`drop schema public cascade; create schema public`.execute(database.unscoped);
    for (const file of readdirSync(folder)) rmSync(join(folder, file));
    add('0001_table', table);
    add('0002_old', oldIndex);
    await migrate(database, { folder });
  });

  it('creates the new ones and drops the old ones', async () => {
    expect(await validIndexes()).toEqual(['thing_by_old']);
    add('0003_new', newIndex);
    expect(await migrate(database, { folder })).toEqual(['0003_new']);
    expect(await validIndexes()).toEqual(['thing_by_id']);
  });

  it('builds an index again whose building was interrupted', async () => {
    await sql`insert into thing (id) values (1), (1)`.execute(database.unscoped);
    const building = sql`create unique index concurrently thing_by_id on thing (id)`;
    await expect(building.execute(database.unscoped)).rejects.toThrow('thing_by_id');
    expect(await validIndexes()).toEqual(['thing_by_old']);
    add('0003_new', newIndex);
    await migrate(database, { folder });
    expect(await validIndexes()).toEqual(['thing_by_id']);
  });

  it('keeps an index that an earlier attempt has completed', async () => {
    await sql`create index thing_by_id on thing (id)`.execute(database.unscoped);
    add('0003_new', newIndex);
    await migrate(database, { folder });
    expect(await validIndexes()).toEqual(['thing_by_id']);
  });

  // The embedded engine has one connection, which the migration uses.
  const ifManyConnections = engine === 'embedded' ? it.skip : it;
  ifManyConnections('lets others write to the table while it waits for a writer', async () => {
    add('0003_new', newIndex);
    const { migrating } = await database.unscoped.transaction().execute(async (transaction) => {
      await sql`insert into thing (id) values (1)`.execute(transaction);
      const started = migrate(database, { folder });
      await isBuilding();
      // With a plain CREATE INDEX, this insert would wait until the first writer has finished.
      await sql`insert into thing (id) values (2)`.execute(database.unscoped);
      return { migrating: started };
    });
    expect(await migrating).toEqual(['0003_new']);
    expect(await validIndexes()).toEqual(['thing_by_id']);
  });

  async function isBuilding(): Promise<void> {
    for (;;) {
      const { rows } = await sql`select from pg_stat_activity
        where wait_event_type = 'Lock' and query like '%create index%thing_by_id%'`.execute(
        database.unscoped,
      );
      if (rows.length > 0) return;
    }
  }

  function add(name: string, source: string): void {
    writeFileSync(join(folder, `${name}.ts`), source);
  }

  async function validIndexes(): Promise<string[]> {
    const { rows } = await sql<{ name: string }>`
      select c.relname::text as name from pg_index i join pg_class c on c.oid = i.indexrelid
      where i.indrelid = 'thing'::regclass and i.indisvalid order by 1`.execute(database.unscoped);
    return rows.map(({ name }) => name);
  }
});
