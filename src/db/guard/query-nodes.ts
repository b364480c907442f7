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

/** The statements that the tenant guard understands. */
export type Query = SelectQueryNode | InsertQueryNode | UpdateQueryNode | DeleteQueryNode;

/** The table or query behind an alias and parentheses. */
export function tableOf(node: OperationNode | undefined): OperationNode {
  if (!node) return RawNode.createWithSql('');
  if (AliasNode.is(node)) return tableOf(node.node);
  return ParensNode.is(node) ? tableOf(node.node) : node;
}

/** The items of a list node; a node that is none is its own list. */
export function listed(node: OperationNode | undefined): readonly OperationNode[] {
  if (!node) return [];
  return ListNode.is(node) ? node.items : [node];
}

/** Tells the statements that have a scope of their own. */
export function isQuery(node: OperationNode): node is Query {
  return (
    SelectQueryNode.is(node) ||
    InsertQueryNode.is(node) ||
    UpdateQueryNode.is(node) ||
    DeleteQueryNode.is(node)
  );
}

/** Tells nodes from the other values that a node holds. */
export function isNode(value: unknown): value is OperationNode {
  return typeof value === 'object' && value !== null && 'kind' in value;
}

/** Nodes without queries below; those of values may hold thousands, and objects of any shape. */
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
