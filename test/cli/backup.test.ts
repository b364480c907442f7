import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { Manifest } from '../../src/cli/backup/manifest.ts';
import { notInBackups, selectBackupTables } from '../../src/db/backup/catalog.ts';
import { type Database, openDatabase } from '../../src/db/engine/engine.ts';
import { openStorage } from '../../src/storage/open-storage.ts';
import { type AttachmentCaller, newAttachmentCaller } from '../attachments/files.ts';
import { hasServer } from '../db/engines.ts';
import { type App, startApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { fillEveryTable } from '../support/full-workspace.ts';
import { sha256 } from '../support/sha256.ts';
import { copyIntoDirectory, copyTemplate, type TestDatabase } from '../support/templates.ts';
import { storeUploadedFiles } from '../support/uploaded-files.ts';
import { writers } from './backup-writers.ts';
import type { Ran } from './run-command.ts';
import { inProcess, workgraph } from './workgraph.ts';

/** The demo, for tests that need many rows, and its backup. */
let app: App;
let demoBackup: string;
let caller: AttachmentCaller;
/** A few rows of every table, for all other tests, and its backup. */
let smallApp: App;
let smallBackup: string;
/** Holds backups and data directories. */
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'workgraph-backup-'));
  demoBackup = join(folder, 'demo');
  app = await startApp({ demo: true });
  caller = await fillAndBackUp(app, demoBackup);
  smallBackup = join(folder, 'small');
  smallApp = await startApp();
  await fillAndBackUp(smallApp, smallBackup);
});

afterAll(async () => {
  await app.stop();
  await smallApp.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Adds rows to every table and the bytes of all files, and makes a backup. */
async function fillAndBackUp(app: App, to: string): Promise<AttachmentCaller> {
  await fillEveryTable(app);
  await storeUploadedFiles(app.database, app.store);
  const caller = await newAttachmentCaller(app);
  await caller.attach('plan.txt', 'text/plain', Buffer.from('Bytes of a file'));
  const { exitCode, stderr } = await backUp(app, to);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return caller;
}

const backUp = (from: Home, to: string): Promise<Ran> => inProcess(from, 'export', ['--to', to]);
const restore = (to: Home, from: string): Promise<Ran> => inProcess(to, 'import', [from, '--from', 'backup']);

/** What a command needs of an app. */
type Home = Pick<App, 'database' | 'dataDir' | 'store'>;

function homeOf(database: Database, dataDir: string): Home {
  return { database, dataDir, store: openStorage({ dataDir, storageUrl: undefined }) };
}

async function emptyEmbedded(name: string): Promise<Home> {
  const dataDir = join(folder, name);
  mkdirSync(dataDir);
  await copyIntoDirectory('migrated', dataDir);
  return homeOf(await openDatabase({ dataDir }), dataDir);
}

/** An empty database on the engine that this run tests. */
async function emptyTemplate(): Promise<Home & TestDatabase> {
  const test = await copyTemplate('migrated');
  return { ...test, ...homeOf(test.database, test.dataDir) };
}

/** All files of a backup except the manifest, which contains the time, by path. */
function dataOf(directory: string): Map<string, string> {
  const paths = globSync('**/*', { cwd: directory, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
  return new Map(
    paths
      .filter((path) => path !== 'manifest.json')
      .toSorted()
      .map((path) => [path, readFileSync(join(directory, path), 'base64')]),
  );
}

const manifestOf = (directory: string) =>
  JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8')) as Manifest;

describe('the commands', () => {
  it('say how many webhooks a backup leaves out, and that they must be created again', async () => {
    const webhookWarning = '1 webhook left out: after a restoration, create it again (docs/webhooks.md).\n';
    const saved = await backUp(smallApp, join(folder, 'told'));
    expect(saved).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(webhookWarning) });
    const target = await emptyTemplate();
    try {
      const restored = await inProcess(target, 'import', [smallBackup, '--from', 'backup', '--json']);
      expect(restored).toMatchObject({ exitCode: 0, stderr: expect.stringContaining(webhookWarning) });
      expect(JSON.parse(restored.stdout)).toMatchObject({ webhooks: 1 });
      expect(await backUp(target, join(folder, 'without'))).toMatchObject({
        exitCode: 0,
        stderr: expect.not.stringContaining('webhook'),
      });
    } finally {
      await target.drop();
    }
  });

  it('refuse with a message to overwrite a backup or to back up only a part', async () => {
    expect(await backUp(smallApp, smallBackup)).toMatchObject({
      exitCode: 1,
      stderr: `${smallBackup} already exists. A backup is written to a new directory.\n`,
    });
    const part = await inProcess(smallApp, 'export', ['--to', join(folder, 'part'), '--team', 'BD']);
    expect(part).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('contains everything') });
  });

  it('refuse with a message a place where nothing can be created', async () => {
    if (process.platform !== 'linux') return;
    expect(await backUp(smallApp, '/proc/backups/today')).toMatchObject({
      exitCode: 1,
      stderr: '/proc/backups does not exist and cannot be created.\n',
    });
  });

  it('refuse with a message to restore into a database that has rows', async () => {
    expect(await restore(smallApp, smallBackup)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('A backup can only be restored into an empty database'),
    });
  });

  it('restore once, and refuse with a message, when two restore into the same database at once', async () => {
    const target = await emptyTemplate();
    try {
      const ran = await Promise.all([restore(target, smallBackup), restore(target, smallBackup)]);
      const [done, refused] = ran.toSorted((a, b) => a.exitCode - b.exitCode);
      expect(done).toMatchObject({ exitCode: 0 });
      expect(refused).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('can only be restored into an empty database'),
      });
      expect(await inProcess(target, 'verify', ['--files'])).toMatchObject({ exitCode: 0, stdout: '' });
    } finally {
      await target.drop();
    }
  });

  it('refuse with a message a backup that is damaged or of another version', async () => {
    const target = await emptyTemplate();
    const damaged = join(folder, 'damaged');
    try {
      cpSync(smallBackup, damaged, { recursive: true });
      const manifest = manifestOf(damaged);
      const writeManifest = (change: Partial<Manifest>) =>
        writeFileSync(join(damaged, 'manifest.json'), JSON.stringify({ ...manifest, ...change }));
      const refusal = async () => (await restore(target, damaged)).stderr;
      writeManifest({ version: 2 });
      expect(await refusal()).toContain('this program can read up to version 1');
      writeManifest({ migrations: [...manifest.migrations, '0999_later'] });
      expect(await refusal()).toContain('newer workgraph');
      writeManifest({ migrations: manifest.migrations.slice(0, -1) });
      expect(await refusal()).toContain('older workgraph');
      writeManifest({ tables: manifest.tables.slice(1) });
      expect(await refusal()).toContain('have different tables');
      writeFileSync(join(damaged, 'manifest.json'), '{"format": "another"}');
      expect(await refusal()).toContain('is not the manifest of a backup');
      writeManifest({});
      const [content = ''] = [...dataOf(damaged).keys()].filter((path) => path.startsWith('files/'));
      const file = join(damaged, content);
      const bytes = readFileSync(file);
      rmSync(file);
      expect(await refusal()).toContain('cannot be read');
      writeFileSync(file, bytes);
      const files = readFileSync(join(damaged, 'files.ndjson'), 'utf8');
      const elsewhere = `${JSON.stringify({ key: '../elsewhere', bytes: 1 })}\n`;
      writeFileSync(join(damaged, 'files.ndjson'), elsewhere);
      writeManifest({
        files: { ...manifest.files, bytes: Buffer.byteLength(elsewhere), sha256: sha256(elsewhere) },
      });
      expect(await refusal()).toBe(
        `The backup is damaged: files.ndjson has the line ${elsewhere.trimEnd()}.\n`,
      );
      writeFileSync(join(damaged, 'files.ndjson'), files);
      writeManifest({});
      appendFileSync(join(damaged, 'tables/comment.ndjson'), ' ');
      expect(await refusal()).toContain('tables/comment.ndjson has changed since it was written');
      const comments = readFileSync(join(smallBackup, 'tables/comment.ndjson'), 'utf8');
      const firstRow = comments.slice(0, comments.indexOf('\n') + 1);
      const addComment = (row: string) => {
        const content = comments + row;
        const changed = { bytes: Buffer.byteLength(content), sha256: sha256(content) };
        writeFileSync(join(damaged, 'tables/comment.ndjson'), content);
        writeManifest({
          tables: manifest.tables.map((table) =>
            table.name === 'comment' ? { ...table, rows: table.rows + 1, ...changed } : table,
          ),
        });
      };
      addComment('{not JSON}\n');
      expect(await refusal()).toMatch(
        /^The backup is damaged: the database refuses a row of comment, .*invalid input syntax for type json/,
      );
      addComment(firstRow);
      expect(await refusal()).toMatch(
        /^The backup is damaged: the database refuses a row of comment, .*duplicate key.*already exists\.\n$/,
      );
      const { rows } = await sql`select 1 from workspace`.execute(target.database.unscoped);
      expect(rows).toEqual([]);
    } finally {
      await target.drop();
    }
  });
});

describe('a backup', () => {
  it('contains every table of the database, except those that are left out for a reason', async () => {
    const { rows } = await sql<{ name: string }>`
      select table_name as name from information_schema.tables
      where table_schema = current_schema() and table_type = 'BASE TABLE'`.execute(app.database.unscoped);
    const { tables } = manifestOf(demoBackup);
    const saved = tables.map(({ name }) => name);
    expect([...saved, ...Object.keys(notInBackups)].toSorted()).toEqual(
      expect.arrayContaining(rows.map(({ name }) => name).toSorted()),
    );
    expect(saved).toEqual((await selectBackupTables(app.database.unscoped)).map(({ name }) => name));
    // Else the way there and back would say nothing of it.
    expect(tables.filter((table) => table.rows === 0).map(({ name }) => name)).toEqual([]);
    expect(Object.values(notInBackups).every((reason) => reason.length > 20)).toBe(true);
  });

  it('restores the same data from the embedded engine to either engine and back', async () => {
    const [embedded, other] = [await emptyEmbedded('there'), await emptyTemplate()];
    // The way back from PostgreSQL; without it, the second database is an embedded one already.
    const back = hasServer ? [await emptyEmbedded('again')] : [];
    const keys = await foreignKeys(other.database);
    let from = demoBackup;
    try {
      for (const [index, home] of [embedded, other, ...back].entries()) {
        expect(await restore(home, from)).toMatchObject({ exitCode: 0 });
        expect(await inProcess(home, 'verify', ['--files'])).toMatchObject({ exitCode: 0, stdout: '' });
        from = join(folder, `next-${index}`);
        await expectBackup(home, from);
      }
      // They were taken away meanwhile.
      expect(await foreignKeys(other.database)).toEqual(keys);
      expect(keys.length).toBeGreaterThan(50);
    } finally {
      for (const { database } of [embedded, ...back]) await database.close();
      await other.drop();
    }
  });

  it('is a consistent snapshot under concurrent writes, including files', async () => {
    const writing = writers(app, caller.issueKey, caller.token);
    await writing.begun;
    const live = join(folder, 'live');
    const { exitCode } = await backUp(app, live);
    const during = await writing.stop();
    expect(exitCode).toBe(0);
    const rows = (name: string) => manifestOf(live).tables.find((table) => table.name === name)?.rows ?? 0;
    const { rows: now } = await sql<{ count: number }>`select count(*) as count from comment`.execute(
      app.database.unscoped,
    );
    // Some were written before it, and some after.
    expect(during.comments).toBeGreaterThan(0);
    expect(rows('comment')).toBeLessThan(now[0]?.count ?? 0);
    const restored = await emptyTemplate();
    try {
      expect(await restore(restored, live)).toMatchObject({ exitCode: 0 });
      expect(await inProcess(restored, 'verify', ['--files'])).toMatchObject({ exitCode: 0, stdout: '' });
    } finally {
      await restored.drop();
    }
  });

  it('does not appear before it is complete, whenever its process is killed', async () => {
    const dataDir = join(folder, 'killed');
    mkdirSync(dataDir);
    await copyIntoDirectory('demo', dataDir);
    const script = join(import.meta.dirname, '../../bin/workgraph.js');
    const words = ['export', '--to', join(folder, 'cut'), '--data-dir', dataDir];
    const child = spawn(process.execPath, [script, ...words], { stdio: 'ignore' });
    const closed = once(child, 'close');
    const partials = () => readdirSync(folder).filter((name) => name.startsWith('cut.partial-'));
    await eventually(() => child.exitCode !== null || partials().length > 0);
    child.kill('SIGKILL');
    await closed;
    expect(existsSync(join(folder, 'cut'))).toBe(false);
    const [partial = ''] = partials();
    const { exitCode, stderr } = await restore(smallApp, join(folder, partial));
    expect(exitCode).toBe(1);
    expect(stderr).toContain('is not a complete backup');
    const ran = await workgraph(['export', '--to', join(folder, 'cut'), '--data-dir', dataDir]);
    // The demo of the template is without its files, which the backup says.
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toMatch(/is not in the store, .*\n.* files were not in the store/s);
    expect(manifestOf(join(folder, 'cut')).files.missing).toBeGreaterThan(0);
  });

  it('leaves no files when it is interrupted', async () => {
    const gone = new AbortController();
    gone.abort();
    await expect(
      inProcess(smallApp, 'export', ['--to', join(folder, 'stopped')], gone.signal),
    ).resolves.toEqual({
      exitCode: 130,
      stdout: '',
      stderr: `Stopped. Nothing was written to ${join(folder, 'stopped')}.\n`,
    });
    expect(readdirSync(folder).filter((name) => name.startsWith('stopped'))).toEqual([]);
  });
});

async function expectBackup(from: Home, directory: string): Promise<void> {
  expect(await backUp(from, directory)).toMatchObject({ exitCode: 0 });
  const [expected, found] = [dataOf(demoBackup), dataOf(directory)];
  expect([...found.keys()]).toEqual([...expected.keys()]);
  for (const [path, bytes] of expected) expect([path, found.get(path) === bytes]).toEqual([path, true]);
  // The backup of the demo left out a webhook, so a restored database has none to leave out.
  expect(manifestOf(directory)).toEqual({
    ...manifestOf(demoBackup),
    createdUtc: expect.any(String),
    webhooks: 0,
  });
}

async function foreignKeys({ unscoped }: Database): Promise<unknown[]> {
  const { rows } = await sql`
    select conrelid::regclass::text as table, conname, pg_get_constraintdef(oid) as definition, convalidated
    from pg_constraint where contype = 'f' order by 1, 2`.execute(unscoped);
  return rows;
}
