import { contentKey, selectUploadedFiles, type UploadedFile } from '../db/attachments.ts';
import type { Database } from '../db/engine/engine.ts';
import { whileFilesStay } from '../db/housekeeping.ts';
import type { FileStore } from '../storage/storage.ts';
import type { FaultyRow } from '../db/verify/check.ts';
import type { Finding } from './verify.ts';

export const filesRule = 'the bytes of each attachment are in the store, as many as its row says';

const filesPerPage = 500;

/**
 * Asks the store for the size of every file. An upload is in the store before its row says so, and nothing is removed
 * meanwhile, so it needs no snapshot.
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
      const detail = `${found} under ${contentKey(file)}, its row says ${file.sizeBytes} bytes`;
      if (rows.length < limit) rows.push({ workspaceId: file.workspaceId, key: file.fileName, detail });
    }
  };
  await whileFilesStay(database, check, signal);
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
