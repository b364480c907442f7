import { ColumnNode, IdentifierNode, RawNode, TableNode } from 'kysely';
import type { OperationNode } from 'kysely';

/** The bare name in a node that names a table, a column or an alias; '' where there is none. */
export function identifierOf(node: OperationNode): string {
  if (TableNode.is(node)) return node.table.identifier.name;
  if (ColumnNode.is(node)) return node.column.name;
  if (IdentifierNode.is(node)) return node.name;
  // An alias with columns: unnest(…) as given(id, name).
  if (RawNode.is(node)) return /^\s*"?([\w$]+)/.exec(node.sqlFragments[0] ?? '')?.[1] ?? '';
  return '';
}

/** One spelling for a name in camelCase and in snake_case: a nested query was renamed before its outer one. */
export function fold(name: string): string {
  return (name.includes('_') ? name.replaceAll('_', '') : name).toLowerCase();
}
