import type { OperationNode } from 'kysely';
import { isLeaf, isNode } from '../../../src/db/guard/query-nodes.ts';

/** All nodes at and below a value of a statement, in the order of its text. What is below leaves is left out. */
export function nodesIn(root: unknown): readonly OperationNode[] {
  const nodes: OperationNode[] = [];
  collect(root, nodes);
  return nodes;
}

function collect(value: unknown, nodes: OperationNode[]): void {
  if (Array.isArray(value)) for (const item of value) collect(item, nodes);
  else if (isNode(value)) {
    nodes.push(value);
    if (!isLeaf(value)) for (const child of Object.values(value)) collect(child, nodes);
  }
}
