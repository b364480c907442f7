import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely';
import { advisoryLocks } from './engine/advisory-locks.ts';
import { anyUuid } from './query/any-uuid.ts';
import type { Row } from './tables/tables.ts';
import { workspaceOf } from './engine/tenant-handle.ts';
import type { Trx, UnscopedTrx } from './engine/transaction.ts';
import type { TenantDb } from './tables/tenant-tables.ts';

/** The tables of a directory, ordered so that rows refer only to rows of earlier tables. */
export const directoryTables = [
  'member',
  'team',
  'teamCounter',
  'teamMember',
  'status',
  'label',
  'delivery',
  'projectStatus',
  'project',
  'projectMember',
  'projectLabel',
  'projectLink',
  'repository',
  'agentInstallation',
] as const;
export type DirectoryTable = (typeof directoryTables)[number];

/** All rows of a workspace's directory. */
export type DirectoryRows = { [Table in DirectoryTable]: Row<Table>[] };

/** Takes a lock so that only one transaction at a time creates members, labels and so on in the workspace. */
export async function lockWorkspaceDirectory(trx: Trx): Promise<void> {
  await acquire(trx, workspaceOf(trx));
}

/**
 * Takes a lock so that only one transaction at a time creates workspaces from directory files. Such a transaction reads
 * all workspaces and then adds accounts. Citus accepts this only over a single connection to each node, hence the
 * setting, which has no effect in other databases.
 */
export async function lockNewWorkspaces(unscoped: UnscopedTrx): Promise<void> {
  const oneConnection = sql`set_config('citus.multi_shard_modify_mode', 'sequential', true)`;
  await sql`select ${oneConnection}, ${advisoryLock('')}`.execute(unscoped);
}

async function acquire(trx: QueryExecutorProvider, name: string): Promise<void> {
  await sql`select ${advisoryLock(name)}`.execute(trx);
}

function advisoryLock(name: string): RawBuilder<unknown> {
  return sql`pg_advisory_xact_lock(${advisoryLocks.directory}::int, hashtext(${name}))`;
}

/** Reads the whole directory of a workspace, which has at most a few thousand rows. */
export async function selectDirectory(db: TenantDb): Promise<DirectoryRows> {
  const rows: Partial<Record<DirectoryTable, unknown[]>> = {};
  for (const table of directoryTables) {
    rows[table] = await db.selectFrom(table).selectAll().execute();
  }
  // All tables have been read, which the compiler cannot see.
  return rows as DirectoryRows;
}

/** The given statuses that any issue has, even a deleted one. */
export async function selectStatusesInUse(trx: Trx, ids: string[]): Promise<Set<string>> {
  const rows = await trx
    .selectFrom('status')
    .select('status.id')
    .where('status.id', '=', anyUuid(ids))
    .where((eb) =>
      eb.exists(eb.selectFrom('issue').select('issue.id').whereRef('issue.statusId', '=', 'status.id')),
    )
    .execute();
  return new Set(rows.map(({ id }) => id));
}
