import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  type BackupTable,
  findFilledTable,
  selectBackupTables,
  selectMigrations,
} from '../../db/backup/catalog.ts';
import {
  advanceSequences,
  lockWorkspaces,
  normalizeOutput,
  withoutForeignKeys,
  writeRows,
} from '../../db/backup/rows.ts';
import type { Database } from '../../db/engine/engine.ts';
import { analyzeTables } from '../../db/statistics.ts';
import type { UnscopedTrx } from '../../db/engine/transaction.ts';
import type { CommandEnvironment } from '../environment.ts';
import { Progress } from '../progress.ts';
import { asSentence } from '../../model/sentences.ts';
import { CommandError } from '../failures.ts';
import { readLines } from '../import/lines.ts';
import {
  type BackedUpTable,
  fileListPath,
  filePath,
  type ListedFile,
  type Manifest,
  parseListedFile,
  readManifest,
  requireUnchanged,
  tablePath,
} from './manifest.ts';

/** The limits of one insert. */
const linesPerInsert = 200;
const charactersPerInsert = 4_000_000;

/** A row can be large, but a JavaScript string cannot be much longer than this. */
const maxRowBytes = 500 * 1024 * 1024;

/**
 * Restores a backup into an empty database of either engine, with the same ids, numbers and times. First the whole backup is
 * checked, then the files are stored, and finally all rows are inserted in one transaction.
 */
export async function restoreBackup(env: CommandEnvironment, directory: string): Promise<Manifest> {
  return restore(env, directory).catch((error: unknown) => {
    if (env.signal.aborted)
      env.stderr('Stopped. No row was restored; run the command again to start over.\n');
    throw error;
  });
}

async function restore(env: CommandEnvironment, directory: string): Promise<Manifest> {
  const { database, signal } = env;
  const manifest = await readManifest(directory);
  const tables = await selectBackupTables(database.unscoped);
  requireSameSchema(manifest, await selectMigrations(database.unscoped), tables);
  await requireEmpty(database.unscoped, tables);
  await requireUndamaged(env, directory, manifest);
  for await (const file of listedFiles(directory)) {
    signal.throwIfAborted();
    await restoreFile(env, directory, file);
  }
  const total = manifest.tables.reduce((sum, { rows }) => sum + rows, 0);
  const progress = new Progress(env, { total, unit: 'row' });
  let restored = 0;
  const onRows = (name: string, rows: number) => {
    signal.throwIfAborted();
    restored += rows;
    progress.update(restored, { detail: name });
  };
  await database.unscoped
    .transaction()
    .execute(async (trx) => {
      if (!(await lockWorkspaces(trx))) {
        throw new CommandError(
          'Another process is filling this database. A backup can only be restored into an empty database.',
        );
      }
      // Another restore, or a workspace created since the first check, may have filled the database.
      await requireEmpty(trx, tables);
      await normalizeOutput(trx);
      await withoutForeignKeys(trx, async () => {
        for (const table of tables) {
          await restoreTable(trx, table, manifest, directory, onRows).catch((error: unknown) => {
            throw refusedRowError(error, table.name) ?? error;
          });
        }
      });
      await advanceSequences(trx);
    })
    .finally(() => progress.end())
    .catch((error: unknown) => {
      throw refusedRowError(error) ?? error;
    });
  await analyzeTables(database.unscoped);
  return manifest;
}

/**
 * The error that says why the database refuses a row, such as one that occurs twice; undefined for an error of another kind. Not
 * every error names its table, so the caller names the one that is being restored.
 */
function refusedRowError(error: unknown, restoredTable?: string): CommandError | undefined {
  const { code, table = restoredTable, message, detail } = Object(error) as Partial<Record<string, unknown>>;
  // Classes of SQL errors: data that cannot be read, and violated constraints.
  if (typeof code !== 'string' || !/^2[23]\w{3}$/.test(code)) return undefined;
  const ofTable = typeof table === 'string' ? ` of ${table}` : '';
  const reason = [message, detail]
    .filter((text) => typeof text === 'string')
    .join(': ')
    .replace(/\.$/, '');
  return new CommandError(
    asSentence(
      `The backup is damaged: the database refuses a row${ofTable}, so no row was restored: ${reason}`,
    ),
    { cause: error },
  );
}

function requireSameSchema(
  { migrations, tables: saved }: Manifest,
  applied: readonly string[],
  tables: readonly BackupTable[],
): void {
  const unknown = migrations.find((name) => !applied.includes(name));
  if (unknown) {
    throw new CommandError(
      `The backup was made by a newer workgraph: this one does not know its migration ${unknown}. Update workgraph.`,
    );
  }
  if (migrations.length < applied.length) {
    throw new CommandError(
      `The backup was made by an older workgraph, up to the migration ${migrations.at(-1)}. Restore it with that version, then update.`,
    );
  }
  const names = (list: readonly { name: string }[]) => list.map(({ name }) => name).join(' ');
  if (names(saved) !== names(tables)) {
    throw new CommandError(
      'The backup and the database have different tables, so they belong to different versions of workgraph.',
    );
  }
}

async function requireEmpty(unscoped: Database['unscoped'], tables: readonly BackupTable[]): Promise<void> {
  const filled = await findFilledTable(unscoped, tables);
  if (filled === undefined) return;
  throw new CommandError(
    `A backup can only be restored into an empty database; this one has rows in ${filled}. Choose a new one (--data-dir, --database-url).`,
  );
}

async function requireUndamaged(
  { signal, stderr }: CommandEnvironment,
  directory: string,
  manifest: Manifest,
): Promise<void> {
  await requireUnchanged(fileListPath(directory), manifest.files);
  for (const table of manifest.tables) {
    signal.throwIfAborted();
    await requireUnchanged(tablePath(directory, table.name), table);
  }
  for await (const { key, bytes, sha256 } of listedFiles(directory)) {
    signal.throwIfAborted();
    if (sha256 === undefined) stderr(`The backup does not contain the file ${key}.\n`);
    else await requireUnchanged(filePath(directory, key), { bytes, sha256 });
  }
}

async function* listedFiles(directory: string): AsyncGenerator<ListedFile> {
  for await (const { text } of readLines(createReadStream(fileListPath(directory))))
    yield parseListedFile(text ?? '');
}

async function restoreFile(
  { store }: CommandEnvironment,
  directory: string,
  { key, bytes, sha256 }: ListedFile,
): Promise<void> {
  if (sha256 === undefined) return;
  await store.put(key, verifiedBytes(filePath(directory, key), sha256), bytes);
}

/** The bytes of a file. Throws at the end if the file was changed after it had been checked. */
async function* verifiedBytes(path: string, sha256: string): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest('hex') !== sha256) throw new CommandError(`${path} was changed while it was read.`);
}

async function restoreTable(
  trx: UnscopedTrx,
  table: BackupTable,
  manifest: Manifest,
  directory: string,
  onRows: (name: string, rows: number) => void,
): Promise<void> {
  const saved = manifest.tables.find(({ name }) => name === table.name);
  const path = tablePath(directory, table.name);
  let rows = 0;
  for await (const lines of batches(path)) {
    onRows(table.name, lines.length);
    await writeRows(trx, table, lines);
    rows += lines.length;
    // The embedded engine runs on this thread; other work gets a turn of the event loop between the batches.
    await nextTurn();
  }
  requireCount(table.name, rows, saved);
}

function requireCount(name: string, rows: number, saved: BackedUpTable | undefined): void {
  if (rows === saved?.rows) return;
  throw new CommandError(`The backup is damaged: ${name} has ${rows} rows instead of ${saved?.rows}.`);
}

async function* batches(path: string): AsyncGenerator<string[]> {
  let lines: string[] = [];
  let characters = 0;
  for await (const line of readLines(createReadStream(path), maxRowBytes)) {
    if (line.text === undefined)
      throw new CommandError(`Line ${line.number} of ${path} cannot be restored: ${line.problem}.`);
    lines.push(line.text);
    characters += line.text.length;
    if (lines.length < linesPerInsert && characters < charactersPerInsert) continue;
    yield lines;
    [lines, characters] = [[], 0];
  }
  if (lines.length > 0) yield lines;
}
