import type { Row, TableName } from './tables.ts';

/**
 * All columns of a table except `workspaceId`, which is the same for all rows. A missing or misspelled column is a
 * compile error.
 */
function columns<Name extends TableName>() {
  type Column = Exclude<keyof Row<Name> & string, 'workspaceId'>;
  return <const Named extends readonly Column[]>(
    ...named: [Exclude<Column, Named[number]>] extends [never]
      ? Named
      : [missing: Exclude<Column, Named[number]>]
  ): readonly string[] => named;
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
    columns: columns<'member'>()(
      'id',
      'userAccountId',
      'displayName',
      'displayNameFold',
      'avatarUrl',
      'emailAddress',
      'emailAddressFold',
      'principalKind',
      'role',
      'status',
      'createdUtc',
      'updatedUtc',
    ),
  },
  team: {
    group: 'id',
    columns: columns<'team'>()(
      'id',
      'name',
      'nameFold',
      'code',
      'slug',
      'description',
      'iconCss',
      'color',
      'state',
      'leadUserAccountId',
      'memberCount',
      'activeProjectCount',
      'deliveriesEnabled',
      'createdUtc',
      'updatedUtc',
    ),
  },
  teamMember: { group: 'teamId', columns: columns<'teamMember'>()('teamId', 'userAccountId') },
  status: {
    group: 'id',
    columns: columns<'status'>()(
      'id',
      'teamId',
      'name',
      'nameFold',
      'description',
      'color',
      'category',
      'position',
      'rank',
      'isInitial',
      'isTerminal',
      'createdUtc',
      'updatedUtc',
    ),
  },
  label: {
    group: 'id',
    columns: columns<'label'>()(
      'id',
      'teamId',
      'groupId',
      'isGroup',
      'name',
      'nameFold',
      'description',
      'color',
      'createdUtc',
      'updatedUtc',
    ),
  },
  delivery: {
    group: 'id',
    columns: columns<'delivery'>()(
      'id',
      'teamId',
      'number',
      'name',
      'nameFold',
      'description',
      'startsOn',
      'endsOn',
      'state',
      'createdUtc',
      'updatedUtc',
    ),
  },
  projectStatus: {
    group: 'id',
    columns: columns<'projectStatus'>()(
      'id',
      'name',
      'nameFold',
      'description',
      'color',
      'state',
      'position',
      'createdUtc',
      'updatedUtc',
    ),
  },
  project: {
    group: 'id',
    columns: columns<'project'>()(
      'id',
      'teamId',
      'key',
      'name',
      'nameFold',
      'summary',
      'description',
      'slug',
      'iconCss',
      'color',
      'statusId',
      'state',
      'statusPosition',
      'priority',
      'priorityRank',
      'leadUserAccountId',
      'leadDisplayNameFold',
      'startUtc',
      'targetUtc',
      'linkCount',
      'createdUtc',
      'updatedUtc',
    ),
  },
  projectMember: { group: 'projectId', columns: columns<'projectMember'>()('projectId', 'userAccountId') },
  projectLabel: { group: 'projectId', columns: columns<'projectLabel'>()('projectId', 'labelId') },
} as const satisfies Partial<Record<TableName, CachedDeclaration>>;

export type CachedTableName = keyof typeof cachedTables;

export function cachedDeclaration(table: string): CachedDeclaration | undefined {
  return Object.hasOwn(cachedTables, table) ? cachedTables[table as CachedTableName] : undefined;
}
