import {
  type Expression,
  expressionBuilder,
  type ExpressionBuilder,
  type Kysely,
  NOOP_QUERY_EXECUTOR,
  QueryCreator,
} from 'kysely';
import type { TenantDb } from '../tables/tenant-tables.ts';

/**
 * Tables whose names are data. The compiler checks the names of tables and columns in the declarations of `src/schema`;
 * the code that interprets the declarations sees only strings.
 */
export type AnyTables = Record<string, Record<string, unknown>>;
export type AnyRow = Record<string, unknown>;

export function untyped(db: TenantDb): Kysely<AnyTables> {
  return db as unknown as Kysely<AnyTables>;
}

/**
 * Builds parts of a statement that refer to other parts of it. The handle of the whole statement binds them to the
 * workspace.
 */
export function untypedParts(db: TenantDb): Kysely<AnyTables> {
  return db.withoutPlugins() as unknown as Kysely<AnyTables>;
}

/**
 * A handle for a statement that begins with a part of this name. It is untyped, because the part's columns are data.
 */
export function withPart(db: TenantDb, name: string, part: Expression<unknown>): Kysely<AnyTables> {
  return untyped(db).with(name, () => part as Expression<AnyRow>) as unknown as Kysely<AnyTables>;
}

/** Builds sub-selects, independently of a database handle. */
export function subquery(): ExpressionBuilder<AnyTables, never> {
  return expressionBuilder<AnyTables, never>();
}

/** Builds sub-selects with common table expressions, which an expression builder cannot do. */
export function subqueryWith(): QueryCreator<AnyTables> {
  return new QueryCreator<AnyTables>({ executor: NOOP_QUERY_EXECUTOR });
}
