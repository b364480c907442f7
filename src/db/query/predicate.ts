import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { subquery, subqueryWith } from './any-tables.ts';
import { type Given, Slot } from './slots.ts';
import type { TableName } from '../tables/tables.ts';

/** How a comparison is made; `contains` and `startsWith` take their value literally (`%` and `_` are characters). */
export type Comparison = 'eq' | 'lt' | 'lte' | 'gt' | 'gte' | 'contains' | 'startsWith';
export type Comparable = string | number | boolean | Date;

/**
 * A condition on the rows of one table, as data: what a filter of either face becomes before it is SQL. `among` are keys
 * that are known already, in place of `references`: an array of UUIDs in bytes (`UuidArray`).
 */
export type Predicate =
  | { all: readonly Predicate[] }
  | { any: readonly Predicate[] }
  | { not: Predicate }
  | { column: string; is: Comparison; value: Given<Comparable> }
  | { column: string; in: Given<readonly Comparable[]> }
  | { column: string; isNull: boolean }
  | { column: string; references: TableName; by: string; where: Predicate }
  | { column: string; among: Given<Buffer>; many: boolean }
  | { through: Through; own: string; where: Predicate }
  | { lineage: Lineage };

/** The row of `table` with the id `root`, and every row below it: `parent` holds the id of the row above. */
export interface Lineage {
  table: TableName;
  parent: string;
  root: string;
}

/** A way over a join table: its `parent` column holds a value of the row, its `child` column one of `target`.`by`. */
export interface Through {
  table: TableName;
  parent: string;
  child: string;
  target: TableName;
  by: string;
  /**
   * The column of the parent that holds the same keys once more, as an array, in the order of the join where that has one;
   * null where only the join knows them.
   */
  stored?: string;
}

export const always: Predicate = { all: [] };

/** Does it hold for every row, whatever the row is. */
export function isAlways(predicate: Predicate): boolean {
  return 'all' in predicate && predicate.all.every(isAlways);
}

/**
 * The predicate as SQL over the row that `alias` names. It is two-valued: a null never makes a negation unknown,
 * so rows without a value are found by `not`.
 */
export function predicateSql(predicate: Predicate, alias: string): Expression<SqlBool> {
  if ('all' in predicate) return joined(predicate.all, ' and ', true, alias);
  if ('any' in predicate) return joined(predicate.any, ' or ', false, alias);
  if ('not' in predicate) return sql<SqlBool>`(${predicateSql(predicate.not, alias)}) is not true`;
  if ('through' in predicate) return throughSql(predicate, alias);
  if ('lineage' in predicate) return lineageSql(predicate.lineage, alias);
  const column = sql.ref(`${alias}.${predicate.column}`);
  if ('isNull' in predicate)
    return predicate.isNull ? sql<SqlBool>`${column} is null` : sql<SqlBool>`${column} is not null`;
  if ('in' in predicate) return sql<SqlBool>`${column} = any(${predicate.in})`;
  if ('among' in predicate) return amongSql(column, predicate);
  if ('references' in predicate) return referenceSql(predicate, column, alias);
  return comparisonSql(column, predicate.is, predicate.value);
}

function joined(
  parts: readonly Predicate[],
  operator: ' and ' | ' or ',
  whenEmpty: boolean,
  alias: string,
): RawBuilder<SqlBool> {
  if (parts.length === 0) return sql<SqlBool>`${sql.lit(whenEmpty)}`;
  return sql<SqlBool>`(${sql.join(
    parts.map((part) => predicateSql(part, alias)),
    sql.raw(operator),
  )})`;
}

const operators: Readonly<Record<Comparison, string>> = {
  eq: '=',
  lt: '<',
  lte: '<=',
  gt: '>',
  gte: '>=',
  contains: 'like',
  startsWith: 'like',
};

function comparisonSql(
  column: RawBuilder<unknown>,
  is: Comparison,
  value: Given<Comparable>,
): RawBuilder<SqlBool> {
  return sql<SqlBool>`${column} ${sql.raw(operators[is])} ${value instanceof Slot ? value : sqlValue(is, value)}`;
}

/** What the column is compared with: the value itself, or the pattern that finds it within a text. */
export function sqlValue(is: Comparison, value: Comparable): Comparable {
  if (is === 'contains') return `%${literal(value)}%`;
  return is === 'startsWith' ? `${literal(value)}%` : value;
}

function literal(value: Comparable): string {
  return String(value).replace(/[\\%_]/g, (character) => `\\${character}`);
}

/** The next alias inward (r, r1, r2 …), so that a table can be asked about itself (an issue's parent's parent). */
function inner(alias: string): string {
  return `r${Number(alias.slice(1)) + 1}`;
}

function referenceSql(
  predicate: { references: TableName; by: string; where: Predicate },
  column: RawBuilder<unknown>,
  alias: string,
): RawBuilder<SqlBool> {
  const target = inner(alias);
  return sql<SqlBool>`${column} in (${boundSelect(predicate.references, target, predicate.by, predicate.where)})`;
}

/**
 * Few keys may lead to an index. Many are hashed once for the whole statement: `is true` keeps the planner from a join,
 * which it would make anew for each parent, and takes for cheap where it knows little of the tables.
 */
function amongSql(
  column: RawBuilder<unknown>,
  { among, many }: Extract<Predicate, { among: unknown }>,
): RawBuilder<SqlBool> {
  const keys = sql`${among}::uuid[]`;
  return many
    ? sql<SqlBool>`(${column} in (select unnest(${keys}))) is true`
    : sql<SqlBool>`${column} = any(${keys})`;
}

function throughSql(
  { through, own, where }: { through: Through; own: string; where: Predicate },
  alias: string,
): RawBuilder<SqlBool> {
  const link = inner(alias);
  const child = sql.ref(`${link}.${through.child}`);
  const isSought =
    'among' in where
      ? amongSql(child, where)
      : sql<SqlBool>`${child} in (${boundSelect(through.target, inner(link), through.by, where)})`;
  const rows = subquery()
    .selectFrom(`${through.table} as ${link}`)
    .select(sql.lit(1).as('found'))
    .whereRef(`${link}.${through.parent}`, '=', `${alias}.${own}`)
    .where(isSought);
  return sql<SqlBool>`exists (${rows})`;
}

function lineageSql({ table, parent, root }: Lineage, alias: string): RawBuilder<SqlBool> {
  const ids = subqueryWith()
    .withRecursive('line', (creator) =>
      creator
        .selectFrom(table)
        .select('id')
        .where('id', '=', root)
        .union((eb) =>
          eb
            .selectFrom(`${table} as child`)
            .innerJoin('line', `child.${parent}`, 'line.id')
            .select('child.id'),
        ),
    )
    .selectFrom('line')
    .select('line.id');
  return sql<SqlBool>`${sql.ref(`${alias}.id`)} in (${ids})`;
}

function boundSelect(table: TableName, alias: string, by: string, where: Predicate) {
  return subquery()
    .selectFrom(`${table} as ${alias}`)
    .select(`${alias}.${by}`)
    .where(predicateSql(where, alias));
}
