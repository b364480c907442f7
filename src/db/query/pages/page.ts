import {
  type AliasableExpression,
  type RawBuilder,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely';
import { type AnyRow, type AnyTables, untyped } from '../any-tables.ts';
import { predicateSql, type Through } from '../conditions/predicate.ts';
import {
  type ChildSource,
  orderSql,
  type Parent,
  row,
  type Source,
  stretchesOf,
  type Walk,
} from '../walks/walk.ts';
import type { ValueOrSlot } from '../../statements/slots.ts';
import type { TenantDb } from '../../tables/tenant-tables.ts';

/** A column that a plain list is ordered by: of the row itself, or of the join table. */
export interface ListOrder {
  column: string;
  of?: 'row' | 'link';
}

/** The handle of the workspace whose rows a query reads, and the columns that it selects. */
export interface Reading {
  db: TenantDb;
  /** By default all columns. */
  columns?: readonly ReadColumn[];
}

/** A column of the rows, or an expression that is computed for each row. */
export type ReadColumn = string | DerivedColumn;

export interface DerivedColumn {
  readonly name: string;
  /**
   * A description of the value. Derived columns with equal descriptions have equal values, whatever their names are.
   */
  readonly description: string;
  /** The expression for the row with this alias. */
  readonly sql: (alias: string) => AliasableExpression<unknown>;
}

/** Reads all children of each parent in order, for plain lists of few rows. */
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
 * The number of rows of a page: either a literal in the statement (`exactly`), or a parameter (`rows`). A statement for
 * several sizes also has a literal upper bound (`atMost`).
 */
export type PageSize = { rows: ValueOrSlot<number>; atMost?: number } | { exactly: number };

/** Selects a page of the workspace's rows or, with a parent, of its children. */
export function pageQuery(reading: Reading, walk: Walk, size: PageSize, parent?: RawBuilder<unknown>) {
  const { source, filter, order, backward } = walk;
  let query = selected(childRows(reading, source), reading).where(predicateSql(filter, row));
  if (parent && source.parent) query = query.where(sql<SqlBool>`${parentColumn(source.parent)} = ${parent}`);
  const wanted = 'exactly' in size ? sql.lit(size.exactly) : sql<number>`${size.rows}`;
  // For a limit that is only a parameter, the planner assumes a tenth of the table and would plan the statement at each
  // run.
  const planned = 'rows' in size && size.atMost !== undefined ? sql.lit(size.atMost) : wanted;
  const [first, second] = stretchesOf(walk).map((conditions) =>
    conditions
      .reduce((stretch, condition) => stretch.where(condition), query)
      .orderBy(orderSql(row, order, backward))
      .limit(planned),
  );
  if (!first) throw new Error('A walk has one stretch or two.');
  if (!second && planned === wanted) return first;
  const rows = untyped(reading.db).selectFrom(first.as('sized')).selectAll();
  if (!second) return rows.limit(wanted);
  // The second stretch is read only if the first has too few rows.
  const both = rows.unionAll(untyped(reading.db).selectFrom(second.as('sized')).selectAll());
  return untyped(reading.db).selectFrom(both.as('stretches')).selectAll().limit(wanted);
}

/**
 * Selects a page for each parent, in the order of the parents, with the ordinal of the parent as the last column. The
 * lateral join returns the rows of each page in the order of its subquery, so they are not sorted again.
 */
export function pagesQuery(
  reading: Reading,
  walk: Walk,
  size: PageSize,
  parents: ValueOrSlot<readonly string[]>,
) {
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
  parents: ValueOrSlot<readonly string[]>,
) {
  const key = parentColumn(source.parent);
  return selected(childRows(reading, source), reading)
    .select(sql<string>`${key}`.as('parentKey'))
    .where(sql<SqlBool>`${key} = any(${parents}::uuid[])`)
    .orderBy(
      sql.join(orderBy.map(({ column, of = 'row' }) => sql.ref(`${of === 'row' ? row : 'link'}.${column}`))),
    );
}

/** Selects the keys of the children of each parent from the join table, without the children themselves. */
export function linksQuery(
  { db }: Reading,
  { table, parent, child }: Through,
  columns: readonly string[],
  parents: ValueOrSlot<readonly string[]>,
) {
  return untyped(db)
    .selectFrom(`${table} as link`)
    .select([`link.${parent} as parentKey`, `link.${child} as childKey`])
    .select(columns.map((column) => `link.${column}`))
    .where(sql<SqlBool>`${sql.ref(`link.${parent}`)} = any(${parents}::uuid[])`);
}

/** Adds the selected columns. */
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

/** The name of a column in the rows. */
export function nameOf(column: ReadColumn): string {
  return typeof column === 'string' ? column : column.name;
}

export function parentKeys(parents: ValueOrSlot<readonly string[]>) {
  return sql<{ key: string; ordinal: number }>`unnest(${parents}::uuid[]) with ordinality`.as<'parent'>(
    sql`parent(key, ordinal)`,
  );
}

/** The column by which the rows of a source refer to their parent. */
export function parentColumn(parent: Parent): RawBuilder<unknown> {
  return 'through' in parent ? sql.ref(`link.${parent.through.parent}`) : sql.ref(`${row}.${parent.column}`);
}

/** Selects the rows of a source, joined with the join table as `link` if there is one. */
export function childRows({ db }: Reading, source: Source) {
  const through = source.parent && 'through' in source.parent ? source.parent.through : undefined;
  return untyped(db)
    .selectFrom(`${source.table} as ${row}`)
    .$if(through !== undefined, (query) =>
      query.innerJoin(`${through?.table} as link`, `link.${through?.child}`, `${row}.${through?.by}`),
    )
    .where(predicateSql(source.where, row));
}
