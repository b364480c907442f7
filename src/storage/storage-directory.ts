import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ByteRange, type FileStore, StorageFullError, StorageUnavailableError } from './storage.ts';

/** Files in a local directory, or in one that several machines mount. */
export class DirectoryStore implements FileStore {
  readonly #root: string;
  readonly #partial: string;

  constructor(root: string) {
    this.#root = root;
    this.#partial = join(root, '.partial');
  }

  async put(key: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const path = join(this.#root, key);
    const partial = join(this.#partial, randomUUID());
    try {
      await mkdir(this.#partial, { recursive: true, mode: 0o700 });
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      // Opened without a stream: a stream that fails at once could create its file after the file was removed.
      const file = await open(partial, 'wx', 0o600);
      // The bytes are on the disk before the file gets its name, so that after a power failure the file is either
      // complete or absent.
      await pipeline(bytes, file.createWriteStream({ flush: true }));
      await rename(partial, path);
    } catch (error) {
      await rm(partial, { force: true }).catch(() => undefined);
      throw storageError(error, codeOf(error) === 'ENOENT');
    }
  }

  async get(key: string, range?: ByteRange): Promise<Readable | undefined> {
    const file = await open(join(this.#root, key)).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw storageError(error);
    });
    return file?.createReadStream(range);
  }

  async size(key: string): Promise<number | undefined> {
    const found = await stat(join(this.#root, key)).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw storageError(error);
    });
    return found?.size;
  }

  async remove(key: string): Promise<void> {
    await rm(join(this.#root, key), { force: true }).catch((error: unknown) => {
      throw storageError(error);
    });
  }

  async sweep(before: Date): Promise<number> {
    let swept = 0;
    for (const name of await readdir(this.#partial).catch(() => [])) {
      const path = join(this.#partial, name);
      const found = await stat(path).catch(() => undefined);
      if (!found || found.mtime >= before) continue;
      await rm(path, { force: true });
      swept += 1;
    }
    return swept;
  }
}

const full: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

/** A directory that this user may not use, or that has been mounted read-only, or whose disk fails or has gone. */
const unavailable: ReadonlySet<string> = new Set([
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOTDIR',
  'EEXIST',
  'EIO',
  'ESTALE',
  'ENOTCONN',
  'EMFILE',
  'ENFILE',
]);

/** What an error of the file system means. Other errors, such as those of a client that sends a file, stay as they are. */
function storageError(error: unknown, isMissing = false): unknown {
  const code = codeOf(error);
  if (full.has(code)) return new StorageFullError('The disk is full.', { cause: error });
  if (!isMissing && !unavailable.has(code)) return error;
  return new StorageUnavailableError(`The directory of the files cannot be used (${code}).`, {
    cause: error,
  });
}

/**
 * Reads the field without `instanceof`: in a test with its own realm, errors of Node are not instances of its `Error`.
 */
function codeOf(error: unknown): string {
  return (Object(error) as { code?: string }).code ?? '';
}
