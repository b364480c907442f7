import { type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely';
import { type AnyRow, type AnyTables, untyped } from './any-tables.ts';
import { type Predicate, predicateSql, type Through } from './predicate.ts';
import type { TableName, Tables } from './tables.ts';

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
  value: string | number | null;
  id: string;
}

/** How rows belong to a parent: by a column of theirs, or over a join table. */
export type Parent = { column: string } | { through: Through };

/** The rows that a list is taken from. `where` is what always holds (not deleted), in front of any filter. */
export interface Source {
  table: TableName;
  where: Predicate;
  parent?: Parent;
}

export interface PageRequest {
  source: Source;
  filter: Predicate;
  order: Order;
  /** Rows a page holds at most; one more is read to know whether there is another page. */
  limit: number;
  backward: boolean;
  after?: Position;
  before?: Position;
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

const row = 'r0';

/** One page of the workspace's rows. */
export async function selectPage(
  db: Kysely<Tables>,
  workspaceId: string,
  request: PageRequest,
): Promise<Page> {
  const rows = await pageQuery(untyped(db), workspaceId, request).execute();
  return toPage(rows, request);
}

/** A page for each parent, by one statement; parents without rows get an empty page. */
export async function selectPages(
  db: Kysely<Tables>,
  workspaceId: string,
  request: PageRequest,
  parents: readonly string[],
): Promise<Map<string, Page>> {
  const rows = await untyped(db)
    .selectFrom(parentKeys(parents))
    .innerJoinLateral(
      pageQuery(untyped(db), workspaceId, request, sql.ref('parent.key')).as('page'),
      (join) => join.onTrue(),
    )
    .selectAll('page')
    .select(sql<string>`parent.key`.as('parentKey'))
    .orderBy('parent.ordinal')
    .orderBy(orderSql('page', request))
    .execute();
  const byParent = new Map<string, AnyRow[]>(parents.map((parent) => [parent, []]));
  for (const { parentKey, ...rest } of rows) byParent.get(parentKey)?.push(rest);
  return new Map([...byParent].map(([parent, found]) => [parent, toPage(found, request)]));
}

/** The number of rows, all pages together. */
export async function selectCount(
  db: Kysely<Tables>,
  workspaceId: string,
  source: Source,
  filter: Predicate,
): Promise<number> {
  const counted = await untyped(db)
    .selectFrom(`${source.table} as ${row}`)
    .select(sql<number>`count(*)::int`.as('count'))
    .where(`${row}.workspaceId`, '=', workspaceId)
    .where(predicateSql(source.where, row, workspaceId))
    .where(predicateSql(filter, row, workspaceId))
    .executeTakeFirstOrThrow();
  return counted.count;
}

/** The number of rows under each parent, by one grouped statement. */
export async function selectCounts(
  db: Kysely<Tables>,
  workspaceId: string,
  source: Source & { parent: Parent },
  filter: Predicate,
  parents: readonly string[],
): Promise<Map<string, number>> {
  const key = parentColumn(source.parent);
  const counted = await childRows(untyped(db), workspaceId, source)
    .select([sql<string>`${key}`.as('parentKey'), sql<number>`count(*)::int`.as('count')])
    .where(sql<SqlBool>`${key} = any(${[...parents]}::uuid[])`)
    .where(predicateSql(filter, row, workspaceId))
    .groupBy(sql`${key}`)
    .execute();
  return new Map(counted.map(({ parentKey, count }) => [parentKey, count]));
}

/** All rows under each parent, in order: for small closed sets that are shown as plain lists. */
export async function selectLists(
  db: Kysely<Tables>,
  workspaceId: string,
  source: Source & { parent: Parent },
  orderBy: readonly ListOrder[],
  parents: readonly string[],
): Promise<Map<string, AnyRow[]>> {
  const key = parentColumn(source.parent);
  const rows = await childRows(untyped(db), workspaceId, source)
    .selectAll(row)
    .select(sql<string>`${key}`.as('parentKey'))
    .where(sql<SqlBool>`${key} = any(${[...parents]}::uuid[])`)
    .orderBy(
      sql.join(orderBy.map(({ column, of = 'row' }) => sql.ref(`${of === 'row' ? row : 'link'}.${column}`))),
    )
    .execute();
  const byParent = new Map<string, AnyRow[]>(parents.map((parent) => [parent, []]));
  for (const { parentKey, ...rest } of rows) byParent.get(parentKey)?.push(rest);
  return byParent;
}

export function parentKeys(parents: readonly string[]) {
  return sql<{ key: string; ordinal: number }>`unnest(${[...parents]}::uuid[]) with ordinality`.as<'parent'>(
    sql`parent(key, ordinal)`,
  );
}

function parentColumn(parent: Parent): RawBuilder<unknown> {
  return 'through' in parent ? sql.ref(`link.${parent.through.parent}`) : sql.ref(`${row}.${parent.column}`);
}

/** The source's rows with, where they hang on a join table, that table as `link`. */
function childRows(db: Kysely<AnyTables>, workspaceId: string, source: Source) {
  const through = source.parent && 'through' in source.parent ? source.parent.through : undefined;
  return db
    .selectFrom(`${source.table} as ${row}`)
    .$if(through !== undefined, (query) =>
      query.innerJoin(`${through?.table} as link`, (join) =>
        join
          .onRef('link.workspaceId', '=', `${row}.workspaceId`)
          .onRef(`link.${through?.child}`, '=', `${row}.${through?.by}`),
      ),
    )
    .where(`${row}.workspaceId`, '=', workspaceId)
    .where(predicateSql(source.where, row, workspaceId));
}

function pageQuery(
  db: Kysely<AnyTables>,
  workspaceId: string,
  request: PageRequest,
  parent?: RawBuilder<unknown>,
) {
  const { source, filter, order, limit, after, before } = request;
  let query = childRows(db, workspaceId, source)
    .selectAll(row)
    .where(predicateSql(filter, row, workspaceId));
  if (parent && source.parent) query = query.where(sql<SqlBool>`${parentColumn(source.parent)} = ${parent}`);
  if (after) query = query.where(beyond(order, after, true));
  if (before) query = query.where(beyond(order, before, false));
  return query.orderBy(orderSql(row, request)).limit(limit + 1);
}

function orderSql(alias: string, { order, backward }: PageRequest): RawBuilder<unknown> {
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
