import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { untyped } from '../any-tables.ts';
import { predicateSql } from '../conditions/predicate.ts';
import { withColumnNames, type QueryBase, selectColumns } from '../query-base.ts';
import { childRows, parentColumn, parentKeys } from '../walks/children.ts';
import { orderSql, row, stretchesOf, type Walk } from '../walks/walk.ts';
import type { ValueOrSlot } from '../../statements/slots.ts';

/**
 * The number of rows of a page: either a literal in the statement (`exactly`), or a parameter (`rows`). A statement for
 * several sizes also has a literal upper bound (`max`).
 */
export type PageSize = { rows: ValueOrSlot<number>; max?: number } | { exactly: number };

/** The number of rows that a page wants. */
export function wantedRows(size: PageSize): RawBuilder<number> {
  return 'exactly' in size ? sql.lit(size.exactly) : sql<number>`${size.rows}`;
}

/**
 * The number of rows that the planner expects. For a limit that is only a parameter, it assumes a tenth of the table
 * and would plan the statement at each run.
 */
export function plannedRows(size: PageSize): RawBuilder<number> {
  const max = upperBound(size);
  return max === undefined ? wantedRows(size) : sql.lit(max);
}

function upperBound(size: PageSize): number | undefined {
  return 'rows' in size ? size.max : undefined;
}

/** Selects a page of the workspace's rows or, with a parent, of its children. */
export function pageQuery(base: QueryBase, walk: Walk, size: PageSize, parent?: RawBuilder<unknown>) {
  const { source, filter, order, backward } = walk;
  let query = selectColumns(childRows(base, source), base).where(predicateSql(filter, row));
  if (parent && source.parent) query = query.where(sql<SqlBool>`${parentColumn(source.parent)} = ${parent}`);
  const wanted = wantedRows(size);
  const [first, second] = stretchesOf(walk).map((conditions) =>
    conditions
      .reduce((stretch, condition) => stretch.where(condition), query)
      .orderBy(orderSql(row, order, backward))
      .limit(plannedRows(size)),
  );
  if (!first) throw new Error('The walk has no stretch.');
  if (!second && upperBound(size) === undefined) return first;
  const rows = untyped(base.db).selectFrom(first.as('sized')).selectAll();
  if (!second) return rows.limit(wanted);
  // The second stretch is read only if the first has too few rows.
  const both = rows.unionAll(untyped(base.db).selectFrom(second.as('sized')).selectAll());
  return untyped(base.db).selectFrom(both.as('stretches')).selectAll().limit(wanted);
}

/**
 * Selects a page for each parent, in the order of the parents, with the ordinal of the parent as the last column. The
 * lateral join returns the rows of each page in the order of its subquery, so they are not sorted again.
 */
export function pagesQuery(
  base: QueryBase,
  walk: Walk,
  size: PageSize,
  parents: ValueOrSlot<readonly string[]>,
) {
  return selectColumns(
    untyped(base.db)
      .selectFrom(parentKeys(parents))
      .innerJoinLateral(pageQuery(base, walk, size, sql.ref('parent.key')).as('page'), (join) =>
        join.onTrue(),
      ),
    withColumnNames(base),
    'page',
  )
    .select(sql<number>`parent.ordinal`.as('parentOrdinal'))
    .orderBy('parent.ordinal');
}
