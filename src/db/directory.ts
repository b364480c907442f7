import { type QueryExecutorProvider, sql } from 'kysely';
import { anyUuid } from './query/any-uuid.ts';
import type { Row } from './tables/tables.ts';
import { workspaceOf } from './engine/tenant-handle.ts';
import type { Trx, UnscopedTrx } from './engine/transaction.ts';
import type { TenantDb } from './tables/tenant-tables.ts';

/** The tables that a directory is kept in, in an order in which rows may point at earlier ones only. */
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

// 'wgdi' in ASCII: keeps this lock apart from any other advisory lock of the database.
const directoryLocks = 0x77676469;

/** Lets one transaction at a time create members, labels and the like in its workspace. */
export async function holdDirectory(trx: Trx): Promise<void> {
  await hold(trx, workspaceOf(trx));
}

/** Lets one transaction at a time create workspaces by directory files. */
export async function holdWorkspaces(unscoped: UnscopedTrx): Promise<void> {
  await hold(unscoped, '');
}

async function hold(trx: QueryExecutorProvider, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${directoryLocks}::int, hashtext(${name}))`.execute(trx);
}

/** Reads the whole directory of a workspace: some thousands of rows at most. */
export async function selectDirectory(db: TenantDb): Promise<DirectoryRows> {
  const rows: Partial<Record<DirectoryTable, unknown[]>> = {};
  for (const table of directoryTables) {
    rows[table] = await db.selectFrom(table).selectAll().execute();
  }
  // Every table of the list was read just now.
  return rows as DirectoryRows;
}

/** Those of the statuses that issues are in, deleted ones too. */
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
