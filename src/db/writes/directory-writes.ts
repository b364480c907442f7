import { type SelectQueryBuilder, sql } from 'kysely';
import { untyped } from '../query/any-tables.ts';
import { type DirectoryTable, directoryTables } from '../directory.ts';
import type { TeamTable } from '../tables/directory-tables.ts';
import type { Trx } from '../engine/transaction.ts';
import type { TenantTables } from '../tables/tenant-tables.ts';
import { slicesOf } from './insert-rows.ts';

/** The writes that make a workspace match a directory file: new rows, and changed columns of existing ones. */
export interface DirectoryWrites {
  readonly inserts: ReadonlyMap<DirectoryTable, readonly Record<string, unknown>[]>;
  readonly updates: readonly DirectoryUpdate[];
}

export interface DirectoryUpdate {
  readonly table: DirectoryTable;
  readonly id: string;
  readonly columns: Record<string, unknown>;
}

/** The codes of the status of members, and of the state of projects, that a team counts. */
interface CountedCodes {
  readonly memberStatus: number;
  readonly projectState: number;
}

/** The tables whose rows do not say when they were last changed. */
const tablesWithoutUpdatedUtc: ReadonlySet<DirectoryTable> = new Set(['agentInstallation', 'projectLink']);

/** A row whose derived fields were changed by writes to other rows. */
export interface DerivedChange {
  readonly table: 'team' | 'project';
  readonly id: string;
  readonly teamId: string;
  /** The values of the changed fields before the writes. */
  readonly previous: Readonly<Record<string, unknown>>;
}

/**
 * For each table in order, inserts new groups of labels, updates rows and inserts the other new rows. Then corrects the
 * derived counts. Returns the rows that existed before and whose derived fields have changed.
 */
export async function writeDirectory(
  trx: Trx,
  writes: DirectoryWrites,
  counted: CountedCodes,
): Promise<DerivedChange[]> {
  const before = await derivedFields(trx);
  for (const table of directoryTables) {
    const { groups = [], others = [] } = Object.groupBy(writes.inserts.get(table) ?? [], (row) =>
      row['isGroup'] === true ? 'groups' : 'others',
    );
    // Labels that exist may be put into a new group.
    await insertNew(trx, table, groups);
    // A flag that only one row may have must be cleared on one row before it is set on another.
    const updates = writes.updates.filter((update) => update.table === table).sort(clearingFirst);
    for (const { id, columns } of updates) {
      const lastUpdate = tablesWithoutUpdatedUtc.has(table) ? {} : { updatedUtc: sql`now()` };
      await untyped(trx)
        .updateTable(table)
        .set({ ...columns, ...lastUpdate })
        .where('id', '=', id)
        .execute();
    }
    await insertNew(trx, table, others);
  }
  await recountTeams(trx, counted);
  await recountProjectLinks(trx);
  const after = await derivedFields(trx);
  return [...before].flatMap(([id, { table, teamId, fields }]) => {
    const now = after.get(id)?.fields ?? fields;
    const changed = Object.entries(fields).filter(([field, value]) => now[field] !== value);
    return changed.length > 0 ? [{ table, id, teamId, previous: Object.fromEntries(changed) }] : [];
  });
}

/** A row with its derived fields: counts, and the state that a project has by its status. */
interface DerivedFields extends Pick<DerivedChange, 'table' | 'teamId'> {
  readonly fields: Readonly<Record<string, unknown>>;
}

async function derivedFields(trx: Trx): Promise<ReadonlyMap<string, DerivedFields>> {
  const rows = new Map<string, DerivedFields>();
  const teams = trx.selectFrom('team').select(['team.id', 'team.memberCount', 'team.activeProjectCount']);
  for (const { id, ...fields } of await teams.execute()) rows.set(id, { table: 'team', teamId: id, fields });
  const projects = trx
    .selectFrom('project')
    .select(['project.id', 'project.teamId', 'project.state', 'project.linkCount']);
  for (const { id, teamId, ...fields } of await projects.execute())
    rows.set(id, { table: 'project', teamId, fields });
  return rows;
}

/** Inserts rows. A member's account is written before the member. */
async function insertNew(
  trx: Trx,
  table: DirectoryTable,
  rows: readonly Record<string, unknown>[],
): Promise<void> {
  for (const slice of slicesOf(rows)) {
    if (table === 'member') {
      const accounts = slice.map(({ userAccountId, createdUtc }) => ({ id: userAccountId, createdUtc }));
      await untyped(trx).insertInto('userAccount').values(accounts).execute();
    }
    await untyped(trx).insertInto(table).values(slice).execute();
  }
}

async function recountTeams(trx: Trx, counted: CountedCodes): Promise<void> {
  await trx
    .updateTable('team')
    .from((eb) => teamCounts(eb.selectFrom('team as counted'), counted).as('counts'))
    .set((eb) => ({
      memberCount: sql<number>`${eb.ref('counts.members')}`,
      activeProjectCount: sql<number>`${eb.ref('counts.projects')}`,
    }))
    .whereRef('team.id', '=', 'counts.id')
    .where((eb) =>
      eb.or([
        eb('team.memberCount', '<>', eb.ref('counts.members')),
        eb('team.activeProjectCount', '<>', eb.ref('counts.projects')),
      ]),
    )
    .execute();
}

type CountedTeams = SelectQueryBuilder<TenantTables & { counted: TeamTable }, 'counted', object>;

function teamCounts(teams: CountedTeams, counted: CountedCodes) {
  const count = sql<number>`count(*)::int`.as('count');
  return teams.select((eb) => [
    'counted.id',
    eb
      .selectFrom('teamMember')
      .innerJoin('member', 'member.userAccountId', 'teamMember.userAccountId')
      .select(count)
      .whereRef('teamMember.teamId', '=', 'counted.id')
      .where('member.status', '=', counted.memberStatus)
      .as('members'),
    eb
      .selectFrom('project')
      .select(count)
      .whereRef('project.teamId', '=', 'counted.id')
      .where('project.state', '=', counted.projectState)
      .as('projects'),
  ]);
}

async function recountProjectLinks(trx: Trx): Promise<void> {
  await trx
    .updateTable('project')
    .from((eb) =>
      eb
        .selectFrom('project as counted')
        .select((of) => [
          'counted.id',
          of
            .selectFrom('projectLink')
            .select(sql<number>`count(*)::int`.as('count'))
            .whereRef('projectLink.projectId', '=', 'counted.id')
            .as('links'),
        ])
        .as('counts'),
    )
    .set((eb) => ({ linkCount: sql<number>`${eb.ref('counts.links')}` }))
    .whereRef('project.id', '=', 'counts.id')
    .where((eb) => eb('project.linkCount', '<>', eb.ref('counts.links')))
    .execute();
}

function clearingFirst(left: DirectoryUpdate, right: DirectoryUpdate): number {
  return Number(setsUniqueFlag(left)) - Number(setsUniqueFlag(right));
}

function setsUniqueFlag({ columns }: DirectoryUpdate): boolean {
  return columns.isInitial === true || columns.isDefaultForAgents === true || columns.isDefault === true;
}
