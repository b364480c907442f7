import type { TableName, Row } from '../../db/tables/tables.ts';
import type { Entity } from './entity.ts';
import type { TextColumn } from './fields.ts';
import type { ReferencePlan, ReferencePlans } from './plan.ts';

export type AnyReferences<Parent> = Record<string, { key: TextColumn<Parent> }>;

/** A row that a computed field reads: it is found by a key of the parent, and may refer to further rows (`nested`). */
export interface ReferenceDeclaration<
  Key extends string,
  Name extends TableName,
  Column extends keyof Row<Name>,
  Nested,
> {
  entity: Entity<Name>;
  key: Key;
  by: 'id' | 'userAccountId';
  columns: readonly Column[];
  nested: Nested;
}
/** The type of the rows that are passed to a computed field. */
export type ReferredRows<R> = {
  [K in keyof R]: R[K] extends ReferenceDeclaration<string, infer Name, infer Column, infer Nested>
    ? (Pick<Row<Name>, Column> & ReferredRows<Nested>) | undefined
    : never;
};

/**
 * Declares a row that a computed field reads: `via(Team, 'teamId', ['code'])`. `nested` declares rows that it refers
 * to.
 */
export function via<
  Name extends TableName,
  Key extends string,
  Column extends keyof Row<Name>,
  Nested extends AnyReferences<Row<Name>> = Record<never, never>,
>(
  entity: Entity<Name>,
  key: Key,
  columns: readonly Column[],
  { by = 'id', nested }: { by?: 'id' | 'userAccountId'; nested?: Nested } = {},
): ReferenceDeclaration<Key, Name, Column, Nested> {
  return { entity, key, by, columns, nested: nested ?? ({} as Nested) };
}

export type ReferenceDeclarations = Record<string, ReferenceDeclaration<string, TableName, never, unknown>>;

export function referencePlan(
  entity: Entity<TableName>,
  key: string,
  by: string,
  where = entity.where,
): ReferencePlan {
  return { table: entity.options.table, key, by, where };
}

export function referencePlans(declarations: ReferenceDeclarations): ReferencePlans {
  return Object.fromEntries(
    Object.entries(declarations).map(([name, { entity, key, by, columns, nested }]) => [
      name,
      { ...referencePlan(entity, key, by), columns, nested: referencePlans(nested as ReferenceDeclarations) },
    ]),
  );
}
