import type { Total } from '../../../db/reads/bounded-totals.ts';
import type { PageRequest } from '../../../db/reads/pages.ts';
import type { Position } from '../../../db/query/walks/walk.ts';
import type { CachedRow, CachedTable } from '../../../reference/cached-table.ts';
import { compareKeys, orderKey } from '../../../reference/order.ts';
import { flatten } from '../fields/children.ts';
import type { Pages } from './connections.ts';
import type { Run } from '../run/run.ts';

/** The page under each parent, from memory; a list without parents has the key `''`. Undefined where rows are not cached. */
export function cachedPages(
  run: Run,
  request: PageRequest,
  keys: () => readonly string[],
): Pages | undefined {
  const { source, order, filter, limit, backward } = request;
  const list = run.cachedList(source, order, filter);
  const table = run.cached?.table(source.table);
  if (!list || !table) return undefined;
  const more: boolean[] = [];
  const totals: Total[] = [];
  const groups = keys().map((key) => {
    const rows = list(key);
    const between = rowsBetweenCursors(table, rows, request);
    totals.push({ count: rows.length, isExact: true });
    more.push(between.length > limit);
    if (between.length <= limit) return between;
    return backward ? between.slice(-limit) : between.slice(0, limit);
  });
  return { ...flatten(groups), more, totals, types: table.types };
}

/** The rows between the cursors of the request. */
function rowsBetweenCursors(
  table: CachedTable,
  rows: readonly CachedRow[],
  request: PageRequest,
): readonly CachedRow[] {
  const { after, before } = request;
  if (!after && !before) return rows;
  return rows.filter(
    (row) =>
      (!after || compareToPosition(table, row, request, after) > 0) &&
      (!before || compareToPosition(table, row, request, before) < 0),
  );
}

/** Positive where the row comes after the position. A request has values in its positions, never slots. */
function compareToPosition(
  table: CachedTable,
  row: CachedRow,
  { order }: PageRequest,
  position: Position,
): number {
  const { value, id } = position as { value: string | number | null; id: string };
  const text = row[table.columnIndex(order.column)] ?? null;
  const sign = order.direction === 'asc' ? 1 : -1;
  // Nulls come last, whatever the direction.
  if ((text === null) !== (value === null)) return text === null ? 1 : -1;
  if (text !== null && value !== null) {
    const sought = order.kind === 'time' ? Date.parse(String(value)) : value;
    const compared = compareKeys(orderKey(order.kind, text), sought);
    if (compared !== 0) return sign * compared;
  }
  return sign * compareKeys(row[table.columnIndex('id')] ?? '', id);
}
