import { contentKey, selectUploadedFiles } from '../../src/db/attachments.ts';
import type { Database } from '../../src/db/engine/engine.ts';
import type { FileStore } from '../../src/storage/storage.ts';

/** Stores bytes for all files of a database, whose rows a template has without them. The bytes of each file are different. */
export async function storeUploadedFiles({ unscoped }: Database, store: FileStore): Promise<void> {
  for (const file of await selectUploadedFiles(unscoped, undefined, 1_000))
    await store.put(contentKey(file), bytesOf(file.id, file.sizeBytes), file.sizeBytes);
}

/** As many bytes, which repeat the text. */
export async function* bytesOf(text: string, size: number): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(size, text);
}
