import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { hasServer } from '../db/engines.ts';
import { copyIntoDirectory } from '../support/templates.ts';
import { serve, workgraph } from './workgraph.ts';

const nobody = 65_534;
// Only root may give a directory away, and PostgreSQL needs none.
const asRoot = process.geteuid?.() === 0 && !hasServer ? describe : describe.skip;

asRoot('a data directory of another user', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'workgraph-foreign-'));
    await copyIntoDirectory('migrated', dataDir);
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  it.each([['workspace', 'list'], ['migrate'], ['serve', '--port', '0']])(
    'is not opened by %s %s',
    async (...words) => {
      chownSync(dataDir, nobody, nobody);
      const before = readdirSync(dataDir);
      expect(await workgraph([...words, '--data-dir', dataDir])).toEqual({
        exitCode: 1,
        stdout: '',
        stderr: `The data directory ${dataDir} belongs to another user (uid ${nobody}), who could not open files that this user would leave in it. Run this as its owner, for example with sudo -u '#${nobody}' or docker exec -u ${nobody}.\n`,
      });
      expect(readdirSync(dataDir)).toEqual(before);
    },
  );

  it('is used by a command through the server that runs on it', async () => {
    const serving = await serve(['--no-demo', '--data-dir', dataDir]);
    chownSync(dataDir, nobody, nobody);
    const ran = await workgraph(['workspace', 'list', '--data-dir', dataDir, '--json']);
    expect(ran).toMatchObject({ exitCode: 0, stdout: '[]\n', stderr: '' });
    expect(await serving.end()).toBe(0);
  });
});
