import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { openDatabase } from '../../src/db/engine/engine.ts';
import type { Database } from '../../src/db/engine/engine.ts';
import { migrate, schemaState } from '../../src/db/engine/migrate.ts';
import { copyIntoDirectory } from '../support/templates.ts';
import { engines, hasServer, newServerDatabase } from './engines.ts';
import type { TemporaryDatabase } from './engines.ts';

const root = join(import.meta.dirname, '../..');

/** Migrations for the test. They import nothing, because packages cannot be resolved from a temporary directory. */
const first = `export const up = (db) => db.schema.createTable('first').addColumn('snake_case', 'integer').execute();`;
const second = `export const up = (db) => db.schema.createTable('second').addColumn('id', 'integer').execute();`;
const broken = `export const up = async (db) => {
  await db.schema.createTable('half').addColumn('id', 'integer').execute();
  throw new Error('half way');
};`;

describe.each(engines)('migrations on the %s engine', (_engine, newDatabase) => {
  let temporary: TemporaryDatabase;
  let database: Database;
  let folder: string;

  beforeAll(async () => {
    temporary = await newDatabase();
    // Copying a new database is faster than creating another one.
    if ('dataDir' in temporary.location) await copyIntoDirectory('empty', temporary.location.dataDir);
    database = await openDatabase(temporary.location);
  });

  afterAll(async () => {
    await database.close();
    await temporary.remove();
  });

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'workgraph-migrations-'));
    await sql`drop schema public cascade; create schema public`.execute(database.unscoped);
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('are applied in order and once', async () => {
    const lines: string[] = [];
    add('0002_second', second);
    add('0001_first', first);
    add('notes', 'throw new Error("not a migration")');
    expect(await schemaState(database, folder)).toEqual({
      state: 'empty',
      pending: ['0001_first', '0002_second'],
    });
    expect(await migrate(database, { folder, log: (line) => lines.push(line) })).toEqual([
      '0001_first',
      '0002_second',
    ]);
    expect(lines).toEqual(['applied migration 0001_first', 'applied migration 0002_second']);
    expect(await migrate(database, { folder })).toEqual([]);
    expect(await schemaState(database, folder)).toEqual({ state: 'current', pending: [] });
    expect(await tables()).toEqual(['first', 'migration', 'second']);
  });

  it('report when the database is behind', async () => {
    add('0001_first', first);
    await migrate(database, { folder });
    add('0002_second', second);
    expect(await schemaState(database, folder)).toEqual({ state: 'behind', pending: ['0002_second'] });
    expect(await migrate(database, { folder })).toEqual(['0002_second']);
  });

  it('refuse a database that is ahead of them', async () => {
    add('0001_first', first);
    add('0002_second', second);
    await migrate(database, { folder });
    rmSync(join(folder, '0002_second.ts'));
    expect(await schemaState(database, folder)).toEqual({ state: 'ahead', pending: [] });
    await expect(migrate(database, { folder })).rejects.toThrow('0002_second');
  });

  it('are applied completely or not at all, and those before a failed one are kept', async () => {
    add('0001_first', first);
    add('0002_broken', broken);
    await expect(migrate(database, { folder })).rejects.toThrow('half way');
    expect(await tables()).toEqual(['first', 'migration']);
    expect(await schemaState(database, folder)).toEqual({ state: 'behind', pending: ['0002_broken'] });
  });

  it('create the schema in an empty database', async () => {
    const applied = await migrate(database);
    expect(applied).toEqual(repositoryMigrations());
    expect(await schemaState(database)).toEqual({ state: 'current', pending: [] });
  });

  it('run once when they are started several times at once in one process', async () => {
    add('0001_first', first);
    add('0002_second', second);
    const runs = await Promise.all(Array.from({ length: 5 }, () => migrate(database, { folder })));
    expect(runs.flat().toSorted()).toEqual(['0001_first', '0002_second']);
  });

  function add(name: string, source: string): void {
    writeFileSync(join(folder, `${name}.ts`), source);
  }

  async function tables(): Promise<string[]> {
    const { rows } = await sql<{ name: string }>`select tablename::text as name from pg_tables
      where schemaname = 'public' order by 1`.execute(database.unscoped);
    return rows.map(({ name }) => name);
  }
});

const onPostgres = hasServer ? describe : describe.skip;

onPostgres('migrations of ten processes', () => {
  it('run once when several processes start at once on a new database', async () => {
    const temporary = await newServerDatabase();
    const script = `
      import { openDatabase } from ${JSON.stringify(join(root, 'src/db/engine/engine.ts'))};
      import { migrate } from ${JSON.stringify(join(root, 'src/db/engine/migrate.ts'))};
      const database = await openDatabase({ ...${JSON.stringify(temporary.location)}, poolSize: 2 });
      console.log('ready');
      for await (const _ of process.stdin);
      console.log(JSON.stringify(await migrate(database)));
      await database.close();`;
    const processes = await Promise.all(Array.from({ length: 10 }, () => ready(script)));
    for (const { stdin } of processes) stdin.end();
    const runs = await Promise.all(processes.map((child) => text(child.stdout)));
    const applied = runs.flatMap((run) => JSON.parse(run) as string[]);
    expect(applied.toSorted()).toEqual(repositoryMigrations());
    await temporary.remove();
  });
});

/** Starts a process that opens the database and waits for the end of its input. */
async function ready(script: string): Promise<ChildProcessByStdio<Writable, Readable, null>> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return child;
}

function repositoryMigrations(): string[] {
  return readdirSync(join(root, 'migrations'))
    .map((file) => file.replace('.ts', ''))
    .toSorted();
}
