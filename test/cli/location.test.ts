import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { lockDataDirectory } from '../../src/db/engine/directory-lock.ts';
import { copyIntoDirectory } from '../support/templates.ts';
import { workgraph } from './workgraph.ts';

/** Nothing listens there. */
const DATABASE_URL = 'postgres://127.0.0.1:1/x';
const unavailable = {
  exitCode: 1,
  stdout: '',
  stderr: 'PostgreSQL at 127.0.0.1:1 is unavailable: the connection was refused.\n',
};
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'workgraph-location-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it.each([['verify'], ['migrate']])(
  '%s refuses --data-dir where DATABASE_URL chooses another database',
  async (command) => {
    const dataDir = join(folder, 'new');
    const ran = await workgraph([command, '--data-dir', dataDir], { DATABASE_URL });
    expect(ran).toEqual({
      exitCode: 2,
      stdout: '',
      stderr:
        'DATABASE_URL is set, so --data-dir would not choose the database. Put `DATABASE_URL=` before the command to use the one in that directory, or add --database-url to use PostgreSQL.\n',
    });
    expect(existsSync(dataDir)).toBe(false);
  },
);

it('verify uses the database in --data-dir if DATABASE_URL is empty', async () => {
  const dataDir = join(folder, 'migrated');
  await copyIntoDirectory('migrated', dataDir);
  const ran = await workgraph(['verify', '--data-dir', dataDir], { DATABASE_URL: '' });
  expect(ran).toMatchObject({ exitCode: 0, stdout: '' });
});

it('verify uses PostgreSQL if --database-url is given with --data-dir, or DATABASE_URL with DATA_DIR', async () => {
  const words = ['verify', '--data-dir', folder, '--database-url', DATABASE_URL];
  expect(await workgraph(words)).toEqual(unavailable);
  expect(await workgraph(['verify'], { DATA_DIR: folder, DATABASE_URL })).toEqual(unavailable);
});

it('verify says that the holder of the directory may be a server that is starting', async () => {
  const dataDir = join(folder, 'held');
  const lock = lockDataDirectory(dataDir);
  expect(await workgraph(['verify', '--data-dir', dataDir])).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `The data directory ${dataDir} is held by another process (pid ${process.pid}). It accepts no commands yet: if it is a server that is starting, try again in a moment.\n`,
  });
  lock.release();
});
