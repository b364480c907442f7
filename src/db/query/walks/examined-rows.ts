import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely';
import { type AnyRow, type AnyTables, untyped } from '../any-tables.ts';
import { always, type Predicate, predicateSql } from '../conditions/predicate.ts';
import type { Reading } from '../reading.ts';
import type { PlannedWalk } from './index-use.ts';
import { childrenOf } from './children.ts';
import { orderSql, row, stretchesOf } from './walk.ts';

type Query = SelectQueryBuilder<AnyTables, string, AnyRow>;

/** The conditions that are checked on each row that a step examines. */
export function checkedOf({ walk: { source }, indexUse: { others, hasDeleted } }: PlannedWalk): Predicate {
  return hasDeleted ? { all: [source.where, others] } : others;
}

/** The rows that a step examines along the order, under one parent or in the whole workspace. */
export function examinedRows(
  reading: Reading,
  { walk, indexUse }: PlannedWalk,
  rows: number,
  select: (query: Query) => Query,
  parent?: RawBuilder<unknown>,
): Query {
  const { order, backward } = walk;
  const source = indexUse.hasDeleted ? { ...walk.source, where: always } : walk.source;
  const base = parent
    ? childrenOf(reading, source, parent)
    : untyped(reading.db).selectFrom(`${source.table} as ${row}`).where(predicateSql(source.where, row));
  const [first, second] = stretchesOf(walk).map((conditions) =>
    select(conditions.reduce<Query>((query, condition) => query.where(condition), base as Query))
      .where(predicateSql(indexUse.inside, row))
      .orderBy(orderSql(row, order, backward))
      .limit(sql.lit(rows)),
  );
  if (!first) throw new Error('The walk has no stretch.');
  if (!second) return first;
  const all = (stretch: Query) => untyped(reading.db).selectFrom(stretch.as('stretch')).selectAll();
  const both = all(first).unionAll(all(second));
  return untyped(reading.db).selectFrom(both.as('stretches')).selectAll().limit(sql.lit(rows));
}
