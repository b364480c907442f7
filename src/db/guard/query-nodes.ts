import {
  AliasNode,
  ColumnNode,
  DeleteQueryNode,
  IdentifierNode,
  InsertQueryNode,
  ListNode,
  ParensNode,
  PrimitiveValueListNode,
  RawNode,
  ReferenceNode,
  SelectQueryNode,
  TableNode,
  UpdateQueryNode,
  ValueNode,
} from 'kysely';
import type { OperationNode } from 'kysely';

/** The statements that the tenant plugin can bind. */
export type Query = SelectQueryNode | InsertQueryNode | UpdateQueryNode | DeleteQueryNode;

/** The table or query behind an alias and parentheses. */
export function tableOf(node: OperationNode | undefined): OperationNode {
  if (!node) return RawNode.createWithSql('');
  if (AliasNode.is(node)) return tableOf(node.node);
  return ParensNode.is(node) ? tableOf(node.node) : node;
}

/** The items of a list node, or any other node as a list of one. */
export function itemsOf(node: OperationNode | undefined): readonly OperationNode[] {
  if (!node) return [];
  return ListNode.is(node) ? node.items : [node];
}

/** Whether a node is a statement with a scope of its own. */
export function isQuery(node: OperationNode): node is Query {
  return (
    SelectQueryNode.is(node) ||
    InsertQueryNode.is(node) ||
    UpdateQueryNode.is(node) ||
    DeleteQueryNode.is(node)
  );
}

/** Whether a value in a node is itself a node. */
export function isNode(value: unknown): value is OperationNode {
  return typeof value === 'object' && value !== null && 'kind' in value;
}

/**
 * Whether a node cannot contain queries. Such nodes are not searched, since they may hold thousands of values and any
 * objects.
 */
export function isLeaf(node: OperationNode): boolean {
  return (
    ValueNode.is(node) ||
    PrimitiveValueListNode.is(node) ||
    ReferenceNode.is(node) ||
    ColumnNode.is(node) ||
    IdentifierNode.is(node) ||
    TableNode.is(node)
  );
}
