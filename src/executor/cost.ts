import { AppError } from '../resolvers/errors.ts';
import { type CostNode, type CostSource, costTree } from './cost-tree.ts';
import { costFormula, isIncluded, rowsOf } from './cost-formula.ts';
import { plainListCost } from './limits.ts';
import { perVariant } from './variants.ts';

/** An operation with its coerced variables. */
export interface PricedOperation extends CostSource {
  readonly variables: Record<string, unknown>;
}

/** What an operation costs, by the formula of docs/limits.md. */
export interface OperationCost {
  /** The most objects that could come back. */
  readonly requested: number;
  /** How many did. */
  count(data: unknown): number;
}

/** Prices an operation before it runs; throws `query_too_complex` when it costs more than the limit. */
export function priceOperation(operation: PricedOperation, limit: number): OperationCost {
  const tree = costTree(operation);
  const { variables } = operation;
  const requested = formulaOf(operation)(variables);
  if (requested > limit) refuse(tree, variables, requested, limit);
  return { requested, count: (data) => countBelow(tree, data) };
}

const formulaOf = perVariant((operation: PricedOperation) =>
  costFormula(costTree(operation), operation.variables),
);

/** The same without its formula, read from the whole operation. */
export function costByTree(operation: PricedOperation): number {
  return priceAll(costTree(operation), { variables: operation.variables });
}

interface Pricing {
  readonly variables: Record<string, unknown>;
  /** Pages are priced as if none was larger. */
  readonly pageSize?: number;
  /** Hears how many objects could stand at a path. */
  readonly note?: (path: string, objects: number, page: number | undefined) => void;
}

function priceAll(tree: readonly CostNode[], pricing: Pricing): number {
  return sum(tree, (node) => price(node, pricing, { path: '', times: 1, rows: undefined }));
}

/** Where a node stands: how many parents it could have, and how many rows each has where that is known. */
interface Place {
  readonly path: string;
  readonly times: number;
  readonly rows: number | undefined;
}

function price(node: CostNode, pricing: Pricing, parent: Place): number {
  const alive = node.occurrences.filter((one) => isIncluded(one.conditions, pricing.variables));
  if (alive.length === 0) return 0;
  const sizes = alive.map((one) => rowsOf(one, pricing.variables)).filter((size) => size !== undefined);
  const page = sizes.length > 0 ? Math.max(...sizes) : undefined;
  const rows = page === undefined ? undefined : Math.min(page, pricing.pageSize ?? page);
  const times = parent.times * (node.isList ? (rows ?? parent.rows ?? plainListCost) : 1);
  const path = parent.path === '' ? node.key : `${parent.path}.${node.key}`;
  const own = node.isWrapper ? 0 : times;
  pricing.note?.(path, own, page);
  const place = { path, times, rows: node.isList ? undefined : rows };
  return own + sum(node.below, (below) => price(below, pricing, place));
}

/** The objects of a result below a selection: values of scalars may be objects too, and are none. */
function countBelow(tree: readonly CostNode[], value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  // graphql-js makes data of objects by their response names.
  const parent = value as Record<string, unknown>;
  let objects = 0;
  for (const node of tree) objects += countAt(node, parent[node.key]);
  return objects;
}

function countAt(node: CostNode, value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  if (!Array.isArray(value)) return (node.isWrapper ? 0 : 1) + countBelow(node.below, value);
  let objects = 0;
  for (const one of value) objects += countAt(node, one);
  return objects;
}

function refuse(
  tree: readonly CostNode[],
  variables: Record<string, unknown>,
  requested: number,
  limit: number,
): never {
  const paths: { field: string; objects: number }[] = [];
  let largest = 0;
  const note = (field: string, objects: number, page = 0) => {
    paths.push({ field, objects });
    largest = Math.max(largest, page);
  };
  priceAll(tree, { variables, note });
  const costliest = paths.toSorted((a, b) => b.objects - a.objects).slice(0, 3);
  const fits = (pageSize: number) => priceAll(tree, { variables, pageSize }) <= limit;
  const pageSize = largestThat(fits, largest);
  const advice = pageSize
    ? `With pages of at most ${pageSize} (first: ${pageSize}) it would pass.`
    : 'Smaller pages would not do: ask for less in one operation.';
  throw new AppError(
    'query_too_complex',
    `The operation could return ${inWords(requested)} objects, and one may cost at most ${inWords(limit)}. ${advice}`,
    costliest.map(({ field, objects }) => ({ field, message: `could be ${inWords(objects)} objects` })),
  );
}

/** By halves: what fits a size fits all that are smaller. */
function largestThat(fits: (size: number) => boolean, most: number): number | undefined {
  let least = 0;
  let over = most + 1;
  while (over - least > 1) {
    const middle = Math.floor((least + over) / 2);
    if (fits(middle)) least = middle;
    else over = middle;
  }
  return least > 0 ? least : undefined;
}

function inWords(objects: number): string {
  return objects < 1e15 ? objects.toLocaleString('en') : 'more than 10^15';
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  let total = 0;
  for (const item of items) total += of(item);
  return total;
}
