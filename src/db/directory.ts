import { type Kysely, sql } from 'kysely';
import { anyUuid } from './query/any-uuid.ts';
import type { Row, Tables } from './tables/tables.ts';
import type { Trx } from './engine/transaction.ts';

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

/** Lets one transaction at a time make members, labels and the like in the workspace; '' for making workspaces. */
export async function holdDirectory(trx: Trx, workspaceId: string): Promise<void> {
  await trx
    .selectNoFrom(sql`pg_advisory_xact_lock(${directoryLocks}::int, hashtext(${workspaceId}))`.as('taken'))
    .execute();
}

/** Reads the whole directory of a workspace: some thousands of rows at most. */
export async function selectDirectory(db: Kysely<Tables>, workspaceId: string): Promise<DirectoryRows> {
  const rows: Partial<Record<DirectoryTable, unknown[]>> = {};
  for (const table of directoryTables) {
    rows[table] = await db.selectFrom(table).selectAll().where('workspaceId', '=', workspaceId).execute();
  }
  // Every table of the list was read just now.
  return rows as DirectoryRows;
}

/** Those of the statuses that issues are in, deleted ones too. */
export async function selectStatusesInUse(
  trx: Trx,
  workspaceId: string,
  ids: string[],
): Promise<Set<string>> {
  const rows = await trx
    .selectFrom('status')
    .select('status.id')
    .where('status.workspaceId', '=', workspaceId)
    .where('status.id', '=', anyUuid(ids))
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('issue')
          .select('issue.id')
          .whereRef('issue.workspaceId', '=', 'status.workspaceId')
          .whereRef('issue.statusId', '=', 'status.id'),
      ),
    )
    .execute();
  return new Set(rows.map(({ id }) => id));
}
