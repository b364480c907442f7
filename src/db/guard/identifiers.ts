import { ColumnNode, IdentifierNode, RawNode, TableNode } from 'kysely';
import type { OperationNode } from 'kysely';

/** The unqualified name in the node of a table, a column or an alias; '' for any other node. */
export function identifierOf(node: OperationNode): string {
  if (TableNode.is(node)) return node.table.identifier.name;
  if (ColumnNode.is(node)) return node.column.name;
  if (IdentifierNode.is(node)) return node.name;
  // An alias with columns, such as `unnest(…) as change(id, name)`.
  if (RawNode.is(node)) return /^\s*"?([\w$]+)/.exec(node.sqlFragments[0] ?? '')?.[1] ?? '';
  return '';
}
