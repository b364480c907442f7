import type { AliasableExpression, SelectQueryBuilder } from 'kysely';
import type { AnyRow, AnyTables } from './any-tables.ts';
import { row } from './walks/walk.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';

/** What a query is built from: the handle of the workspace whose rows it reads, and the columns that it selects. */
export interface QueryBase {
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

/** Adds the selected columns. */
export function selectColumns<Query extends SelectQueryBuilder<AnyTables, string, AnyRow>>(
  query: Query,
  { columns }: QueryBase,
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

/** The same columns by their names in a subquery. */
export function withColumnNames(base: QueryBase): QueryBase {
  return { ...base, ...(base.columns && { columns: base.columns.map(nameOf) }) };
}
