import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { Manifest } from '../../src/cli/backup/manifest.ts';
import { type App, startApp } from '../support/app.ts';
import { sha256 } from '../support/sha256.ts';
import { backUp, dataOf, emptyTemplate, fillAndBackUp, manifestOf, restore } from './backup-world.ts';
import { inProcess } from './workgraph.ts';

/** A few rows of every table, and their backup. */
let smallApp: App;
let smallBackup: string;
/** Holds backups and data directories. */
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'workgraph-backup-'));
  smallBackup = join(folder, 'small');
  smallApp = await startApp();
  await fillAndBackUp(smallApp, smallBackup);
});

afterAll(async () => {
  await smallApp.stop();
  rmSync(folder, { recursive: true, force: true });
});

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

  it.each([[undefined], [[]]])(
    'refuse with a message a backup whose manifest has no migrations: %j',
    async (migrations) => {
      const incomplete = mkdtempSync(join(folder, 'incomplete-'));
      const manifest = join(incomplete, 'manifest.json');
      writeFileSync(manifest, JSON.stringify({ ...manifestOf(smallBackup), migrations }));
      expect(await restore(smallApp, incomplete)).toMatchObject({
        exitCode: 1,
        stderr: `${manifest} is not the manifest of a backup.\n`,
      });
    },
  );

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
