import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ByteRange, type FileStore, StorageFullError } from './storage.ts';

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
    await mkdir(this.#partial, { recursive: true, mode: 0o700 });
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    try {
      // Opened without a stream: a stream that fails at once could create its file after the file was removed.
      const file = await open(partial, 'wx', 0o600);
      // The bytes are on the disk before the file gets its name, so that after a power failure the file is either
      // complete or absent.
      await pipeline(bytes, file.createWriteStream({ flush: true }));
      await rename(partial, path);
    } catch (error) {
      await rm(partial, { force: true });
      throw full.has(codeOf(error)) ? new StorageFullError('The disk is full.', { cause: error }) : error;
    }
  }

  async get(key: string, range?: ByteRange): Promise<Readable | undefined> {
    const file = await open(join(this.#root, key)).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    });
    return file?.createReadStream(range);
  }

  async size(key: string): Promise<number | undefined> {
    const found = await stat(join(this.#root, key)).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    });
    return found?.size;
  }

  async remove(key: string): Promise<void> {
    await rm(join(this.#root, key), { force: true });
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

/**
 * Reads the field without `instanceof`: in a test with its own realm, errors of Node are not instances of its `Error`.
 */
function codeOf(error: unknown): string {
  return (Object(error) as { code?: string }).code ?? '';
}
