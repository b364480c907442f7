import { readdir } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import type { Kysely, Transaction } from 'kysely';
import { advisoryLocks } from './advisory-locks.ts';
import type { Database } from './engine.ts';

/** The schema of a database, compared with the migrations of this version. */
export interface SchemaState {
  /** `ahead`: it has migrations that this version does not know. */
  readonly state: 'empty' | 'behind' | 'current' | 'ahead';
  readonly pending: string[];
}

export interface MigrationProgress {
  readonly name: string;
  /** How many are done, and how many were pending at the start. */
  readonly done: number;
  readonly total: number;
  /** The rows that this migration has filled so far. */
  readonly rows: number;
}

export interface MigrateOptions {
  readonly log?: (line: string) => void;
  /** Called before each migration of those that are pending, and when one has written rows. */
  readonly onProgress?: (progress: MigrationProgress) => void;
  /** Called with what a migration reports, such as how many rows it repaired; `log` by default. */
  readonly report?: (line: string) => void;
  /** The directory of the files NNNN_name.ts; that of the repository by default. */
  readonly folder?: string;
}

/**
 * Applies the pending migrations in order, each completely or not at all, and returns those that this call applied.
 * Several processes may call it at once on one database: each migration runs once.
 *
 * A PostgreSQL database must be open with `statementTimeoutMs: 0`, because creating an index over many rows takes a
 * long time.
 */
export async function migrate(database: Database, options: MigrateOptions = {}): Promise<string[]> {
  const { log, report = log, onProgress, folder = migrationsFolder } = options;
  const names = await migrationNames(folder);
  const db = database.unscoped.withoutPlugins() as unknown as Kysely<Ledger>;
  const applied: string[] = [];
  const total = onProgress ? (await schemaState(database, folder)).pending.length : 0;
  const reportProgress = (name: string, rows: number) =>
    onProgress?.({ name, done: applied.length, total, rows });
  for (;;) {
    // The embedded engine has only one connection.
    const separateDb = database.engine === 'postgres' ? db : undefined;
    const step = await db
      .transaction()
      .execute((transaction) => applyNext(transaction, { names, folder, separateDb, reportProgress }));
    if (step === 'done') return applied;
    if (step === 'locked') await delay(retryMs);
    else {
      log?.(`applied migration ${step.name}`);
      if (step.outcome) report?.(`migration ${step.name} ${step.outcome}`);
      applied.push(step.name);
    }
  }
}

/** Compares the ledger of the database with the migrations of this version. Changes nothing. */
export async function schemaState(database: Database, folder = migrationsFolder): Promise<SchemaState> {
  const db = database.unscoped.withoutPlugins() as unknown as Kysely<Ledger>;
  const [names, applied] = await Promise.all([migrationNames(folder), appliedNames(db)]);
  const pending = names.filter((name) => !applied.has(name));
  if (applied.size === 0) return { state: 'empty', pending };
  if (unknownNames(applied, names).length > 0) return { state: 'ahead', pending };
  return { state: pending.length > 0 ? 'behind' : 'current', pending };
}

interface Ledger {
  migration: { name: string };
}

/** A migration changes indexes, fills a table in steps, or does anything else in one transaction. */
type Migration =
  | {
      /** Returns what the operator should know about changed rows, as a text that follows the name of the migration. */
      up(db: Kysely<unknown>): Promise<string | undefined | void>;
    }
  | {
      /**
       * Writes a few thousand rows with one statement, and returns how many and the key of the last one that it
       * examined; no key when there are no more. It is called again with that key, or from the start after an
       * interruption.
       */
      fillSome(db: Kysely<unknown>, after: unknown): Promise<{ written: number; last: unknown }>;
    }
  | { readonly indexes: IndexChanges };

/** Indexes of large tables, which are built and dropped while others write. */
interface IndexChanges {
  /** What each new index is on, by its name: `issue (workspace_id, number)`. */
  readonly creates?: Readonly<Record<string, string>>;
  /** The names of indexes to drop, once the new ones exist. */
  readonly drops?: readonly string[];
}

const migrationsFolder = join(import.meta.dirname, '../../../migrations');
/** The extension of migrations is that of this file: `.js` in the built package, otherwise `.ts`. */
const migrationExtension = extname(import.meta.filename);

const retryMs = 50;

/**
 * Applies one migration under a lock that the transaction holds. Other processes poll for it, because waiting in SQL
 * may time out. Indexes are changed and tables filled over a separate connection: PostgreSQL changes indexes
 * concurrently only outside of transactions, and filled rows are kept if a later step fails.
 */
async function applyNext(
  transaction: Transaction<Ledger>,
  {
    names,
    folder,
    separateDb,
    reportProgress,
  }: {
    names: readonly string[];
    folder: string;
    separateDb: Kysely<Ledger> | undefined;
    reportProgress: (name: string, rows: number) => void;
  },
): Promise<'done' | 'locked' | { name: string; outcome: string | undefined }> {
  const lock = await sql<{
    taken: boolean;
  }>`select pg_try_advisory_xact_lock(${sql.lit(advisoryLocks.migrations)}) as taken`.execute(transaction);
  if (!lock.rows[0]?.taken) return 'locked';
  // Two sessions may both find the table missing, and `if not exists` would then fail in one of them. The lock prevents
  // it.
  await sql`create table if not exists migration (
    name text primary key,
    applied_utc timestamptz(3) not null default now()
  )`.execute(transaction);
  const applied = await appliedNames(transaction);
  const [unknown] = unknownNames(applied, names);
  if (unknown)
    throw new Error(`The database has the migration ${unknown}, which this version does not know.`);
  const name = names.find((candidate) => !applied.has(candidate));
  if (!name) return 'done';
  const migration = (await import(
    pathToFileURL(join(folder, `${name}${migrationExtension}`)).href
  )) as Migration;
  // The transaction that holds the lock is idle while the separate connection works.
  await sql`set local idle_in_transaction_session_timeout = 0`.execute(transaction);
  reportProgress(name, 0);
  const outcome = await run(migration, transaction, separateDb, (rows) => reportProgress(name, rows));
  await transaction.insertInto('migration').values({ name }).execute();
  return { name, outcome: outcome ?? undefined };
}

async function run(
  migration: Migration,
  transaction: Transaction<Ledger>,
  separateDb: Kysely<Ledger> | undefined,
  onRows: (rows: number) => void,
): Promise<string | undefined | void> {
  if ('indexes' in migration) return changeIndexes(separateDb ?? transaction, migration.indexes);
  if ('fillSome' in migration)
    return fill((after) => migration.fillSome(ofAnyTable(separateDb ?? transaction), after), onRows);
  return migration.up(ofAnyTable(transaction));
}

/** The type of the ledger's handle knows only its own table; migrations name others. */
function ofAnyTable(db: Kysely<Ledger>): Kysely<unknown> {
  return db as unknown as Kysely<unknown>;
}

/** Fills a table step by step. */
async function fill(
  fillSome: (after: unknown) => Promise<{ written: number; last: unknown }>,
  onRows: (rows: number) => void,
): Promise<string | undefined> {
  let rows = 0;
  let after: unknown;
  do {
    const { written, last } = await fillSome(after);
    rows += written;
    onRows(rows);
    after = last;
  } while (after !== undefined);
  return rows > 0 ? `wrote ${rows} rows` : undefined;
}

/**
 * Creates and drops indexes without blocking writers. It can be repeated: an existing index stays, and an invalid one,
 * which PostgreSQL leaves behind when building it is interrupted, is built again.
 */
async function changeIndexes(
  db: Kysely<Ledger>,
  { creates = {}, drops = [] }: IndexChanges,
): Promise<undefined> {
  const concurrently = sql.raw(db.isTransaction ? '' : 'concurrently');
  const drop = (name: string) => sql`drop index ${concurrently} if exists ${sql.ref(name)}`.execute(db);
  for (const [name, on] of Object.entries(creates)) {
    const { rows } = await sql<{ valid: boolean }>`
      select indisvalid as valid from pg_index where indexrelid = to_regclass(${name})`.execute(db);
    if (rows[0]?.valid === false) await drop(name);
    await sql`create index ${concurrently} if not exists ${sql.ref(name)} on ${sql.raw(on)}`.execute(db);
  }
  for (const name of drops) await drop(name);
}

async function migrationNames(folder: string): Promise<string[]> {
  const files = await readdir(folder);
  return files
    .filter((file) => extname(file) === migrationExtension)
    .map((file) => basename(file, migrationExtension))
    .filter((name) => /^\d{4}_[\w-]+$/.test(name))
    .toSorted();
}

async function appliedNames(db: Kysely<Ledger>): Promise<Set<string>> {
  const ledger = await sql<{ found: boolean }>`select to_regclass('migration') is not null as found`.execute(
    db,
  );
  if (!ledger.rows[0]?.found) return new Set();
  const rows = await db.selectFrom('migration').select('name').execute();
  return new Set(rows.map((row) => row.name));
}

function unknownNames(applied: ReadonlySet<string>, names: readonly string[]): string[] {
  const known = new Set(names);
  return [...applied].filter((name) => !known.has(name));
}
