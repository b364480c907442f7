import {
  type Expression,
  type QueryCreator,
  type RawBuilder,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import type { TableName } from '../../tables/tables.ts';
import type { IndexUse, Candidate } from './index-use.ts';
import { type AnyRow, type AnyTables, subquery, untyped } from '../any-tables.ts';
import type { QueryBase } from '../query-base.ts';
import { type Predicate, predicateSql, referencedKeys } from '../conditions/predicate.ts';
import { row, type Source } from './walk.ts';

/** A step that reads all rows that match one candidate, which are known to be fewer than `rows`. */
export interface FewStep {
  read: 'few';
  candidate: number;
  rows: number;
}

type Query = SelectQueryBuilder<AnyTables, string, AnyRow>;

/** The rows that match a candidate, in the order of its index, so that the planner uses this index for any values. */
export function matchesOf(
  { db }: QueryBase,
  { table, where }: Source,
  { condition, order = [] }: Candidate,
  max: number,
): Query {
  const matches = (from: Pick<QueryCreator<AnyTables>, 'selectFrom'>, found: Expression<SqlBool>) =>
    order.reduce<Query>(
      (query, column) => query.orderBy(`${row}.${column}`),
      from.selectFrom(`${table} as ${row}`).where(predicateSql(where, row)).where(found),
    );
  const several = order.length > 0 ? severalValues(condition, table) : undefined;
  if (!several) return matches(untyped(db), predicateSql(condition, row, 'fromRelated'));
  // Each value is a range of the index. With a list of values, the planner might expect matches everywhere and read the
  // whole table.
  const isSought = sql<SqlBool>`${sql.ref(`${row}.${several.column}`)} = ${sql.ref('sought.value')}`;
  const ofValue = matches(subquery(), isSought).selectAll(row).limit(sql.lit(max));
  return untyped(db)
    .selectFrom(
      sql<{ value: unknown }>`(select distinct unnest(${several.values}))`.as<'sought'>(sql`sought(value)`),
    )
    .innerJoinLateral(ofValue.as(row), (join) => join.onTrue());
}

/**
 * All columns of at most `rows` matches. Without a limit, the planner might walk along the order of the list, or read
 * the whole table.
 */
export function limitedMatches(base: QueryBase, source: Source, candidate: Candidate, rows: number): Query {
  return matchesOf(base, source, candidate, rows).selectAll(row).limit(sql.lit(rows));
}

export function candidateOf({ candidates }: IndexUse, { candidate }: FewStep): Candidate {
  const chosen = candidates[candidate];
  if (!chosen) throw new Error('The step reads none of the candidates.');
  return chosen;
}

/** The values of a condition that a column has one of several values; undefined for any other condition. */
function severalValues(
  condition: Predicate,
  table: TableName,
): { column: string; values: RawBuilder<unknown> } | undefined {
  if ('all' in condition)
    return condition.all.length === 1 && condition.all[0]
      ? severalValues(condition.all[0], table)
      : undefined;
  if ('references' in condition)
    return { column: condition.column, values: sql`array(${referencedKeys(condition, row)})` };
  if ('among' in condition) return { column: condition.column, values: sql`${condition.among}::uuid[]` };
  if (!('in' in condition)) return undefined;
  const { column } = condition;
  // The second argument is never evaluated, but PostgreSQL infers the type of the parameter from it.
  const typed = subquery().selectFrom(`${table} as typed`).select(`typed.${column}`).limit(sql.lit(0));
  return { column, values: sql`coalesce(${condition.in}, array(${typed}))` };
}
