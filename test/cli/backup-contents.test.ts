import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { notInBackups, selectBackupTables } from '../../src/db/backup/catalog.ts';
import type { Database } from '../../src/db/engine/engine.ts';
import type { AttachmentCaller } from '../attachments/files.ts';
import { hasServer } from '../db/engines.ts';
import { type App, startApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { copyIntoDirectory } from '../support/templates.ts';
import {
  backUp,
  dataOf,
  emptyEmbedded,
  emptyTemplate,
  fillAndBackUp,
  type Home,
  manifestOf,
  restore,
} from './backup-world.ts';
import { writers } from './backup-writers.ts';
import { inProcess, workgraph } from './workgraph.ts';

/** The demo, for tests that need many rows, and its backup. */
let app: App;
let demoBackup: string;
let caller: AttachmentCaller;
/** A server without issues, for tests that need few rows. */
let smallApp: App;
/** Holds backups and data directories. */
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'workgraph-backup-'));
  demoBackup = join(folder, 'demo');
  app = await startApp({ demo: true });
  caller = await fillAndBackUp(app, demoBackup);
  smallApp = await startApp();
});

afterAll(async () => {
  await app.stop();
  await smallApp.stop();
  rmSync(folder, { recursive: true, force: true });
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
    const [embedded, other] = [await emptyEmbedded(join(folder, 'there')), await emptyTemplate()];
    // The way back from PostgreSQL; without it, the second database is an embedded one already.
    const back = hasServer ? [await emptyEmbedded(join(folder, 'again'))] : [];
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
