import { getArgumentValues, Kind } from 'graphql';
import type { RowsOf } from '../schema/builder/plan.ts';
import { usesVariables } from './compiled/selection.ts';
import type { Condition, CostNode, Occurrence } from './cost-tree.ts';
import { plainListCost } from './limits.ts';

type Variables = Record<string, unknown>;

/** What no variable changes, or what the variables tell. */
type Amount = number | ((variables: Variables) => number);

/**
 * The cost of an operation, which its tree adds up to for each request, with all added up beforehand that variables do
 * not change. It holds for variables by which `@skip` and `@include` cut the same.
 */
export function costFormula(
  tree: readonly CostNode[],
  variables: Variables,
): (variables: Variables) => number {
  const cost = sumOf(tree, variables, undefined);
  return (given) => at(cost, given);
}

/** What objects below one parent cost, which has so many rows where that is known. */
function sumOf(tree: readonly CostNode[], variables: Variables, parentRows: Amount | undefined): Amount {
  return tree.map((node) => costOf(node, variables, parentRows)).reduce(plus, 0);
}

function costOf(
  { occurrences, isList, isWrapper, below }: CostNode,
  variables: Variables,
  parentRows: Amount | undefined,
): Amount {
  const alive = occurrences.filter(({ conditions }) => isIncluded(conditions, variables));
  if (alive.length === 0) return 0;
  const rows = largest(alive.flatMap(sizeOf));
  const each = isList ? (rows ?? parentRows ?? plainListCost) : 1;
  return times(each, plus(isWrapper ? 0 : 1, sumOf(below, variables, isList ? undefined : rows)));
}

function sizeOf(occurrence: Occurrence): Amount[] {
  const varies = usesVariables([occurrence.node]);
  if (varies && hasRows(occurrence)) return [(variables) => rowsOf(occurrence, variables) ?? 0];
  return [rowsOf(occurrence, {}) ?? []].flat();
}

function largest(sizes: readonly Amount[]): Amount | undefined {
  const [first, ...more] = sizes;
  return first === undefined ? undefined : more.reduce((a, b) => combined(a, b, Math.max), first);
}

function plus(one: Amount, other: Amount): Amount {
  return combined(one, other, (a, b) => a + b);
}

function times(one: Amount, other: Amount): Amount {
  return combined(one, other, (a, b) => a * b);
}

function combined(one: Amount, other: Amount, by: (a: number, b: number) => number): Amount {
  if (typeof one === 'number' && typeof other === 'number') return by(one, other);
  return (variables) => by(at(one, variables), at(other, variables));
}

function at(amount: Amount, variables: Variables): number {
  return typeof amount === 'number' ? amount : amount(variables);
}

function hasRows({ field }: Occurrence): boolean {
  return 'rows' in field.extensions;
}

/** The size of the page of a connection, or of a list that its arguments spell out; undefined for any other field. */
export function rowsOf({ node, field }: Occurrence, variables: Variables): number | undefined {
  const { rows } = field.extensions as { rows?: RowsOf };
  return rows?.(getArgumentValues(field, node, variables));
}

/** Do `@skip` and `@include` leave it there. */
export function isIncluded(conditions: readonly Condition[], variables: Variables): boolean {
  return conditions.every(({ value, wanted }) => {
    if (value.kind === Kind.VARIABLE) return variables[value.name.value] === wanted;
    return value.kind !== Kind.BOOLEAN || value.value === wanted;
  });
}
