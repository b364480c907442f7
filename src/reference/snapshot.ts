import { cachedDeclaration, cachedTables, type CachedTableName } from '../db/tables/cached-tables.ts';
import type { Order, Source } from '../db/query/walks/walk.ts';
import type { ReferenceRows, ReferenceVersion } from '../db/reads/reference-reads.ts';
import { testOf } from './conditions.ts';
import { type CachedRow, CachedTable } from './cached-table.ts';

type Tables = ReadonlyMap<string, CachedTable>;

/** The reference data of a workspace at one version. It never changes. */
export class Snapshot {
  readonly version: ReferenceVersion;
  readonly rowCount: number;
  /** When it had been read, by the clock of `performance.now()`. */
  readonly readMs = performance.now();
  readonly #tables: Tables;
  /** The ordered lists of children that have been created, by the JSON of their source and order. */
  readonly #lists = new Map<string, ReadonlyMap<string, readonly CachedRow[]>>();

  /** Without tables it has only the version: the workspace is too large to be cached. */
  constructor(version: ReferenceVersion, tables: Tables = new Map()) {
    this.version = version;
    this.#tables = tables;
    this.rowCount = [...tables.values()].reduce((sum, { rows }) => sum + rows.length, 0);
  }

  /** The rows of a table, if they are cached. */
  table(name: string): CachedTable | undefined {
    return this.#tables.get(name);
  }

  get isCached(): boolean {
    return this.#tables.size > 0;
  }

  /** The same tables with a version that differs only in `auth`. */
  withVersion(version: ReferenceVersion): Snapshot {
    return new Snapshot(version, this.#tables);
  }

  /** The same data with further tables, for conditions on rows that refer to it. */
  with(tables: Tables): Snapshot {
    return new Snapshot(this.version, new Map([...this.#tables, ...tables]));
  }

  changed(version: ReferenceVersion, tables: readonly ReferenceRows[]): Snapshot {
    const next = new Map(this.#tables);
    for (const rows of tables) {
      const before = next.get(rows.table) ?? new CachedTable(cachedTables[rows.table], [], rows.types);
      next.set(rows.table, before.changed(rows));
    }
    return new Snapshot(version, next);
  }

  /**
   * The rows of a list by their parent (`''` for the whole workspace), in order and without a filter. Undefined when
   * they are not all cached.
   */
  lists(
    { table: name, where, parent }: Source,
    order: Order,
  ): ReadonlyMap<string, readonly CachedRow[]> | undefined {
    const table = this.#tables.get(name);
    if (!table) return undefined;
    const key = JSON.stringify([name, where, parent, order.column, order.direction]);
    const known = this.#lists.get(key);
    if (known) return known;
    const test = testOf(where, table, this);
    const lists = test && this.#grouped(table, table.sorted(order).filter(test), parent);
    if (lists) this.#lists.set(key, lists);
    return lists;
  }

  #grouped(
    table: CachedTable,
    rows: readonly CachedRow[],
    parent: Source['parent'],
  ): ReadonlyMap<string, readonly CachedRow[]> | undefined {
    if (!parent) return new Map([['', rows]]);
    if ('column' in parent) {
      const position = table.columnIndex(parent.column);
      return Map.groupBy(rows, (row) => row[position] ?? '');
    }
    const { table: linkTableName, parent: parentColumn, child, by } = parent.through;
    const linkTable = this.#tables.get(linkTableName);
    if (!linkTable) return undefined;
    const groups = new Map<string, CachedRow[]>();
    const [keyIndex, parentIndex] = [table.columnIndex(by), linkTable.columnIndex(parentColumn)];
    for (const row of rows) {
      for (const link of linkTable.by(child, row[keyIndex] ?? '')) {
        const group = groups.get(link[parentIndex] ?? '');
        if (group) group.push(row);
        else groups.set(link[parentIndex] ?? '', [row]);
      }
    }
    return groups;
  }
}

/** The snapshot of a workspace that was read completely. */
export function snapshotOf(version: ReferenceVersion, tables: readonly ReferenceRows[]): Snapshot {
  const cached = tables.map(({ table, rows, types }): [CachedTableName, CachedTable] => [
    table,
    new CachedTable(cachedTables[table], rows, types),
  ]);
  return new Snapshot(version, new Map(cached));
}

/** Whether rows of this table are ever cached. */
export function isCachedTable(table: string): boolean {
  return cachedDeclaration(table) !== undefined;
}
