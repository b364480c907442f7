import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { sql } from 'kysely';
import type { Kysely, Transaction } from 'kysely';
import type { Database } from './engine.ts';

/** Where a database stands against the migrations of this version. */
export interface SchemaState {
  /** `ahead`: it has migrations that this version does not know. */
  readonly state: 'empty' | 'behind' | 'current' | 'ahead';
  readonly pending: string[];
}

export interface MigrateOptions {
  readonly log?: (line: string) => void;
  /** Receives what a migration reports, such as how many rows it repaired; `log` by default. */
  readonly report?: (line: string) => void;
  /** Holds the files NNNN_name.ts; the repository's own by default. */
  readonly folder?: string;
}

/**
 * Applies the pending migrations in order, each whole or not at all, and returns those that this call applied.
 * Any number of processes may start it at once on one database, new or old: each migration runs once.
 *
 * Open a PostgreSQL database with `statementTimeoutMs: 0` for it: an index over many rows takes its time.
 */
export async function migrate(database: Database, options: MigrateOptions = {}): Promise<string[]> {
  const { log, report = log, folder = FOLDER } = options;
  const names = await migrationNames(folder);
  const db = database.unscoped.withoutPlugins() as unknown as Kysely<Ledger>;
  const applied: string[] = [];
  for (;;) {
    const step = await db.transaction().execute((transaction) => applyNext(transaction, names, folder));
    if (step === 'done') return applied;
    if (step === 'held') await delay(RETRY_MS);
    else {
      log?.(`applied migration ${step.name}`);
      if (step.done) report?.(`migration ${step.name} ${step.done}`);
      applied.push(step.name);
    }
  }
}

/** Compares the ledger of the database with the migrations of this version; changes nothing. */
export async function schemaState(database: Database, folder = FOLDER): Promise<SchemaState> {
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

interface Migration {
  /** Returns what the operator should know about changed rows, worded to follow the name of the migration. */
  up(db: Kysely<unknown>): Promise<string | undefined | void>;
}

const FOLDER = join(import.meta.dirname, '../../../migrations');

/** Any number that no other advisory lock of the service uses. */
const LOCK_KEY = 7_021_408_113;
const RETRY_MS = 50;

/** One migration under the lock, which ends with the transaction; a second process asks again, as waiting in SQL may time out. */
async function applyNext(
  transaction: Transaction<Ledger>,
  names: readonly string[],
  folder: string,
): Promise<'done' | 'held' | { name: string; done: string | undefined }> {
  const lock = await sql<{
    taken: boolean;
  }>`select pg_try_advisory_xact_lock(${sql.lit(LOCK_KEY)}) as taken`.execute(transaction);
  if (!lock.rows[0]?.taken) return 'held';
  // `if not exists` alone is a race: two sessions may both find it missing. Under the lock it is none.
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
  const migration = (await import(pathToFileURL(join(folder, `${name}.ts`)).href)) as Migration;
  const done = (await migration.up(transaction as unknown as Kysely<unknown>)) ?? undefined;
  await transaction.insertInto('migration').values({ name }).execute();
  return { name, done };
}

async function migrationNames(folder: string): Promise<string[]> {
  const files = await readdir(folder);
  return files
    .filter((file) => /^\d{4}_[\w-]+\.ts$/.test(file))
    .map((file) => file.slice(0, -'.ts'.length))
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
