import {
  type AliasableExpression,
  type RawBuilder,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import { type AnyRow, type AnyTables, untyped } from './any-tables.ts';
import { type Predicate, predicateSql, type Through } from './predicate.ts';
import type { Given } from './slots.ts';
import type { TableName } from '../tables/tables.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';

export type OrderKind = 'int' | 'text' | 'time' | 'date';

/** One column to order by; the id follows in the same direction, and nulls come last in both. */
export interface Order {
  column: string;
  kind: OrderKind;
  nullable: boolean;
  direction: 'asc' | 'desc';
}

/** A place in an order: the value of its column, and the id of the row. */
export interface Position {
  value: Given<string | number> | null;
  id: Given<string>;
}

/** How rows belong to a parent: by a column of theirs, or over a join table. */
export type Parent = { column: string } | { through: Through };

/** The rows that a list is taken from. `where` is what always holds (not deleted), in front of any filter. */
export interface Source {
  table: TableName;
  where: Predicate;
  parent?: Parent;
  /** Where its rows are counted already. */
  counter?: Counter;
}

/** A table that keeps count of a source's rows for each value of one of their columns, which has the same name there. */
export interface Counter {
  table: TableName;
  key: string;
  column: string;
}

/** Children, with how they hang on their parents. */
export type ChildSource = Source & { parent: Parent };

/** Which rows of a source, in which order, and between which places of it. */
export interface Walk {
  source: Source;
  filter: Predicate;
  order: Order;
  backward: boolean;
  after?: Position;
  before?: Position;
}

export interface PageRequest extends Walk {
  /** Rows a page holds at most; one more is read to know whether there is another page. */
  limit: number;
}

export interface Page {
  rows: AnyRow[];
  /** Is there more in the direction that was walked. */
  more: boolean;
}

/** A column that a plain list is ordered by: of the row itself, or of the join table that led to it. */
export interface ListOrder {
  column: string;
  of?: 'row' | 'link';
}

/** What the rows of a source are called in the queries. */
export const row = 'r0';

/** What the queries below are compiled with: a handle of the workspace whose rows they read. */
export interface Reading {
  db: TenantDb;
  /** The columns that are read; all when nothing is said. */
  columns?: readonly ReadColumn[];
}

/** A column of the rows, or something that is worked out for each of them. */
export type ReadColumn = string | DerivedColumn;

export interface DerivedColumn {
  readonly name: string;
  /** Equal for columns that say the same of a row, whatever their names. */
  readonly what: string;
  /** What it is of the row that the alias names. */
  readonly sql: (alias: string) => AliasableExpression<unknown>;
}

/** One page of the workspace's rows. */
export async function selectPage(db: TenantDb, request: PageRequest): Promise<Page> {
  const rows = await pageQuery({ db }, request, { rows: request.limit + 1 }).execute();
  return toPage(rows, request);
}

/** A page for each parent, by one statement; parents without rows get an empty page. */
export async function selectPages(
  db: TenantDb,
  request: PageRequest,
  parents: readonly string[],
): Promise<Map<string, Page>> {
  const rows = await pagesQuery({ db }, request, { rows: request.limit + 1 }, parents).execute();
  const byOrdinal = Map.groupBy(rows, ({ parentOrdinal }) => parentOrdinal);
  return new Map(
    parents.map((parent, place) => {
      const found = byOrdinal.get(place + 1) ?? [];
      return [
        parent,
        toPage(
          found.map(({ parentOrdinal: _ordinal, ...rest }) => rest),
          request,
        ),
      ];
    }),
  );
}

/** All rows under each parent, in order: for small closed sets that are shown as plain lists. */
export async function selectLists(
  db: TenantDb,
  source: ChildSource,
  orderBy: readonly ListOrder[],
  parents: readonly string[],
): Promise<Map<string, AnyRow[]>> {
  return groupRows(await listsQuery({ db }, source, orderBy, parents).execute(), parents);
}

function groupRows(rows: readonly AnyRow[], parents: readonly string[]): Map<string, AnyRow[]> {
  const byParent = new Map<string, AnyRow[]>(parents.map((parent) => [parent, []]));
  for (const { parentKey, ...rest } of rows) byParent.get(String(parentKey))?.push(rest);
  return byParent;
}

/**
 * How many rows a page has: a number that stands in the text of its statement or, for statements that serve pages of
 * several sizes, one that is given and another in the text that it does not go beyond.
 */
export type PageSize = { rows: Given<number>; atMost?: number } | { exactly: number };

/** A page of the workspace's rows or, with a parent, of that parent's children. */
export function pageQuery(
  reading: Reading,
  { source, filter, order, backward, after, before }: Walk,
  size: PageSize,
  parent?: RawBuilder<unknown>,
) {
  let query = selected(childRows(reading, source), reading).where(predicateSql(filter, row));
  if (parent && source.parent) query = query.where(sql<SqlBool>`${parentColumn(source.parent)} = ${parent}`);
  if (after) query = query.where(beyond(order, after, true));
  if (before) query = query.where(beyond(order, before, false));
  const walked = query.orderBy(orderSql(row, order, backward));
  if ('exactly' in size) return walked.limit(sql<number>`${sql.lit(size.exactly)}`);
  const { rows, atMost } = size;
  if (atMost === undefined) return walked.limit(sql<number>`${rows}`);
  // A limit that is a parameter alone is taken for a tenth of the table: the statement would be planned at each run.
  return untyped(reading.db)
    .selectFrom(walked.limit(sql<number>`${sql.lit(atMost)}`).as('sized'))
    .selectAll()
    .limit(sql<number>`${rows}`);
}

/**
 * A page under each of the parents, in the order of the parents, whose ordinals stand behind. A lateral
 * join gives the rows of each page in the order of its subquery, so nothing is sorted twice.
 */
export function pagesQuery(reading: Reading, walk: Walk, size: PageSize, parents: Given<readonly string[]>) {
  return selected(
    untyped(reading.db)
      .selectFrom(parentKeys(parents))
      .innerJoinLateral(pageQuery(reading, walk, size, sql.ref('parent.key')).as('page'), (join) =>
        join.onTrue(),
      ),
    { ...reading, ...(reading.columns && { columns: reading.columns.map(nameOf) }) },
    'page',
  )
    .select(sql<number>`parent.ordinal`.as('parentOrdinal'))
    .orderBy('parent.ordinal');
}

export function listsQuery(
  reading: Reading,
  source: ChildSource,
  orderBy: readonly ListOrder[],
  parents: Given<readonly string[]>,
) {
  const key = parentColumn(source.parent);
  return selected(childRows(reading, source), reading)
    .select(sql<string>`${key}`.as('parentKey'))
    .where(sql<SqlBool>`${key} = any(${parents}::uuid[])`)
    .orderBy(
      sql.join(orderBy.map(({ column, of = 'row' }) => sql.ref(`${of === 'row' ? row : 'link'}.${column}`))),
    );
}

/** Which children each parent is joined to, without the children themselves. */
export function linksQuery(
  { db }: Reading,
  { table, parent, child }: Through,
  columns: readonly string[],
  parents: Given<readonly string[]>,
) {
  return untyped(db)
    .selectFrom(`${table} as link`)
    .select([`link.${parent} as parentKey`, `link.${child} as childKey`])
    .select(columns.map((column) => `link.${column}`))
    .where(sql<SqlBool>`${sql.ref(`link.${parent}`)} = any(${parents}::uuid[])`);
}

/** Adds what is read of the rows. */
export function selected<Query extends SelectQueryBuilder<AnyTables, string, AnyRow>>(
  query: Query,
  { columns }: Reading,
  alias = row,
): Query {
  const read = columns
    ? query.select(
        columns.map((column) =>
          typeof column === 'string' ? `${alias}.${column}` : column.sql(alias).as(column.name),
        ) as `${string}.${string}`[],
      )
    : query.selectAll(alias);
  return read as Query;
}

/** What a column is called in the rows. */
export function nameOf(column: ReadColumn): string {
  return typeof column === 'string' ? column : column.name;
}

function parentKeys(parents: Given<readonly string[]>) {
  return sql<{ key: string; ordinal: number }>`unnest(${parents}::uuid[]) with ordinality`.as<'parent'>(
    sql`parent(key, ordinal)`,
  );
}

/** What the rows of a source name their parent by. */
export function parentColumn(parent: Parent): RawBuilder<unknown> {
  return 'through' in parent ? sql.ref(`link.${parent.through.parent}`) : sql.ref(`${row}.${parent.column}`);
}

/** The source's rows with, where they hang on a join table, that table as `link`. */
export function childRows({ db }: Reading, source: Source) {
  const through = source.parent && 'through' in source.parent ? source.parent.through : undefined;
  return untyped(db)
    .selectFrom(`${source.table} as ${row}`)
    .$if(through !== undefined, (query) =>
      query.innerJoin(`${through?.table} as link`, `link.${through?.child}`, `${row}.${through?.by}`),
    )
    .where(predicateSql(source.where, row));
}

function orderSql(alias: string, order: Order, backward: boolean): RawBuilder<unknown> {
  const descending = (order.direction === 'desc') !== backward;
  const direction = sql.raw(descending ? 'desc' : 'asc');
  // `nulls` is said only where there can be some: an index in the plain direction serves the rest.
  const nulls = sql.raw(order.nullable ? (backward ? ' nulls first' : ' nulls last') : '');
  return sql`${sql.ref(`${alias}.${order.column}`)} ${direction}${nulls}, ${sql.ref(`${alias}.id`)} ${direction}`;
}

const types = { int: 'int4', text: 'text', time: 'timestamptz', date: 'date' } as const;

/** The rows after (or before) a position. A row comparison serves an index, but knows no nulls: those are spelled out. */
function beyond(order: Order, position: Position, after: boolean): RawBuilder<SqlBool> {
  const column = sql.ref(`${row}.${order.column}`);
  const id = sql.ref(`${row}.id`);
  const greater = (order.direction === 'asc') === after;
  const operator = sql.raw(greater ? '>' : '<');
  if (position.value === null) {
    const among = sql<SqlBool>`${column} is null and ${id} ${operator} ${position.id}::uuid`;
    return after ? sql<SqlBool>`(${among})` : sql<SqlBool>`(${column} is not null or ${among})`;
  }
  const value = sql`${position.value}::${sql.raw(types[order.kind])}`;
  const compared = sql<SqlBool>`(${column}, ${id}) ${operator} (${value}, ${position.id}::uuid)`;
  return order.nullable && after ? sql<SqlBool>`(${compared} or ${column} is null)` : compared;
}

function toPage(rows: AnyRow[], { limit, backward }: PageRequest): Page {
  const more = rows.length > limit;
  const kept = more ? rows.slice(0, limit) : rows;
  return { rows: backward ? kept.reverse() : kept, more };
}
