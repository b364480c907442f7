import type { CoercedOperation } from '../../src/executor/selections/operation.ts';
import { rowsOf } from '../../src/executor/cost/formula.ts';
import { type CostNode, costTree, isIncluded } from '../../src/executor/cost/tree.ts';
import { SchemaCount } from '../../src/executor/cost/schema-count.ts';
import { extensionsOf } from '../../src/schema/builder/output-extensions.ts';
import { plainListCost } from '../../src/executor/limits.ts';

/** Computes the cost of an operation from its tree by the rules of docs/limits.md, to check the formula against. */
export function costByTree(operation: CoercedOperation): number {
  const { variables } = operation;
  const schemaCount = new SchemaCount(variables);
  const price = (node: CostNode, times: number, parentRows: number | undefined): number => {
    const alive = node.occurrences.filter((one) => isIncluded(one.conditions, variables));
    if (alive.length === 0) return 0;
    if (node.introspectedSchema) return schemaCount.count(node, node.introspectedSchema).objects;
    const sizes = alive.map((one) => rowsOf(one)?.(variables)).filter((size) => size !== undefined);
    const rows = sizes.length > 0 ? Math.max(...sizes) : undefined;
    const own = times * (node.isList ? (rows ?? parentRows ?? plainListCost) : 1);
    const below = priceAll(node.below, own, node.isList ? undefined : rows);
    const countsPeriods = !node.isList && alive.some(({ field }) => extensionsOf(field).periods);
    return (node.isWrapper ? 0 : own) + (countsPeriods ? Math.max(below, own * (rows ?? 0)) : below);
  };
  const priceAll = (tree: readonly CostNode[], times: number, rows: number | undefined): number => {
    let total = 0;
    for (const node of tree) total += price(node, times, rows);
    return total;
  };
  return priceAll(costTree(operation), 1, undefined);
}
