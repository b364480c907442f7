import {
  AliasNode,
  BinaryOperationNode,
  CastNode,
  InsertQueryNode,
  type OperationNode,
  ReferenceNode,
  SelectQueryNode,
  ValueNode,
  ValuesNode,
} from 'kysely';
import { isNode } from '../../../src/db/guard/query-nodes.ts';
import { isWorkspaceId } from './scopes.ts';

/** The values in a statement that workspaceId is compared with or that an insert writes into it. */
export function workspacesIn(nodes: readonly OperationNode[]): ReadonlySet<unknown> {
  const found = new Set<unknown>();
  const add = (node: OperationNode | undefined) => {
    const value = node && valueOf(node);
    if (value) found.add(value.value);
  };
  for (const node of nodes) {
    if (BinaryOperationNode.is(node)) {
      if (isWorkspaceId(columnOf(node.leftOperand))) add(node.rightOperand);
      if (isWorkspaceId(columnOf(node.rightOperand))) add(node.leftOperand);
    } else if (InsertQueryNode.is(node)) {
      for (const value of insertedBy(node)) {
        if (isNode(value)) add(value);
        else found.add(value);
      }
    }
  }
  return found;
}

function insertedBy({ columns = [], values }: InsertQueryNode): readonly unknown[] {
  const index = columns.findIndex(isWorkspaceId);
  if (index < 0 || !values) return [];
  if (ValuesNode.is(values)) return values.values.map(({ values: row }) => row[index]);
  return SelectQueryNode.is(values) ? [values.selections?.[index]?.selection] : [];
}

export function columnOf(node: OperationNode): OperationNode {
  return ReferenceNode.is(node) ? node.column : node;
}

/** The value itself, or the value in a cast or behind an alias. */
export function valueOf(node: OperationNode): ValueNode | undefined {
  if (ValueNode.is(node)) return node;
  if (CastNode.is(node)) return valueOf(node.expression);
  return AliasNode.is(node) ? valueOf(node.node) : undefined;
}
