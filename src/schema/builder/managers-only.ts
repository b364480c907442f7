import { getNamedType, type GraphQLField, type GraphQLNamedType } from 'graphql';
import type { TableName } from '../../db/tables/tables.ts';
import { extensionsOf } from './output-extensions.ts';
import { tablesOf } from './plan.ts';

/** The restriction of what only owners and admins may read, whatever scopes the token has. */
export interface ManagersOnly {
  /** What a refusal says that others may not read: `the audit log`. */
  readonly managersOnly: string;
}

const byType = new Map<string, ManagersOnly>();
const byTable = new Map<TableName, ManagersOnly>();

/** Restricts the fields of these types, and all fields that read the table, to owners and admins. */
export function restrictToManagers(
  typeNames: readonly string[],
  table: TableName,
  restriction: ManagersOnly,
): void {
  for (const name of typeNames) byType.set(name, restriction);
  byTable.set(table, restriction);
}

/**
 * The restriction of a field that belongs to a restricted type, returns one, or reads the table of one: to count the rows, to list one
 * of their columns, or to compute with them.
 */
export function managersOnlyOf(
  field: Pick<GraphQLField<unknown, unknown>, 'extensions' | 'type'>,
  parent: GraphQLNamedType,
): ManagersOnly | undefined {
  const { plan } = extensionsOf(field);
  const read = plan ? tablesOf(plan).flatMap((table) => byTable.get(table) ?? []) : [];
  return byType.get(parent.name) ?? byType.get(getNamedType(field.type).name) ?? read[0];
}
