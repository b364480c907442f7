import type { Row, TableName } from './tables.ts';

/** All columns of a table except `workspaceId`, which is the same for all rows. */
function columns<Name extends TableName>(
  named: Readonly<Record<Exclude<keyof Row<Name> & string, 'workspaceId'>, true>>,
): readonly string[] {
  return Object.keys(named);
}

/**
 * A table that is cached in memory: its columns, and the column whose equal values form a group that is read again as a
 * whole.
 */
export interface CachedDeclaration {
  readonly columns: readonly string[];
  readonly group: string;
}

/**
 * The tables of reference data: small, often read and rarely written. The triggers of migration 0018 record every
 * change of them. A further table needs such triggers first.
 */
export const cachedTables = {
  member: {
    group: 'id',
    columns: columns<'member'>({
      id: true,
      userAccountId: true,
      displayName: true,
      displayNameFold: true,
      avatarUrl: true,
      emailAddress: true,
      emailAddressFold: true,
      principalKind: true,
      role: true,
      status: true,
      createdUtc: true,
      updatedUtc: true,
    }),
  },
  team: {
    group: 'id',
    columns: columns<'team'>({
      id: true,
      name: true,
      nameFold: true,
      code: true,
      slug: true,
      description: true,
      iconCss: true,
      color: true,
      state: true,
      leadUserAccountId: true,
      memberCount: true,
      activeProjectCount: true,
      deliveriesEnabled: true,
      createdUtc: true,
      updatedUtc: true,
    }),
  },
  teamMember: { group: 'teamId', columns: columns<'teamMember'>({ teamId: true, userAccountId: true }) },
  status: {
    group: 'id',
    columns: columns<'status'>({
      id: true,
      teamId: true,
      name: true,
      nameFold: true,
      description: true,
      color: true,
      category: true,
      position: true,
      rank: true,
      isInitial: true,
      isTerminal: true,
      createdUtc: true,
      updatedUtc: true,
    }),
  },
  label: {
    group: 'id',
    columns: columns<'label'>({
      id: true,
      teamId: true,
      groupId: true,
      isGroup: true,
      name: true,
      nameFold: true,
      description: true,
      color: true,
      createdUtc: true,
      updatedUtc: true,
    }),
  },
  delivery: {
    group: 'id',
    columns: columns<'delivery'>({
      id: true,
      teamId: true,
      number: true,
      name: true,
      nameFold: true,
      description: true,
      startsOn: true,
      endsOn: true,
      state: true,
      createdUtc: true,
      updatedUtc: true,
    }),
  },
  projectStatus: {
    group: 'id',
    columns: columns<'projectStatus'>({
      id: true,
      name: true,
      nameFold: true,
      description: true,
      color: true,
      state: true,
      position: true,
      createdUtc: true,
      updatedUtc: true,
    }),
  },
  project: {
    group: 'id',
    columns: columns<'project'>({
      id: true,
      teamId: true,
      key: true,
      name: true,
      nameFold: true,
      summary: true,
      description: true,
      slug: true,
      iconCss: true,
      color: true,
      statusId: true,
      state: true,
      statusPosition: true,
      priority: true,
      priorityRank: true,
      leadUserAccountId: true,
      leadDisplayNameFold: true,
      startUtc: true,
      targetUtc: true,
      linkCount: true,
      createdUtc: true,
      updatedUtc: true,
    }),
  },
  projectMember: {
    group: 'projectId',
    columns: columns<'projectMember'>({ projectId: true, userAccountId: true }),
  },
  projectLabel: { group: 'projectId', columns: columns<'projectLabel'>({ projectId: true, labelId: true }) },
} as const satisfies Partial<Record<TableName, CachedDeclaration>>;

export type CachedTableName = keyof typeof cachedTables;

export function cachedDeclaration(table: string): CachedDeclaration | undefined {
  return Object.hasOwn(cachedTables, table) ? cachedTables[table as CachedTableName] : undefined;
}
