import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The data directory belongs to a running process; two on one directory would lose rows without a word. */
export class DirectoryHeldError extends Error {
  override readonly name = 'DirectoryHeldError';
  /** Has the holder said that it is about to end. */
  readonly isStopping: boolean;

  constructor(dataDir: string, holder: Holder | undefined) {
    super(`The data directory ${dataDir} is held by ${holderText(holder?.pid)}.`);
    this.isStopping = holder?.isStopping ?? false;
  }
}

/** A lock of the operating system on a data directory: it ends with the process, however that ends. */
export interface DirectoryLock {
  /** Tells whoever wants the directory next that it will be free soon. */
  announceRelease(): void;
  release(): void;
}

/** The databases whose locks are held: a garbage-collected one would be closed, and its lock with it. */
const held = new Set<DatabaseSync>();

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
    throw isBusy(error) ? new DirectoryHeldError(dataDir, readHolder(pidFile)) : error;
  }
  held.add(database);
  // Beside the lock, not in it: whoever opens and closes the locked file in this process would drop the lock.
  writeFileSync(pidFile, `${process.pid}\n`);
  return {
    announceRelease: () => {
      try {
        writeFileSync(pidFile, `${process.pid} ${stopping}\n`);
      } catch {
        // Whoever comes next is then told that the directory is held, as by a server that goes on.
      }
    },
    release: () => {
      rmSync(pidFile, { force: true });
      held.delete(database);
      database.close();
    },
  };
}

const SQLITE_BUSY = 5;

function isBusy(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'errcode' in error && error.errcode === SQLITE_BUSY;
}

const stopping = 'stopping';

interface Holder {
  readonly pid: number;
  readonly isStopping: boolean;
}

function readHolder(pidFile: string): Holder | undefined {
  try {
    const [pid, state] = readFileSync(pidFile, 'utf8').trim().split(' ');
    return Number(pid) ? { pid: Number(pid), isStopping: state === stopping } : undefined;
  } catch {
    return undefined;
  }
}

function holderText(pid: number | undefined): string {
  if (pid === process.pid) return `this process (pid ${pid}) already`;
  return pid === undefined ? 'another process' : `another process (pid ${pid})`;
}
