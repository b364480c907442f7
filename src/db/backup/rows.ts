import { sql } from 'kysely';
import { isLockTimeout, type UnscopedTrx } from '../engine/transaction.ts';
import type { BackupTable } from './catalog.ts';

/**
 * Keeps others from creating workspaces until the transaction ends. Returns false if another process is creating or
 * restoring one.
 */
export async function lockWorkspaces(trx: UnscopedTrx): Promise<boolean> {
  try {
    await sql`lock table workspace in share row exclusive mode nowait`.execute(trx);
    return true;
  } catch (error) {
    if (isLockTimeout(error)) return false;
    throw error;
  }
}

/** Few enough that even the longest possible rows fit into memory. */
const rowsPerFetch = 200;

/** Makes PostgreSQL print values alike on every engine and in every time zone, until the transaction ends. */
export async function normalizeOutput(trx: UnscopedTrx): Promise<void> {
  await sql`set local time zone 'UTC'`.execute(trx);
  await sql`set local bytea_output = hex`.execute(trx);
  await sql`set local extra_float_digits = 1`.execute(trx);
}

/**
 * Reads the rows of a table as lines of JSON, in the order of its key. A cursor keeps them from being in memory all at
 * once.
 */
export async function* readRows(
  trx: UnscopedTrx,
  { table, columns, order }: BackupTable,
): AsyncGenerator<readonly string[]> {
  await sql
    .raw(
      `declare backup_rows no scroll cursor for select row_to_json(r)::text as line
       from (select ${columns.join(', ')} from ${table} order by ${order.join(', ')}) r`,
    )
    .execute(trx);
  for (;;) {
    const { rows } = await sql.raw<{ line: string }>(`fetch ${rowsPerFetch} from backup_rows`).execute(trx);
    if (rows.length > 0) yield rows.map(({ line }) => line);
    if (rows.length < rowsPerFetch) break;
  }
  await sql`close backup_rows`.execute(trx);
}

/** Inserts rows that `readRows` returned. */
export async function writeRows(
  trx: UnscopedTrx,
  { table, columns }: BackupTable,
  lines: readonly string[],
): Promise<void> {
  if (lines.length === 0) return;
  const names = sql.raw(columns.join(', '));
  await sql`
    insert into ${sql.raw(table)} (${names}) overriding system value
    select ${names} from json_populate_recordset(null::${sql.raw(table)}, ${`[${lines.join(',')}]`}::json)`.execute(
    trx,
  );
}

interface ForeignKey {
  readonly name: string;
  readonly table: string;
  readonly definition: string;
}

/**
 * Does the work without foreign keys, and checks them all at its end, because rows that refer to each other cannot be
 * inserted in any order. The database user must own the tables. If a check fails, the transaction changes nothing.
 */
export async function withoutForeignKeys(trx: UnscopedTrx, work: () => Promise<void>): Promise<void> {
  const { rows: foreignKeys } = await sql<ForeignKey>`
    select quote_ident(conname) as name, conrelid::regclass::text as table, pg_get_constraintdef(oid) as definition
    from pg_constraint
    where contype = 'f' and conparentid = 0 and connamespace = current_schema()::regnamespace
    order by conrelid::regclass::text, conname`.execute(trx);
  for (const { name, table } of foreignKeys) {
    await sql.raw(`alter table ${table} drop constraint ${name}`).execute(trx);
  }
  await work();
  // Runs deferred triggers now, because a table with pending trigger events cannot be altered.
  await sql`set constraints all immediate`.execute(trx);
  for (const { name, table, definition } of foreignKeys) {
    await sql.raw(`alter table ${table} add constraint ${name} ${definition}`).execute(trx);
  }
}

/** Sets each sequence to the highest restored value of its column, so that new rows get higher ones. */
export async function advanceSequences(trx: UnscopedTrx): Promise<void> {
  const { rows } = await sql<{ table: string; column: string; sequence: string }>`
    select d.refobjid::regclass::text as table, quote_ident(a.attname) as column, s.oid::regclass::text as sequence
    from pg_class s
      join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = s.oid and d.deptype in ('a', 'i')
      join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
    where s.relkind = 'S' and s.relnamespace = current_schema()::regnamespace`.execute(trx);
  for (const { table, column, sequence } of rows) {
    await sql`
      select setval(${sequence}::regclass, (select max(${sql.raw(column)}) from ${sql.raw(table)}))
      where exists (select from ${sql.raw(table)})`.execute(trx);
  }
}
