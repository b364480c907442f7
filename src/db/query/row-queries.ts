import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely';
import { clampedSum } from './totals/aggregates.ts';
import { type AnyRow, type AnyTables, untyped } from './any-tables.ts';
import { type QueryBase, selectColumns } from './query-base.ts';
import { type Predicate, predicateSql } from './conditions/predicate.ts';
import type { ValueOrSlot } from '../statements/slots.ts';
import type { TableName } from '../tables/tables.ts';

type Keys = ValueOrSlot<readonly string[]>;

/** Selects the rows whose `column` is one of the keys. */
export function keyQuery(base: QueryBase, table: TableName, column: string, where: Predicate, keys: Keys) {
  return findQuery(base, table, where).where(sql<SqlBool>`${sql.ref(`r0.${column}`)} = any(${keys})`);
}

/** Selects the rows that match the predicate. */
export function findQuery(
  base: QueryBase,
  table: TableName,
  where: Predicate,
): SelectQueryBuilder<AnyTables, 'r0', AnyRow> {
  const rows = untyped(base.db).selectFrom(`${table} as r0`).where(predicateSql(where, 'r0'));
  return selectColumns(rows as SelectQueryBuilder<AnyTables, 'r0', AnyRow>, base);
}

/** Selects the given keys for which there is a row with the viewer's account. */
export function existsQuery(
  { db }: QueryBase,
  table: TableName,
  keyColumn: string,
  viewerColumn: string,
  viewer: ValueOrSlot<string>,
  keys: Keys,
) {
  return untyped(db)
    .selectFrom(`${table} as r0`)
    .select(`r0.${keyColumn} as key`)
    .where(`r0.${viewerColumn}`, '=', viewer)
    .where(sql<SqlBool>`${sql.ref(`r0.${keyColumn}`)} = any(${keys}::uuid[])`);
}

/** Selects the sums of the counter slots for each key that has any. */
export function sumsQuery(
  { db }: QueryBase,
  table: TableName,
  keyColumn: string,
  columns: readonly string[],
  keys: Keys,
) {
  return untyped(db)
    .selectFrom(`${table} as r0`)
    .select(`r0.${keyColumn} as key`)
    .select(columns.map((column) => clampedSum(`r0.${column}`).as(column)))
    .where(sql<SqlBool>`${sql.ref(`r0.${keyColumn}`)} = any(${keys}::uuid[])`)
    .groupBy(`r0.${keyColumn}`);
}
