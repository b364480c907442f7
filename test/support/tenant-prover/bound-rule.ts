import type { RootOperationNode } from 'kysely';
import { globalTables } from '../../../src/db/tables/tenant-tables.ts';
import { settle } from './binding-graph.ts';
import { fold } from './names.ts';
import { readStatement } from './statement-reader.ts';

/** A reference to a tenant table that a statement does not bind. */
export interface Unbound {
  readonly table: string;
  readonly message: string;
}

/** The tables without a workspace. Every other name is the name of a tenant table. */
export const globals: ReadonlySet<string> = new Set([...Object.keys(globalTables), 'migration'].map(fold));

/**
 * Finds the references to tenant tables whose rows may belong to more than one workspace.
 *
 * A condition binds a reference when it is and-ed at the top of the `where`, or of an `on` that filters the reference:
 * `workspaceId = <value>`, or `workspaceId = workspaceId` of another bound reference of this query, of a surrounding
 * one, or of a subquery or CTE that returns a bound workspaceId. An insert needs workspaceId among its columns, with a
 * value or a bound reference in each row. Nothing is bound by a condition in an `or` or a `not`, by the `on` of an outer
 * join for the side that the join keeps, or by raw SQL. Raw SQL must not name a tenant table.
 */
export function unboundIn(node: RootOperationNode): readonly Unbound[] {
  const { axiom, demands } = readStatement(node, globals);
  settle(axiom);
  return demands.filter(({ fact }) => !fact.known).map(({ table, remedy }) => ({ table, message: remedy() }));
}
