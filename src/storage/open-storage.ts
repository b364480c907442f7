import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DirectoryStore } from './storage-directory.ts';
import { S3Store } from './storage-s3.ts';
import type { FileStore } from './storage.ts';

export interface StorageLocation {
  readonly dataDir: string;
  /** `file:` another directory, `http:` or `https:` an S3-compatible store; `<dataDir>/files` when undefined. */
  readonly storageUrl: string | undefined;
}

/** Opens the store of a location. Nothing is created or contacted before the first file is read or written. */
export function openStorage({ dataDir, storageUrl }: StorageLocation): FileStore {
  if (storageUrl === undefined) return new DirectoryStore(join(dataDir, 'files'));
  const url = new URL(storageUrl);
  return url.protocol === 'file:' ? new DirectoryStore(fileURLToPath(url)) : new S3Store(url);
}
