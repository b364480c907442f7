import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The data directory belongs to a running process; two on one directory would lose rows without a word. */
export class DirectoryHeldError extends Error {
  override readonly name = 'DirectoryHeldError';

  constructor(dataDir: string, holder: number | undefined) {
    super(`The data directory ${dataDir} is held by ${holderText(holder)}.`);
  }
}

/** A lock of the operating system on a data directory: it ends with the process, however that ends. */
export interface DirectoryLock {
  release(): void;
}

/**
 * Takes the lock, or throws DirectoryHeldError at once. SQLite holds it, being the one way that Node has to a
 * lock of the operating system; it also refuses a second holder within this process.
 */
export function lockDirectory(dataDir: string): DirectoryLock {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const pidFile = join(dataDir, 'lock.pid');
  const database = new DatabaseSync(join(dataDir, 'lock'));
  try {
    database.exec('pragma locking_mode = exclusive; begin exclusive');
  } catch (error) {
    database.close();
    throw isBusy(error) ? new DirectoryHeldError(dataDir, readPid(pidFile)) : error;
  }
  // Beside the lock, not in it: whoever opens and closes the locked file in this process would drop the lock.
  writeFileSync(pidFile, `${process.pid}\n`);
  return {
    release: () => {
      rmSync(pidFile, { force: true });
      database.close();
    },
  };
}

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'errcode' in error && error.errcode === SQLITE_BUSY;
}

function readPid(pidFile: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(pidFile, 'utf8'), 10) || undefined;
  } catch {
    return undefined;
  }
}

function holderText(pid: number | undefined): string {
  if (pid === process.pid) return `this process (pid ${pid}) already`;
  return pid === undefined ? 'another process' : `another process (pid ${pid})`;
}
