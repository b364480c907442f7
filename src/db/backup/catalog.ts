import { type Kysely, sql } from 'kysely';
import type { Tables } from '../tables/tables.ts';

/** Tables that a backup leaves out, each with its reason; every other table of the database is in it. */
export const notInBackups: Readonly<Record<string, string>> = {
  migration: 'the ledger is about the database; the manifest says which migrations the rows are of',
  workspace_version: 'triggers count it anew while the rows are restored, with a tag of its own',
  reference_change: 'what changed lately is nothing to a database where all is new',
  change_inbox: 'the same; a restored database begins another log, and its clients read their lists again',
  change: 'the same, see change_inbox',
  webhook: 'a copy of a workspace must not send to the receivers of the original; webhooks are created again',
  webhook_delivery: 'the same, see webhook',
  change_head: 'another log has another tag, so that no cursor of the old one is taken for one of it',
};

/** A table as a backup needs to know it; names are spelled as SQL wants them. */
export interface BackupTable {
  /** As the catalog has it; names the file. */
  readonly name: string;
  readonly table: string;
  /** Those that can be written: what is generated follows from them. */
  readonly columns: readonly string[];
  /** What orders the rows, alike on every engine. */
  readonly order: readonly string[];
}

/** Every table of the database that backups have, by name: from the catalog, so that no new one is forgotten. */
export async function selectBackupTables(unscoped: Kysely<Tables>): Promise<BackupTable[]> {
  const { rows } = await sql<BackupTable>`
    select c.relname::text as name, quote_ident(c.relname) as table,
      array(select quote_ident(a.attname) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
        order by a.attnum) as columns,
      array(select quote_ident(a.attname) || case when a.attcollation <> 0 then ' collate "C"' else '' end
        from unnest(k.conkey) with ordinality as key(number, place)
        join pg_attribute a on a.attrelid = c.oid and a.attnum = key.number order by key.place) as order
    from pg_class c left join pg_constraint k on k.conrelid = c.oid and k.contype = 'p'
    where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = current_schema()::regnamespace
    order by c.relname collate "C"`.execute(unscoped);
  const tables = rows.filter(({ name }) => !Object.hasOwn(notInBackups, name));
  const unordered = tables.filter(({ order }) => order.length === 0).map(({ name }) => name);
  if (unordered.length > 0) throw new Error(`Tables without a primary key: ${unordered.join(', ')}.`);
  return tables;
}

/** About how many rows the tables have together, as their statistics say; 0 if they have none yet. */
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
