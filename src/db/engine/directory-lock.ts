import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DatabaseUnavailableError } from './unavailable.ts';

/** Another process uses the data directory. Two processes on one directory would lose rows silently. */
export class DataDirectoryHeldError extends Error {
  override readonly name = 'DataDirectoryHeldError';
  /** Whether the holder has announced that it is about to end. */
  readonly isStopping: boolean;

  constructor(dataDir: string, holder: Holder | undefined) {
    super(`The data directory ${dataDir} is held by ${holderText(holder?.pid)}.`);
    this.isStopping = holder?.isStopping ?? false;
  }
}

/** The data directory belongs to another user, who could not open files that this user would leave in it. */
export class ForeignDataDirectoryError extends Error {
  override readonly name = 'ForeignDataDirectoryError';

  constructor(dataDir: string, owner: number) {
    super(
      `The data directory ${dataDir} belongs to another user (uid ${owner}), who could not open files that this user would leave in it. Run this as its owner, for example with sudo -u '#${owner}' or docker exec -u ${owner}.`,
    );
  }
}

/**
 * A lock of the operating system on a data directory. The system releases it when the process ends, however it ends.
 */
export interface DataDirectoryLock {
  /** Announces to the next process that the directory will be free soon. */
  announceRelease(): void;
  release(): void;
}

/** The SQLite databases that hold locks. The garbage collector would close them and release their locks. */
const held = new Set<DatabaseSync>();

/**
 * Takes the lock, or throws DataDirectoryHeldError or ForeignDataDirectoryError at once. The lock is one of SQLite, because
 * Node has no other access to locks of the operating system. SQLite also refuses a second holder in this process.
 */
export function lockDataDirectory(dataDir: string): DataDirectoryLock {
  createDirectory(dataDir);
  const lockFile = join(dataDir, 'lock');
  const pidFile = join(dataDir, 'lock.pid');
  const owner = otherOwner(dataDir);
  // A server may still hold the directory, and then the command can run through that server. Opening an existing lock file
  // creates nothing that belongs to this user.
  if (owner !== undefined && !existsSync(lockFile)) throw new ForeignDataDirectoryError(dataDir, owner);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(lockFile);
    database.exec('pragma locking_mode = exclusive; begin exclusive');
    if (owner !== undefined) throw new ForeignDataDirectoryError(dataDir, owner);
  } catch (error) {
    database?.close();
    if (isBusy(error)) throw new DataDirectoryHeldError(dataDir, readHolder(pidFile));
    if (owner !== undefined) throw new ForeignDataDirectoryError(dataDir, owner);
    if (isFull(error))
      throw new DatabaseUnavailableError(`The disk of ${dataDir} is full.`, { cause: error });
    throw error;
  }
  held.add(database);
  // The pid is not in the lock file itself: if this process opened and closed that file, the lock would be released.
  writeFileSync(pidFile, `${process.pid}\n`);
  return {
    announceRelease: () => {
      try {
        writeFileSync(pidFile, `${process.pid} ${stopping}\n`);
      } catch {
        // The announcement only improves the message for the next process.
      }
    },
    release: () => {
      rmSync(pidFile, { force: true });
      held.delete(database);
      database.close();
    },
  };
}

/** The owner of a directory in which this process would leave files of another user. */
function otherOwner(dataDir: string): number | undefined {
  const { uid } = statSync(dataDir);
  // Windows has no such numbers.
  if (!process.geteuid || process.geteuid() === uid || ownerOfNewFiles(dataDir) === uid) return undefined;
  return uid;
}

/**
 * The owner of what this process creates in a directory. Some shared file systems give all files to one user, whoever
 * creates them. Undefined if this process may create nothing.
 */
function ownerOfNewFiles(directory: string): number | undefined {
  const probe = join(directory, `owner-${process.pid}`);
  try {
    writeFileSync(probe, '');
    return statSync(probe).uid;
  } catch {
    return undefined;
  } finally {
    rmSync(probe, { force: true });
  }
}

/**
 * Creates a directory and its missing parents one by one, and throws the first failure. In /proc, where nothing can be
 * created, a recursive `mkdirSync` would try forever.
 */
export function createDirectory(path: string): void {
  if (isDirectory(path)) return;
  const parent = dirname(path);
  if (parent !== path) createDirectory(parent);
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process may have created it in the meantime.
    if (!isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

const sqliteBusy = 5;
const sqliteFull = 13;

function isBusy(error: unknown): boolean {
  return codeOf(error) === sqliteBusy;
}

function isFull(error: unknown): boolean {
  return codeOf(error) === sqliteFull;
}

function codeOf(error: unknown): unknown {
  return (Object(error) as { errcode?: unknown }).errcode;
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
