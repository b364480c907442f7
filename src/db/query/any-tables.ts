import { expressionBuilder, type ExpressionBuilder, type Kysely } from 'kysely';
import type { Tables } from '../tables/tables.ts';

/**
 * Tables whose names come as data. The declarations in `src/schema` check table and column names when they are
 * compiled; what interprets them sees only strings.
 */
export type AnyTables = Record<string, Record<string, unknown>>;
export type AnyRow = Record<string, unknown>;

export function untyped(db: Kysely<Tables>): Kysely<AnyTables> {
  return db as unknown as Kysely<AnyTables>;
}

/** Builds sub-selects that belong to no connection yet. */
export function subquery(): ExpressionBuilder<AnyTables, never> {
  return expressionBuilder<AnyTables, never>();
}
