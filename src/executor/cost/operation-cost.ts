import { type CostNode, costTree } from './tree.ts';
import { costByPath, costFormula, costWithin, type MaxRows } from './formula.ts';
import { SchemaCount } from './schema-count.ts';
import { maxSchemaValues, valuesPerObject } from '../limits.ts';
import { tooComplex } from '../answers/too-complex.ts';
import type { CoercedOperation } from '../selections/operation.ts';
import { perVariant } from '../selections/variants.ts';

/** The cost of an operation, by the formula in docs/limits.md. */
export interface OperationCost {
  /** The maximum number of objects that could be returned. */
  readonly requested: number;
  /** The maximum number of values that could be written. */
  readonly values: number;
  /** Whether the operation reads anything but the schema. */
  readonly readsData: boolean;
  /** Counts the objects that were returned. */
  count(data: unknown): number;
}

/** Prices an operation before it runs; throws `query_too_complex` when the cost is over the limit. */
export function priceOperation(operation: CoercedOperation, limit: number): OperationCost {
  const tree = costTree(operation);
  const { variables } = operation;
  const { objects, values } = formulasOf(operation);
  const requested = objects(variables);
  if (requested > limit) refuse(tree, variables, requested, limit);
  const written = values(variables);
  const reads = readsData(tree);
  // graphql-js writes the answers about the schema, in one turn of the event loop.
  refuseValues(written, Math.min(limit * valuesPerObject, reads ? Infinity : maxSchemaValues));
  return { requested, values: written, readsData: reads, count: (data) => countBelow(tree, data) };
}

function readsData(tree: readonly CostNode[]): boolean {
  return tree.some(({ occurrences }) => occurrences.some(({ node }) => !node.name.value.startsWith('__')));
}

const formulasOf = perVariant((operation: CoercedOperation) => {
  const tree = costTree(operation);
  const { variables } = operation;
  const schemaCount = new SchemaCount(variables);
  return {
    objects: costFormula(tree, { variables, schemaCount, unit: 'objects' }),
    values: costFormula(tree, { variables, schemaCount, unit: 'values' }),
  };
});

/** The objects of a result below a selection. A scalar whose value is a JSON object does not count. */
function countBelow(tree: readonly CostNode[], value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  // graphql-js makes data of objects by their response names.
  const parent = value as Record<string, unknown>;
  let objects = 0;
  for (const node of tree) objects += countAt(node, parent[node.responseName]);
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
  const input = { variables, schemaCount: new SchemaCount(variables) };
  const paths = costByPath(tree, input);
  const costliest = paths.toSorted((a, b) => b.objects - a.objects).slice(0, 3);
  const largestPage = paths.reduce((max, { page = 0 }) => Math.max(max, page), 0);
  const advice = adviceFor(largestPage, (maxRows) => costWithin(tree, input, maxRows) <= limit);
  tooComplex(
    `The operation could return ${formattedCount(requested)} objects, and one may cost at most ${formattedCount(limit)}. ${advice}`,
    costliest.map(({ field, objects }) => ({
      field,
      message: `could be ${formattedCount(objects)} objects`,
    })),
  );
}

function adviceFor(largestPage: number, fits: (maxRows: MaxRows) => boolean): string {
  const pageSize = maxFitting((pages) => fits({ pages }), largestPage);
  if (pageSize) return `With pages of at most ${pageSize} it would pass.`;
  return fits({ periods: 1 })
    ? 'With fewer groups, fewer days or longer periods it would pass.'
    : 'Smaller pages would not suffice: ask for less in one operation.';
}

function refuseValues(values: number, max: number): void {
  if (values <= max) return;
  tooComplex(
    `The operation could write ${formattedCount(values)} values, and one may write at most ${formattedCount(max)}: ask for fewer rows, or for fewer fields of each.`,
  );
}

/** A binary search: a limit that holds for a size holds for all smaller ones. */
function maxFitting(fits: (size: number) => boolean, max: number): number | undefined {
  let fitting = 0;
  let over = max + 1;
  while (over - fitting > 1) {
    const middle = Math.floor((fitting + over) / 2);
    if (fits(middle)) fitting = middle;
    else over = middle;
  }
  return fitting > 0 ? fitting : undefined;
}

/** A number of objects, as messages show it. */
function formattedCount(objects: number): string {
  if (objects === Infinity) return 'countless';
  return objects < 1e15 ? objects.toLocaleString('en') : 'more than 10^15';
}
