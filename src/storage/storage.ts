import type { Readable } from 'node:stream';

/** The bytes from `start` to `end`, both included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Where the bytes of files are kept. The service makes the keys: digits, lower-case letters, `/`, `-` and `.`. */
export interface FileStore {
  /** Keeps all bytes, in place of what was under the key, or none when anything fails midway. */
  put(key: string, bytes: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<void>;
  /** The bytes, or a range of them that is there; undefined when nothing is kept under the key. */
  get(key: string, range?: ByteRange): Promise<Readable | undefined>;
  /** How many bytes are kept under the key; undefined when nothing is. */
  size(key: string): Promise<number | undefined>;
  /** Removes what is kept under the key, if anything is. */
  remove(key: string): Promise<void>;
  /** Removes what was being put before this time and was cut off by the end of a process; says how much that was. */
  sweep(before: Date): Promise<number>;
}

/** The store cannot be reached, or not now. */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
}

/** The store has no room left. */
export class StorageFullError extends Error {
  override readonly name = 'StorageFullError';
}
