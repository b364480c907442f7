import type { Readable } from 'node:stream';

/** The bytes from `start` to `end`, both included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Stores the bytes of files. The service chooses the keys, of digits, lower-case letters, `/`, `-` and `.`. */
export interface FileStore {
  /** Stores the bytes under the key and replaces earlier ones. If it fails midway, nothing is stored. */
  put(key: string, bytes: AsyncIterable<Uint8Array>, sizeBytes: number): Promise<void>;
  /** Reads the bytes, or a range that must exist. Undefined when there is nothing under the key. */
  get(key: string, range?: ByteRange): Promise<Readable | undefined>;
  /** The number of bytes under the key; undefined when there is nothing. */
  size(key: string): Promise<number | undefined>;
  /** Removes the bytes under the key, if there are any. */
  remove(key: string): Promise<void>;
  /** Removes incomplete files older than this time, which a process left behind when it ended. Returns their number. */
  removeIncomplete(before: Date): Promise<number>;
}

/** The store cannot be reached at the moment. */
export class StorageUnavailableError extends Error {
  override readonly name = 'StorageUnavailableError';
}

/** The store refuses a request, because of its settings or those of workgraph. */
export class StorageRefusedError extends Error {
  override readonly name = 'StorageRefusedError';
}

/** The store has no space left. */
export class StorageFullError extends Error {
  override readonly name = 'StorageFullError';
}
