import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import type { AnyRow, AnyTables } from '../any-tables.ts';
import type { Predicate, Through } from '../conditions/predicate.ts';
import type { ValueOrSlot } from '../../statements/slots.ts';
import type { TableName } from '../../tables/tables.ts';

export type OrderKind = 'int' | 'text' | 'time' | 'date';

/** A column to order by. Equal values are ordered by id in the same direction; nulls come last in both directions. */
export interface Order {
  column: string;
  kind: OrderKind;
  nullable: boolean;
  /**
   * No two rows of one parent have the same value, and each list in this order has a parent. Its index need not have
   * the ids then: if the rows were also sorted by id, PostgreSQL would read all rows of the parent, because it expects
   * few.
   */
  isUnique?: true;
  direction: 'asc' | 'desc';
}

/** The position of a row in an order: the value of the order's column, and the id. */
export interface Position {
  value: ValueOrSlot<string | number> | null;
  id: ValueOrSlot<string>;
}

/** How rows refer to their parent: by a column, or through a join table. */
export type Parent = { column: string } | { through: Through };

/** The rows of a list before any filter. `where` is a condition that all of them meet, such as not being deleted. */
export interface Source {
  table: TableName;
  where: Predicate;
  parent?: Parent;
  /** The table that already counts the rows, if there is one. */
  counter?: Counter;
}

/**
 * A table with the numbers of a source's rows for each value of their column `key`. The table has a column of that name
 * too.
 */
export interface Counter {
  table: TableName;
  key: string;
  column: string;
}

/** A source whose rows have parents. */
export type ChildSource = Source & { parent: Parent };

/** The rows of a source that match a filter, in an order, between two positions. */
export interface Walk {
  source: Source;
  filter: Predicate;
  order: Order;
  backward: boolean;
  after?: Position;
  before?: Position;
}

/** The alias of the rows of a source in all queries. */
export const row = 'r0';

/**
 * The conditions for the rows of a walk, as one or two stretches. There are two if the walk passes from rows with a
 * value to rows without one, or back: each stretch is a range of an index, while a condition for both would not be. No
 * stretch has rows of both kinds, so the same index serves both directions of the order, whether it sorts nulls first or last.
 */
export function stretchesOf({ order, backward, after, before }: Walk): RawBuilder<SqlBool>[][] {
  const [start, end] = backward ? [before, after] : [after, before];
  const beforeEnd = end ? [sql<SqlBool>`(${sql.join(rangesBeyond(order, end, backward), sql` or `)})`] : [];
  if (start) return rangesBeyond(order, start, !backward).map((range) => [range, ...beforeEnd]);
  if (!order.nullable) return [beforeEnd];
  const column = sql.ref(`${row}.${order.column}`);
  const withValue = [sql<SqlBool>`${column} is not null`, ...beforeEnd];
  const withoutValue = [sql<SqlBool>`${column} is null`, ...beforeEnd];
  return backward ? [withoutValue, withValue] : [withValue, withoutValue];
}

export function orderSql(alias: string, order: Order, backward: boolean): RawBuilder<unknown> {
  const descending = (order.direction === 'desc') !== backward;
  const direction = sql.raw(descending ? 'desc' : 'asc');
  const byColumn = sql`${sql.ref(`${alias}.${order.column}`)} ${direction}`;
  return order.isUnique ? byColumn : sql`${byColumn}, ${sql.ref(`${alias}.id`)} ${direction}`;
}

/** The order of a walk for rows that are sorted: nulls come last, and first in a walk backward. */
export function sortSql(alias: string, { order, backward }: Walk): RawBuilder<unknown> {
  const columns = orderSql(alias, order, backward);
  if (!order.nullable) return columns;
  return sql`(${sql.ref(`${alias}.${order.column}`)} is null) ${sql.raw(backward ? 'desc' : 'asc')}, ${columns}`;
}

/** Adds the conditions that rows are between the positions of a walk. */
export function betweenPositions<Query extends SelectQueryBuilder<AnyTables, string, AnyRow>>(
  rows: Query,
  { order, after, before }: Walk,
): Query {
  const ends = [
    ...(after ? [rangesBeyond(order, after, true)] : []),
    ...(before ? [rangesBeyond(order, before, false)] : []),
  ];
  return ends.reduce<Query>(
    (query, ranges) => query.where(sql<SqlBool>`(${sql.join(ranges, sql` or `)})`) as Query,
    rows,
  );
}

/** The type of an order's values. */
export function typeOf(kind: OrderKind): RawBuilder<unknown> {
  return sql.raw(types[kind]);
}

const types = { int: 'int4', text: 'text', time: 'timestamptz', date: 'date' } as const;

/**
 * The rows after (or before) a position as ranges of an index, the nearest first. A row comparison is such a range, but
 * it is never true for nulls, which need a range of their own.
 */
function rangesBeyond(order: Order, position: Position, after: boolean): RawBuilder<SqlBool>[] {
  const column = sql.ref(`${row}.${order.column}`);
  const id = sql.ref(`${row}.id`);
  const operator = sql.raw((order.direction === 'asc') === after ? '>' : '<');
  if (position.value === null) {
    const amongNulls = sql<SqlBool>`(${column} is null and ${id} ${operator} ${position.id}::uuid)`;
    return after ? [amongNulls] : [amongNulls, sql<SqlBool>`${column} is not null`];
  }
  const value = sql`${position.value}::${typeOf(order.kind)}`;
  const compared = sql<SqlBool>`(${column}, ${id}) ${operator} (${value}, ${position.id}::uuid)`;
  return order.nullable && after ? [compared, sql<SqlBool>`${column} is null`] : [compared];
}
