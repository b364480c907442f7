import type { ReferenceRow, WantedReferences } from '../../db/reads/issue-references.ts';
import type { CachedTableName } from '../../db/tables/cached-tables.ts';
import type { Snapshot } from '../../reference/snapshot.ts';

type Kind = Exclude<ReferenceRow['kind'], 'parent'>;

/** The positions, in the rows of a cached table, of the columns that the rules read. */
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

/** Looks up what a write refers to in the cached reference data. Parents are issues, which are not cached. */
export function cachedReferences(cached: Snapshot, wanted: WantedReferences): ReferenceRow[] {
  const { teamIds, statusIds, projectIds, deliveryIds, labelIds, userAccountIds, initialStatusOf } = wanted;
  return [
    ...rowsBy(cached, 'team', 'id', teamIds),
    ...rowsBy(cached, 'status', 'id', statusIds),
    ...rowsBy(cached, 'status', 'teamId', initialStatusOf).filter(({ flag }) => flag),
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
  const { table: tableName, ...columns } = columnsOf[kind];
  const table = cached.table(tableName);
  if (!table) return [];
  const place = (column: string | undefined) => (column === undefined ? -1 : table.place(column));
  const places = {
    id: place(kind === 'member' ? 'userAccountId' : 'id'),
    teamId: place(columns.teamId),
    name: place(columns.name),
    flag: place(columns.flag),
    code: place(columns.code),
  };
  return keys.flatMap((key) =>
    table.by(by, key).map((row) => ({
      kind,
      id: row[places.id] ?? '',
      teamId: row[places.teamId] ?? null,
      name: row[places.name] ?? '',
      flag: row[places.flag] === 't',
      code: Number(row[places.code] ?? 0),
    })),
  );
}
