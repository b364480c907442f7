import { contentKey, selectUploadedFiles, type UploadedFile } from '../db/attachments.ts';
import type { Database } from '../db/engine/engine.ts';
import { withFileRemovalPaused } from '../db/housekeeping.ts';
import type { FileStore } from '../storage/storage.ts';
import type { FaultyRow } from '../db/verify/check.ts';
import type { Finding } from './verify.ts';

export const filesRule = 'the bytes of each attachment are in the store and have the size that its row has';

const filesPerPage = 500;

/**
 * Asks the store for the size of every file. This needs no snapshot: an upload is in the store before its row is, and
 * no file is removed while the check runs.
 */
export async function verifyFiles(
  database: Database,
  store: FileStore,
  { signal, limit = 20 }: { signal?: AbortSignal | undefined; limit?: number | undefined } = {},
): Promise<Finding | undefined> {
  const rows: FaultyRow[] = [];
  let total = 0;
  const check = async () => {
    for await (const file of uploadedFiles(database)) {
      signal?.throwIfAborted();
      const sizeBytes = await store.size(contentKey(file));
      if (sizeBytes === file.sizeBytes) continue;
      total += 1;
      const found = sizeBytes === undefined ? 'nothing' : `${sizeBytes} bytes`;
      const detail = `the store has ${found} under ${contentKey(file)}, its row has ${file.sizeBytes} bytes`;
      if (rows.length < limit) rows.push({ workspaceId: file.workspaceId, key: file.fileName, detail });
    }
  };
  await withFileRemovalPaused(database, check, signal);
  return total > 0 ? { rule: filesRule, total, rows } : undefined;
}

async function* uploadedFiles({ unscoped }: Database): AsyncGenerator<UploadedFile> {
  for (let last: UploadedFile | undefined; ; ) {
    const page = await selectUploadedFiles(unscoped, last, filesPerPage);
    yield* page;
    last = page.at(-1);
    if (!last || page.length < filesPerPage) return;
  }
}
