import type { Predicate } from '../db/query/conditions/predicate.ts';
import type { TableName } from '../db/tables/tables.ts';
import { testOf } from './conditions.ts';
import type { Snapshot } from './snapshot.ts';

/**
 * A rank that rows copy from the cached row to which they refer, so that an index on their own table can contain it.
 */
interface CopiedRank {
  /** The column that refers to the row, by its id. */
  readonly reference: string;
  readonly table: TableName;
  readonly rank: string;
}

/** The copied ranks by the column of the copy. */
const copiedRanks: Readonly<Record<string, CopiedRank>> = {
  statusRank: { reference: 'statusId', table: 'status', rank: 'rank' },
};

/**
 * Adds to a filter the range of ranks that matching rows can have, if the list is ordered by a copied rank and the
 * filter restricts the rows from which it is copied. A walk through the index of the order then only visits that range.
 */
export function withRanks(
  filter: Predicate,
  order: { readonly column: string },
  snapshot: Snapshot,
): Predicate {
  const copied = copiedRanks[order.column];
  const table = copied && snapshot.table(copied.table);
  const where = copied && conditionsOn(filter, copied);
  if (!copied || !table || !where || where.length === 0) return filter;
  const test = testOf({ all: where }, table, snapshot);
  if (!test) return filter;
  const position = table.columnIndex(copied.rank);
  const ranks = table.rows.filter(test).map((row) => Number(row[position]));
  if (ranks.length === 0) return filter;
  const { column } = order;
  const from: Predicate = { column, is: 'gte', value: Math.min(...ranks) };
  return { all: [filter, from, { column, is: 'lte', value: Math.max(...ranks) }] };
}

/** The conditions that the filter imposes on the row whose rank is copied. */
function conditionsOn(filter: Predicate, copied: CopiedRank): Predicate[] {
  if ('all' in filter) return filter.all.flatMap((part) => conditionsOn(part, copied));
  if (!('column' in filter) || filter.column !== copied.reference) return [];
  if ('references' in filter) return filter.references === copied.table ? [filter.where] : [];
  return 'is' in filter || 'in' in filter ? [{ ...filter, column: 'id' }] : [];
}
