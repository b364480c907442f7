import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from '@jest/globals';
import { reportFailure } from '../../src/cli/failures.ts';
import { copyIntoDirectory } from '../support/templates.ts';
import { StorageFullError, StorageUnavailableError } from '../../src/storage/storage.ts';
import { workgraph } from './workgraph.ts';

const root = join(import.meta.dirname, '../..');
const withCode = (message: string, code: string) => Object.assign(new Error(message), { code });

it.each([
  ['a full disk', withCode('no space left on device, write', 'ENOSPC'), 'The disk is full.\n'],
  [
    'a directory of files on a read-only file system',
    new StorageUnavailableError('The directory of the files, /srv/files, cannot be used.', {
      cause: Object.assign(withCode('read-only file system', 'EROFS'), { path: '/srv/files/a' }),
    }),
    '/srv/files/a is on a read-only file system.\n',
  ],
  [
    'a full disk of the database',
    withCode('could not extend file "base/5/17126": No space left on device', '53100'),
    'The disk of the database is full: could not extend file "base/5/17126": No space left on device.\n',
  ],
  [
    'a store that does not answer',
    new StorageUnavailableError('The store is silent.'),
    'The store is silent.\n',
  ],
  ['a store that is full', new StorageFullError('The store is full.'), 'The store is full.\n'],
  [
    'a role without a right',
    withCode('must be owner of table issue', '42501'),
    'PostgreSQL: must be owner of table issue. Use a role that owns the tables.\n',
  ],
])('a command reports %s without a stack', async (_what, error, message) => {
  let stderr = '';
  const exitCode = await reportFailure(
    () => Promise.reject(error),
    (line) => (stderr += line),
  );
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: message });
});

it('a command whose output does not fit on the disk says that it is incomplete', async () => {
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, ['bin/workgraph.js', 'schema'], {
    cwd: root,
    stdio: ['ignore', full, 'pipe'],
  });
  if (!child.stderr) throw new Error('Its errors are piped.');
  const stderr = text(child.stderr);
  const [exitCode] = (await once(child, 'exit')) as [number];
  expect({ exitCode, stderr: await stderr }).toEqual({
    exitCode: 1,
    stderr: 'Standard output cannot be written, so it is incomplete: the disk is full.\n',
  });
});

it('a command says why it cannot create its data directory', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'workgraph-link-'));
  try {
    const link = join(directory, 'dangling');
    symlinkSync(join(directory, 'nothing'), link);
    const file = join(directory, 'file');
    writeFileSync(file, '');
    const ran = (dataDir: string) => workgraph(['verify', '--data-dir', dataDir]);
    const refused = (words: string) => ({ exitCode: 1, stdout: '', stderr: `${words}.\n` });
    expect(await ran(join(link, 'x'))).toEqual(refused(`${link} exists and is not a directory`));
    expect(await ran(join(file, 'x', 'y'))).toEqual(refused(`${file} exists and is not a directory`));
    // On Linux, a directory in which nothing can be created, not even by root.
    if (existsSync('/proc/self'))
      expect(await ran('/proc/x/y')).toEqual(refused('/proc/x does not exist and cannot be created'));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

it('an export whose reader is gone after the first bytes ends without an error', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'workgraph-head-'));
  try {
    await copyIntoDirectory('demo', dataDir);
    const child = spawn(process.execPath, ['bin/workgraph.js', 'export', '--data-dir', dataDir], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const stderr = text(child.stderr);
    // The demo is many times as long as what fits into a pipe.
    child.stdout.once('data', () => child.stdout.destroy());
    const [exitCode] = (await once(child, 'exit')) as [number];
    expect({ exitCode, stderr: await stderr }).toEqual({
      exitCode: 0,
      stderr: expect.stringMatching(/^\d{3} issues of \d+ teams exported\n$/),
    });
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
