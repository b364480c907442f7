import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { contentKey } from '../../db/attachments.ts';
import {
  type BackupTable,
  estimateRows,
  selectBackupTables,
  selectMigrations,
} from '../../db/backup/catalog.ts';
import { readRows, normalizeOutput } from '../../db/backup/rows.ts';
import { countAllWebhooks } from '../../db/webhooks.ts';
import { withFileRemovalPaused } from '../../db/housekeeping.ts';
import { createDirectory } from '../../db/engine/directory-lock.ts';
import { inSnapshotOfAll } from '../../db/engine/database-snapshot.ts';
import type { UnscopedTrx } from '../../db/engine/transaction.ts';
import type { CommandEnvironment } from '../environment.ts';
import { Progress } from '../progress.ts';
import { CommandError } from '../failures.ts';
import { readLines } from '../import/lines.ts';
import {
  type BackedUpTable,
  backupVersion,
  fileListPath,
  filePath,
  type ListedFile,
  type Manifest,
  manifestPath,
  tablePath,
} from './manifest.ts';

/**
 * Writes a backup of everything into a new directory: the rows of one snapshot, and the files that they refer to. The
 * directory gets its name only when it is complete and synced to disk; until then, or if the process dies, its name is
 * `….partial-…`. Meanwhile no file is removed from the store.
 */
export async function writeBackup(env: CommandEnvironment, directory: string): Promise<Manifest> {
  await refuseExisting(directory);
  const partial = `${directory}.partial-${randomUUID().slice(0, 8)}`;
  createDirectory(dirname(tablePath(partial, '')));
  try {
    const manifest = await withFileRemovalPaused(env.database, () => writeContent(env, partial), env.signal);
    await writeSynced(manifestPath(partial), [Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)]);
    for (const path of [dirname(tablePath(partial, '')), partial]) await syncDirectory(path);
    await refuseExisting(directory);
    await rename(partial, directory);
    await syncDirectory(dirname(directory));
    return manifest;
  } catch (error) {
    await rm(partial, { recursive: true, force: true });
    if (env.signal.aborted) env.stderr(`Stopped. Nothing was written to ${directory}.\n`);
    throw error;
  }
}

async function writeContent(env: CommandEnvironment, partial: string): Promise<Manifest> {
  const createdUtc = new Date().toISOString();
  const { migrations, tables, webhooks } = await inSnapshotOfAll(env.database, async (trx) => {
    await normalizeOutput(trx);
    const backupTables = await selectBackupTables(trx);
    const progress = new Progress(env, { total: await estimateRows(trx, backupTables), unit: 'row' });
    const written: BackedUpTable[] = [];
    let rowsOfEarlierTables = 0;
    try {
      for (const table of backupTables) {
        const backedUp = await writeTable(trx, table, partial, (rows) => {
          env.signal.throwIfAborted();
          progress.update(rowsOfEarlierTables + rows, { detail: table.name });
        });
        rowsOfEarlierTables += backedUp.rows;
        written.push(backedUp);
      }
    } finally {
      progress.end();
    }
    const webhooks = await countAllWebhooks(trx);
    return { migrations: await selectMigrations(trx), tables: written, webhooks };
  });
  const files = await writeFiles(env, partial, tables);
  return {
    format: 'workgraph-backup',
    version: backupVersion,
    createdUtc,
    migrations,
    tables,
    files,
    webhooks,
  };
}

async function writeTable(
  trx: UnscopedTrx,
  table: BackupTable,
  partial: string,
  onRows: (rows: number) => void,
): Promise<BackedUpTable> {
  let rows = 0;
  onRows(rows);
  const written = await writeSynced(
    tablePath(partial, table.name),
    (async function* () {
      for await (const lines of readRows(trx, table)) {
        rows += lines.length;
        onRows(rows);
        yield Buffer.from(`${lines.join('\n')}\n`);
      }
    })(),
  );
  return { name: table.name, rows, ...written };
}

/** Copies and lists the files of the attachments in the table file that has just been written. */
async function writeFiles(
  env: CommandEnvironment,
  partial: string,
  tables: readonly BackedUpTable[],
): Promise<Manifest['files']> {
  const total = tables.find(({ name }) => name === 'attachment')?.rows ?? 0;
  const progress = new Progress(env, { total, unit: 'file' });
  let [count, missing] = [0, 0];
  const list = (async function* () {
    for await (const { workspaceId, id, revision, sizeBytes } of uploadedAttachments(partial)) {
      env.signal.throwIfAborted();
      const key = contentKey({ workspaceId, id, revision });
      const listed = await copyFile(env, partial, key, sizeBytes, progress);
      if (listed.sha256 === undefined) missing += 1;
      else count += 1;
      progress.update(count + missing);
      yield Buffer.from(`${JSON.stringify(listed)}\n`);
    }
  })();
  const written = await writeSynced(fileListPath(partial), list).finally(() => progress.end());
  return { count, missing, ...written };
}

interface UploadedRow {
  readonly workspaceId: string;
  readonly id: string;
  readonly revision: number;
  readonly sizeBytes: number;
}

async function* uploadedAttachments(partial: string): AsyncGenerator<UploadedRow> {
  for await (const { text } of readLines(createReadStream(tablePath(partial, 'attachment')))) {
    const row = JSON.parse(text ?? '') as Record<string, never>;
    const { workspace_id: workspaceId, id, revision, size_bytes: sizeBytes } = row as Record<string, string>;
    if (!row.uploaded_utc || !workspaceId || !id) continue;
    yield { workspaceId, id, revision: Number(revision), sizeBytes: Number(sizeBytes) };
  }
}

async function copyFile(
  { store }: CommandEnvironment,
  partial: string,
  key: string,
  sizeBytes: number,
  progress: Progress,
): Promise<ListedFile> {
  const bytes = await store.get(key);
  if (!bytes) {
    progress.printLine(`The file ${key} is not in the store, so the backup does not contain it.`);
    return { key, bytes: sizeBytes };
  }
  const path = filePath(partial, key);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  return { key, ...(await writeSynced(path, bytes as AsyncIterable<Uint8Array>)) };
}

/** Writes a new file with backpressure and syncs it to disk. Returns its size and checksum. */
async function writeSynced(
  path: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  const counted = async function* () {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  };
  await pipeline(counted, createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }));
  return { bytes, sha256: hash.digest('hex') };
}

async function refuseExisting(directory: string): Promise<void> {
  const existing = await stat(directory).catch(() => undefined);
  if (existing)
    throw new CommandError(`${directory} already exists. A backup is written to a new directory.`);
}

/** Windows cannot open directories, and writes their entries without being asked. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
