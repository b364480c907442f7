import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables/tables.ts';

/** The tables that a backup leaves out, each with its reason. It contains every other table of the database. */
export const notInBackups: Readonly<Record<string, string>> = {
  migration:
    'the migrations belong to the database; the manifest names those that the rows were written with',
  token_route: 'a trigger writes the routes while the tokens are restored',
  workspace_version: 'triggers write the versions, with a new tag, while the rows are restored',
  reference_change:
    'it tells processes which cached rows have changed, and none has cached the restored rows',
  change_inbox: 'a restored database begins another log of changes, and its clients read their lists again',
  change: 'a restored database begins another log of changes, see change_inbox',
  webhook: 'a copy of a workspace must not send to the receivers of the original; webhooks are created again',
  webhook_delivery: 'deliveries belong to webhooks, which are left out',
  change_head: 'the new log gets another tag, so that it refuses cursors of the old one',
};

/** What a backup needs to know about a table. Names are quoted for SQL where they have to be. */
export interface BackupTable {
  /** The name without quotes, which is also that of the file. */
  readonly name: string;
  readonly table: string;
  /** The columns without generated ones, which PostgreSQL computes again. */
  readonly columns: readonly string[];
  /** The columns of the primary key, with a collation that orders texts alike on every engine. */
  readonly order: readonly string[];
}

/**
 * The tables that a backup contains, ordered by name. They are read from the catalog, so that no new table is
 * forgotten.
 */
export async function selectBackupTables(unscoped: Kysely<Tables>): Promise<BackupTable[]> {
  const { rows } = await sql<BackupTable>`
    select c.relname::text as name, quote_ident(c.relname) as table,
      array(select quote_ident(a.attname) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        order by a.attnum) as columns,
      array(select quote_ident(a.attname) || case when a.attcollation <> 0 then ' collate "C"' else '' end
        from unnest(k.conkey) with ordinality as key(number, ordinal)
        join pg_attribute a on a.attrelid = c.oid and a.attnum = key.number order by key.ordinal) as order
    from pg_class c left join pg_constraint k on k.conrelid = c.oid and k.contype = 'p'
    where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = current_schema()::regnamespace
    order by c.relname collate "C"`.execute(unscoped);
  const tables = rows.filter(({ name }) => !Object.hasOwn(notInBackups, name));
  const unordered = tables.filter(({ order }) => order.length === 0).map(({ name }) => name);
  if (unordered.length > 0) throw new Error(`Tables without a primary key: ${unordered.join(', ')}.`);
  return tables;
}

/** The approximate number of rows of all tables, from the planner's statistics; 0 if there are none yet. */
export async function estimateRows(
  unscoped: Kysely<Tables>,
  tables: readonly BackupTable[],
): Promise<number> {
  const names = tables.map(({ name }) => name);
  const { rows } = await sql<{ estimate: number }>`
    select coalesce(sum(greatest(reltuples, 0)), 0)::float8 as estimate from pg_class
    where relname = any(${names}) and relnamespace = current_schema()::regnamespace`.execute(unscoped);
  return Math.round(rows[0]?.estimate ?? 0);
}

/** The first of the tables that has a row; undefined when all are empty. */
export async function findFilledTable(
  unscoped: Kysely<Tables>,
  tables: readonly BackupTable[],
): Promise<string | undefined> {
  for (const { name, table } of tables) {
    const { rows } = await sql`select 1 from ${sql.raw(table)} limit 1`.execute(unscoped);
    if (rows.length > 0) return name;
  }
  return undefined;
}

/** The migrations that have been applied to the database. */
export async function selectMigrations(unscoped: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select name from migration order by name collate "C"`.execute(unscoped);
  return rows.map(({ name }) => name);
}
