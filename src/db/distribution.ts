import { type Kysely, sql } from 'kysely';
import { withoutForeignKeys } from './backup/rows.ts';
import type { Tables } from './tables/tables.ts';
import type { UnscopedTrx } from './engine/transaction.ts';

/** A table of a database that Citus can distribute. Names are quoted for SQL where they have to be. */
interface DistributableTable {
  readonly table: string;
  /** Rows are placed by their workspace, or every node has a copy of the table. */
  readonly how: 'distributed' | 'copied';
  /** Whether the table was distributed or copied before. */
  readonly isDone: boolean;
}

/**
 * The setting without which a node refuses tables with triggers. All triggers here write rows of the same workspace.
 */
const triggerSetting = 'citus.enable_unsafe_triggers';

/** The version of the extension Citus in this database; undefined without it. */
export async function selectCitusVersion(unscoped: Kysely<Tables>): Promise<string | undefined> {
  const { rows } = await sql<{ version: string }>`
    select extversion as version from pg_extension where extname = 'citus'`.execute(unscoped);
  return rows[0]?.version;
}

/** Whether the database is a coordinator of Citus with at least one other node that stores rows. */
export async function isCoordinator(unscoped: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`
    select citus_is_coordinator() and exists (
      select from pg_dist_node where isactive and noderole = 'primary' and shouldhaveshards and groupid <> 0
    ) as found`.execute(unscoped);
  return rows[0]?.found ?? false;
}

/** The nodes that refuse tables with triggers, as `host:port`. */
export async function selectNodesWithoutTriggers(unscoped: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ node: string }>`
    select nodename || ':' || nodeport as node
    from run_command_on_all_nodes(${`show ${triggerSetting}`}) r join pg_dist_node n on n.nodeid = r.nodeid
    where not r.success or r.result <> 'on' order by 1`.execute(unscoped);
  return rows.map(({ node }) => node);
}

/**
 * All tables. A table with a workspace is distributed by it, and `workspace` comes first, because the others are placed
 * like it. The routes of tokens are copied, because they are searched before the workspace is known.
 */
export async function selectDistributableTables(unscoped: Kysely<Tables>): Promise<DistributableTable[]> {
  const { rows } = await sql<DistributableTable>`
    select quote_ident(c.relname) as table, p.logicalrelid is not null as is_done,
      case when a.attname is null or c.relname = 'token_route' then 'copied' else 'distributed' end as how
    from pg_class c
      left join pg_attribute a on a.attrelid = c.oid and a.attname = 'workspace_id'
      left join pg_dist_partition p on p.logicalrelid = c.oid
    where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
    order by c.relname <> 'workspace', c.relname`.execute(unscoped);
  return rows;
}

/**
 * Distributes and copies the tables with all their rows, or changes nothing if it fails. `onTable` is called before
 * each table. The tables cannot be used meanwhile.
 */
export async function distribute(
  trx: UnscopedTrx,
  tables: readonly DistributableTable[],
  onTable: (table: string) => void,
): Promise<void> {
  // One connection to each node, as one transaction needs it.
  await sql`set local citus.multi_shard_modify_mode = 'sequential'`.execute(trx);
  // The rows arrive at the nodes as inserts, which must not be counted and copied by triggers once more.
  await sql`set local citus.propagate_set_commands = 'local'`.execute(trx);
  await sql`set local session_replication_role = replica`.execute(trx);
  await dropUnsupported(trx);
  await withoutForeignKeys(trx, async () => {
    for (const { table, how } of tables) {
      onTable(table);
      if (how === 'copied') await sql`select create_reference_table(${table}::regclass)`.execute(trx);
      else
        await sql`
          select create_distributed_table(${table}::regclass, 'workspace_id',
            colocate_with => ${table === 'workspace' ? 'none' : 'workspace'})`.execute(trx);
    }
  });
}

/**
 * Drops the constraint and the trigger that a distributed table cannot have. A hash is unique among the routes, so
 * among the tokens it need only be unique in a workspace. Tokens of an earlier version, for which the trigger adds the
 * routes, are not issued here.
 */
async function dropUnsupported(trx: UnscopedTrx): Promise<void> {
  await sql`alter table access_token drop constraint if exists access_token_token_hash_key`.execute(trx);
  await sql`create unique index if not exists access_token_by_hash on access_token (workspace_id, token_hash)`.execute(
    trx,
  );
  await sql`drop trigger if exists access_token_routed on access_token`.execute(trx);
}
