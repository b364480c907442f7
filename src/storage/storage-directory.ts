import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ByteRange, type FileStore, StorageFullError, StorageUnavailableError } from './storage.ts';

/** Files in a local directory, or in one that several machines mount. */
export class DirectoryStore implements FileStore {
  readonly #root: string;
  readonly #partialDirectory: string;

  constructor(root: string) {
    this.#root = resolve(root);
    this.#partialDirectory = join(this.#root, '.partial');
  }

  async put(key: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const path = join(this.#root, key);
    const partial = join(this.#partialDirectory, randomUUID());
    await this.#translateErrors(mkdir(this.#partialDirectory, { recursive: true, mode: 0o700 }));
    await this.#translateErrors(mkdir(dirname(path), { recursive: true, mode: 0o700 }));
    try {
      // Opened without a stream: a stream that fails at once could create its file after the file was removed.
      const file = await this.#translateErrors(open(partial, 'wx', 0o600));
      // The bytes are on the disk before the file gets its name, so that after a power failure the file is either
      // complete or absent. An error may be that of the bytes, whose source is not this directory.
      await pipeline(bytes, file.createWriteStream({ flush: true })).catch((error: unknown) => {
        throw diskFullCodes.has(codeOf(error)) ? diskFullError(error) : error;
      });
      await this.#translateErrors(rename(partial, path));
      await this.#translateErrors(this.#syncDirectories(dirname(path)));
    } catch (error) {
      await rm(partial, { force: true }).catch(() => undefined);
      throw error;
    }
  }

  async get(key: string, range?: ByteRange): Promise<Readable | undefined> {
    const file = await this.#translateErrors(unlessMissing(open(join(this.#root, key))));
    if (!file) return undefined;
    // With a known end, the stream ends with the last byte. Without one it would end after another read, during which a
    // client that has all bytes may already have disconnected.
    const { size } = await this.#translateErrors(file.stat());
    return file.createReadStream(range ?? (size > 0 ? { end: size - 1 } : undefined));
  }

  async size(key: string): Promise<number | undefined> {
    const stats = await this.#translateErrors(unlessMissing(stat(join(this.#root, key))));
    return stats?.size;
  }

  async remove(key: string): Promise<void> {
    await this.#translateErrors(rm(join(this.#root, key), { force: true }));
  }

  async removeIncomplete(before: Date): Promise<number> {
    let removed = 0;
    for (const name of await readdir(this.#partialDirectory).catch(() => [])) {
      const path = join(this.#partialDirectory, name);
      const stats = await stat(path).catch(() => undefined);
      if (!stats || stats.mtime >= before) continue;
      await rm(path, { force: true });
      removed += 1;
    }
    return removed;
  }

  /**
   * Writes the names in a directory to the disk, and those in the directories above it. A file has its name from its
   * directory: without this, it could be gone after a power failure although its bytes are on the disk.
   */
  async #syncDirectories(deepestDirectory: string): Promise<void> {
    for (let directory = deepestDirectory; ; directory = dirname(directory)) {
      const handle = await open(directory);
      try {
        await handle.sync().catch((error: unknown) => {
          if (!unsupportedSyncCodes.has(codeOf(error))) throw error;
        });
      } finally {
        await handle.close();
      }
      if (directory === this.#root) return;
    }
  }

  /** Translates the errors of the file system. Any error except a full disk means that the directory cannot be used. */
  async #translateErrors<Result>(use: Promise<Result>): Promise<Result> {
    try {
      return await use;
    } catch (error) {
      if (diskFullCodes.has(codeOf(error))) throw diskFullError(error);
      throw new StorageUnavailableError(`The directory of the files, ${this.#root}, cannot be used.`, {
        cause: error,
      });
    }
  }
}

/** The error codes of file systems that cannot flush directories, such as some network file systems. */
const unsupportedSyncCodes: ReadonlySet<string> = new Set(['EINVAL', 'ENOTSUP', 'EPERM', 'EBADF']);

const diskFullCodes: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

function diskFullError(cause: unknown): StorageFullError {
  return new StorageFullError('The disk is full.', { cause });
}

/** Undefined if there is no such file. */
function unlessMissing<Result>(use: Promise<Result>): Promise<Result | undefined> {
  return use.catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
}

/**
 * Reads the field without `instanceof`: in a test with its own realm, errors of Node are not instances of its `Error`.
 */
function codeOf(error: unknown): string {
  return (Object(error) as { code?: string }).code ?? '';
}
