import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { type AnyRow, type AnyTables, untyped } from '../any-tables.ts';
import { always, type Predicate, predicateSql } from '../conditions/predicate.ts';
import type { QueryBase } from '../query-base.ts';
import type { PlannedWalk } from './index-use.ts';
import { childrenOf } from './children.ts';
import { orderSql, row, stretchesOf } from './walk.ts';

type Query = SelectQueryBuilder<AnyTables, string, AnyRow>;

/** The conditions that are checked on each row that a step examines. */
export function checkedOf({
  walk: { source },
  indexUse: { rowConditions, hasDeleted },
}: PlannedWalk): Predicate {
  return hasDeleted ? { all: [source.where, rowConditions] } : rowConditions;
}

/** The rows that a step examines along the order, under one parent or in the whole workspace. */
export function examinedRows(
  base: QueryBase,
  { walk, indexUse }: PlannedWalk,
  rows: number,
  select: (query: Query) => Query,
  parent?: RawBuilder<unknown>,
): Query {
  const { order, backward } = walk;
  const source = indexUse.hasDeleted ? { ...walk.source, where: always } : walk.source;
  const sourceRows = parent
    ? childrenOf(base, source, parent)
    : untyped(base.db).selectFrom(`${source.table} as ${row}`).where(predicateSql(source.where, row));
  const [first, second] = stretchesOf(walk).map((conditions) =>
    select(conditions.reduce<Query>((query, condition) => query.where(condition), sourceRows as Query))
      .where(predicateSql(indexUse.rangeConditions, row))
      .orderBy(orderSql(row, order, backward))
      .limit(sql.lit(rows)),
  );
  if (!first) throw new Error('The walk has no stretch.');
  if (!second) return first;
  // A part of a union can have an order and a limit only as a subquery.
  const wrapped = (stretch: Query) => untyped(base.db).selectFrom(stretch.as('stretch')).selectAll();
  const both = wrapped(first).unionAll(wrapped(second));
  return untyped(base.db).selectFrom(both.as('stretches')).selectAll().limit(sql.lit(rows));
}
