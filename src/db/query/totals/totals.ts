import { type SqlBool, sql } from 'kysely';
import { listIndexes, shortListColumns } from '../../tables/list-indexes.ts';
import { clampedSum } from './aggregates.ts';
import { untyped } from '../any-tables.ts';
import { countedWalk } from './bounded-count.ts';
import type { PlannedWalk } from '../walks/index-use.ts';
import { childRows, parentColumn } from '../walks/children.ts';
import type { QueryBase } from '../query-base.ts';
import { type ChildSource, type Counter, row, type Source } from '../walks/walk.ts';
import { isAlways, type Predicate, predicateSql } from '../conditions/predicate.ts';
import type { ValueOrSlot } from '../../statements/slots.ts';
import { type TallyChoice, talliedRows } from './tallies.ts';

/** How the rows of all pages are counted. */
export type TotalStrategy =
  /** The tallies of issues are added up. */
  | { readonly by: 'tallies'; readonly choice: TallyChoice }
  /** All rows are counted, or the counter that has their number is read. */
  | { readonly by: 'rows'; readonly filter: Predicate }
  /** At most this many rows are examined. */
  | { readonly by: 'bounds'; readonly planned: PlannedWalk };

/** Chooses the strategy for a total. `tallied` are the tallies that can provide it, if there are any. */
export function totalStrategy(
  source: Source,
  filter: Predicate,
  tallied: TallyChoice | undefined,
): TotalStrategy {
  if (hasCounter(source, filter)) return { by: 'rows', filter };
  if (tallied) return { by: 'tallies', choice: tallied };
  if (!listIndexes[source.table] || isShort(source)) return { by: 'rows', filter };
  const planned = countedWalk(source, filter);
  const { isServed, rowConditions } = planned.indexUse;
  // A list of ids matches few rows.
  return isServed && !isAlways(rowConditions) ? { by: 'rows', filter } : { by: 'bounds', planned };
}

function isShort({ parent }: Source): boolean {
  return parent !== undefined && 'column' in parent && shortListColumns.has(parent.column);
}

function hasCounter({ counter, parent }: Source, filter: Predicate): boolean {
  if (!counter || !isAlways(filter)) return false;
  return !parent || ('column' in parent && parent.column === counter.key);
}

/** The total of a list, or of the children of each parent, where one statement returns it. */
export function totalQuery(
  base: QueryBase,
  source: Source,
  strategy: Exclude<TotalStrategy, { by: 'bounds' }>,
  parents?: ValueOrSlot<readonly string[]>,
) {
  const { parent } = source;
  if (strategy.by === 'rows') {
    return parent && parents
      ? countsQuery(base, { ...source, parent }, strategy.filter, parents)
      : countQuery(base, source, strategy.filter);
  }
  const rows = talliedRows(base.db, strategy.choice);
  const count = sql<number>`greatest(${clampedSum(`${row}.issueCount`)}, 0)`.as('count');
  if (!parent || !parents) return rows.select(count);
  const key = parentColumn(parent);
  return rows
    .select([sql<string>`${key}`.as('parentKey'), count])
    .where(sql<SqlBool>`${key} = any(${parents}::uuid[])`)
    .groupBy(sql`${key}`);
}

function countQuery({ db }: QueryBase, source: Source, filter: Predicate) {
  const { counter } = source;
  if (counter && hasCounter(source, filter)) {
    return untyped(db).selectFrom(`${counter.table} as ${row}`).select(counterSum(counter).as('count'));
  }
  return untyped(db)
    .selectFrom(`${source.table} as ${row}`)
    .select(sql<number>`count(*)::int`.as('count'))
    .where(predicateSql(source.where, row))
    .where(predicateSql(filter, row));
}

export function countsQuery(
  base: QueryBase,
  source: ChildSource,
  filter: Predicate,
  parents: ValueOrSlot<readonly string[]>,
) {
  const { counter, parent } = source;
  const key = parentColumn(parent);
  if (counter && hasCounter(source, filter)) {
    return untyped(base.db)
      .selectFrom(`${counter.table} as ${row}`)
      .select([sql<string>`${key}`.as('parentKey'), counterSum(counter).as('count')])
      .where(sql<SqlBool>`${key} = any(${parents}::uuid[])`)
      .groupBy(sql`${key}`);
  }
  return childRows(base, source)
    .select([sql<string>`${key}`.as('parentKey'), sql<number>`count(*)::int`.as('count')])
    .where(sql<SqlBool>`${key} = any(${parents}::uuid[])`)
    .where(predicateSql(filter, row))
    .groupBy(sql`${key}`);
}

function counterSum({ column }: Counter) {
  return clampedSum(`${row}.${column}`);
}
