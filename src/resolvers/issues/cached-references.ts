import { type ReferenceRow, referenceOf, type WantedReferences } from '../../db/reads/issue-references.ts';
import type { CachedTableName } from '../../db/tables/cached-tables.ts';
import type { Snapshot } from '../../reference/snapshot.ts';

type Kind = Exclude<ReferenceRow['kind'], 'parent'>;

/** The columns of the cached tables that the rules read, by kind of reference. */
const columnsOf: Readonly<
  Record<Kind, { table: CachedTableName; name: string } & Partial<Record<Column, string>>>
> = {
  team: { table: 'team', name: 'name' },
  status: { table: 'status', name: 'name', teamId: 'teamId', flag: 'isInitial', code: 'rank' },
  project: { table: 'project', name: 'name', teamId: 'teamId' },
  delivery: { table: 'delivery', name: 'name', teamId: 'teamId' },
  label: { table: 'label', name: 'name', teamId: 'teamId', flag: 'isGroup' },
  member: { table: 'member', name: 'displayName', code: 'status' },
};
type Column = 'teamId' | 'flag' | 'code';

/**
 * Looks up the objects that a write refers to in the cached reference data. Parents are issues, which are not cached.
 */
export function cachedReferences(cached: Snapshot, wanted: WantedReferences): ReferenceRow[] {
  const { teamIds, statusIds, projectIds, deliveryIds, labelIds, userAccountIds, initialStatusOf } = wanted;
  return [
    ...rowsBy(cached, 'team', 'id', teamIds),
    ...rowsBy(cached, 'status', 'id', statusIds),
    ...rowsBy(cached, 'status', 'teamId', initialStatusOf).filter(
      (row) => row.kind === 'status' && row.isInitial,
    ),
    ...rowsBy(cached, 'project', 'id', projectIds),
    ...rowsBy(cached, 'delivery', 'id', deliveryIds),
    ...rowsBy(cached, 'label', 'id', labelIds),
    ...rowsBy(cached, 'member', 'userAccountId', userAccountIds),
  ];
}

function rowsBy(
  cached: Snapshot,
  kind: Kind,
  by: 'id' | 'teamId' | 'userAccountId',
  keys: readonly string[],
): ReferenceRow[] {
  if (keys.length === 0) return [];
  const { table: tableName, ...columns } = columnsOf[kind];
  const table = cached.table(tableName);
  if (!table) return [];
  const indexOf = (column: string | undefined) => (column === undefined ? -1 : table.columnIndex(column));
  const indexes = {
    id: indexOf(kind === 'member' ? 'userAccountId' : 'id'),
    teamId: indexOf(columns.teamId),
    name: indexOf(columns.name),
    flag: indexOf(columns.flag),
    code: indexOf(columns.code),
  };
  return keys.flatMap((key) =>
    table.by(by, key).map((row) =>
      referenceOf({
        kind,
        id: row[indexes.id] ?? '',
        teamId: row[indexes.teamId] ?? null,
        name: row[indexes.name] ?? '',
        flag: row[indexes.flag] === 't',
        code: Number(row[indexes.code] ?? 0),
      }),
    ),
  );
}
