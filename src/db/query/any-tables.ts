import {
  expressionBuilder,
  type ExpressionBuilder,
  type Kysely,
  NOOP_QUERY_EXECUTOR,
  QueryCreator,
} from 'kysely';
import type { TenantDb } from '../tables/tenant-tables.ts';

/**
 * Tables whose names come as data. The declarations in `src/schema` check table and column names when they are
 * compiled; what interprets them sees only strings.
 */
export type AnyTables = Record<string, Record<string, unknown>>;
export type AnyRow = Record<string, unknown>;

export function untyped(db: TenantDb): Kysely<AnyTables> {
  return db as unknown as Kysely<AnyTables>;
}

/** Builds sub-selects that belong to no connection yet. */
export function subquery(): ExpressionBuilder<AnyTables, never> {
  return expressionBuilder<AnyTables, never>();
}

/** Builds sub-selects with common table expressions, which an expression builder cannot. */
export function subqueryWith(): QueryCreator<AnyTables> {
  return new QueryCreator<AnyTables>({ executor: NOOP_QUERY_EXECUTOR });
}
