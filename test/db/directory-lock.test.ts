import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  DataDirectoryHeldError,
  ForeignDataDirectoryError,
  lockDataDirectory,
} from '../../src/db/engine/directory-lock.ts';

const source = join(import.meta.dirname, '../../src/db/engine/directory-lock.ts');
let dataDir: string;
let children: ChildProcess[] = [];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'workgraph-lock-'));
});

afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children = [];
  rmSync(dataDir, { recursive: true, force: true });
});

describe('the lock on a data directory', () => {
  it('is refused to a second process within a second, naming the first', async () => {
    const holder = await lockInAnotherProcess();
    const startedAtMs = performance.now();
    expect(() => lockDataDirectory(dataDir)).toThrow(
      `The data directory ${dataDir} is held by another process (pid ${holder.pid}).`,
    );
    expect(performance.now() - startedAtMs).toBeLessThan(1_000);
  });

  it('is refused on a directory of another user, in which it leaves nothing', () => {
    // Only root may give a directory away. To anybody else, those of root belong to another user.
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) chownSync(dataDir, 65_534, 65_534);
    expect(() => lockDataDirectory(isRoot ? dataDir : '/')).toThrow(ForeignDataDirectoryError);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it('names the process that holds the directory of another user, and adds nothing to such a directory', async () => {
    const holder = await lockInAnotherProcess();
    if (process.geteuid?.() === 0) chownSync(dataDir, 65_534, 65_534);
    expect(() => lockDataDirectory(dataDir)).toThrow(`(pid ${holder.pid})`);
    await kill9(holder);
    const left = readdirSync(dataDir);
    if (process.geteuid?.() === 0)
      expect(() => lockDataDirectory(dataDir)).toThrow(ForeignDataDirectoryError);
    expect(left).toEqual(expect.arrayContaining(readdirSync(dataDir)));
  });

  it('is refused a second time within one process', () => {
    const lock = lockDataDirectory(dataDir);
    expect(() => lockDataDirectory(dataDir)).toThrow(DataDirectoryHeldError);
    expect(() => lockDataDirectory(dataDir)).toThrow('held by this process');
    lock.release();
  });

  it('is kept by its holder when others try to take it', async () => {
    const lock = lockDataDirectory(dataDir);
    expect(() => lockDataDirectory(dataDir)).toThrow(DataDirectoryHeldError);
    expect(await outcomeInAnotherProcess()).toContain(`held by another process (pid ${process.pid})`);
    expect(await outcomeInAnotherProcess()).toContain('DataDirectoryHeldError');
    lock.release();
  });

  it('is released at once by kill -9', async () => {
    const holder = await lockInAnotherProcess();
    await kill9(holder);
    lockDataDirectory(dataDir).release();
  });

  it('can be taken after its release, by this process and by others', async () => {
    lockDataDirectory(dataDir).release();
    lockDataDirectory(dataDir).release();
    expect(await outcomeInAnotherProcess()).toBe('locked');
  });

  it('is granted to one of many concurrent processes', async () => {
    const holders = await Promise.all(Array.from({ length: 6 }, () => start()));
    expect(holders.filter(({ output }) => output === 'locked')).toHaveLength(1);
  });
});

/** Starts a process that tries to take the lock and then runs until it is killed. */
async function start(): Promise<{ child: ChildProcess; output: string }> {
  const script = `
    import { lockDataDirectory } from ${JSON.stringify(source)};
    try { lockDataDirectory(${JSON.stringify(dataDir)}); process.stdout.write('locked'); }
    catch (error) { process.stdout.write(String(error)); }
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  children.push(child);
  const [output] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, output: output.toString() };
}

async function lockInAnotherProcess(): Promise<ChildProcess> {
  const { child, output } = await start();
  expect(output).toBe('locked');
  return child;
}

async function outcomeInAnotherProcess(): Promise<string> {
  const { child, output } = await start();
  await kill9(child);
  return output;
}

async function kill9(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
