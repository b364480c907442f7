import { argumentReader } from '../inputs/argument-values.ts';
import { extensionsOf } from '../../schema/builder/output-extensions.ts';
import { usesVariables } from '../compiled/compile/selection.ts';
import { type CostNode, isIncluded, leavesOf, type Occurrence } from './tree.ts';
import { type AnswerCounts, SchemaCount } from './schema-count.ts';
import { connectionValues, plainListCost } from '../limits.ts';

type Variables = Record<string, unknown>;

/** A number, or a function of the variables if it depends on them. */
type Amount = number | ((variables: Variables) => number);

/** The unit of a cost: objects that could be returned, or values that could be written. */
type Unit = keyof AnswerCounts;

/** The inputs of a formula. */
interface FormulaInput {
  readonly variables: Variables;
  readonly unit: Unit;
  readonly schemaCount: SchemaCount;
}

/**
 * The cost of an operation as a function of its variables. Parts that do not depend on variables are added up only once. The
 * formula is valid for all variables for which `@skip` and `@include` select the same fields as for `input.variables`.
 */
export function costFormula(
  tree: readonly CostNode[],
  input: FormulaInput,
): (variables: Variables) => number {
  const cost = sumOf(tree, input, root);
  return (variables) => evaluate(cost, variables);
}

/** The objects that could be returned at one path of an operation. */
interface PathCost {
  readonly field: string;
  readonly objects: number;
  /** The size of the page or list at the path, if its arguments determine one. */
  readonly page: number | undefined;
}

/** The objects that each path adds to the cost of an operation with these variables. */
export function costByPath(
  tree: readonly CostNode[],
  input: Omit<FormulaInput, 'unit'>,
): readonly PathCost[] {
  const { variables } = input;
  const paths: PathCost[] = [];
  const onPath = (field: string, objects: Amount, page: Amount | undefined) => {
    paths.push({ field, objects: evaluate(objects, variables), page: page && evaluate(page, variables) });
  };
  sumOf(tree, { ...input, unit: 'objects', hasFixedVariables: true, onPath }, root);
  return paths;
}

/** The maximum number of rows of each list of a kind. */
export interface MaxRows {
  readonly pages?: number;
  readonly periods?: number;
}

/** The objects that could be returned with these variables if no list had more rows than `maxRows`. */
export function costWithin(
  tree: readonly CostNode[],
  input: Omit<FormulaInput, 'unit'>,
  maxRows: MaxRows,
): number {
  const cost = sumOf(tree, { ...input, unit: 'objects', hasFixedVariables: true, maxRows }, root);
  return evaluate(cost, input.variables);
}

/** The inputs of one calculation of a cost. */
interface Calculation extends FormulaInput {
  /** Set if the amounts are needed only for these `variables`, so that they are numbers. */
  readonly hasFixedVariables?: boolean;
  /** The sizes to which lists are limited in the calculation. */
  readonly maxRows?: MaxRows;
  /** Called with the cost of each path. */
  readonly onPath?: (path: string, objects: Amount, page: Amount | undefined) => void;
}

/** The path of a node, the number of parents that it could have, and the number of rows of each, if known. */
interface CostPath {
  readonly path: string;
  readonly times: Amount;
  readonly rows: Amount | undefined;
}

const root: CostPath = { path: '', times: 1, rows: undefined };

function sumOf(tree: readonly CostNode[], calculation: Calculation, parent: CostPath): Amount {
  return tree.map((node) => costOf(node, calculation, parent)).reduce(plus, 0);
}

/** The cost of a node and everything below it, for one parent. */
function costOf(node: CostNode, calculation: Calculation, parent: CostPath): Amount {
  const { variables, unit, schemaCount, maxRows = {}, onPath } = calculation;
  const { occurrences, isList, below, introspectedSchema } = node;
  const included = occurrences.filter(({ conditions }) => isIncluded(conditions, variables));
  if (included.length === 0) return 0;
  if (introspectedSchema) {
    const nodes = included.map((one) => one.node);
    if (dependsOnVariables(nodes, calculation))
      return (values) => new SchemaCount(values).count(node, introspectedSchema)[unit];
    const counted = schemaCount.count(node, introspectedSchema)[unit];
    onPath?.(node.responseName, counted, undefined);
    return counted;
  }
  const page = maxAmount(included.flatMap((occurrence) => sizeOf(occurrence, calculation)));
  const isPage = page !== undefined && !included.some(hasPeriods);
  const max = isPage ? maxRows.pages : maxRows.periods;
  const rows = page !== undefined && max !== undefined ? combine(page, max, Math.min) : page;
  const perParent = isList ? (rows ?? parent.rows ?? plainListCost) : 1;
  const own = ownCost(node, calculation);
  const path = parent.path === '' ? node.responseName : `${parent.path}.${node.responseName}`;
  const total = times(parent.times, perParent);
  onPath?.(path, times(total, own), isPage ? page : undefined);
  const pathHere = { path, times: total, rows: isList ? undefined : rows };
  const children = sumOf(below, calculation, pathHere);
  // All periods are counted even if they are not selected.
  const countsPeriods = unit === 'objects' && !isList && included.some(hasPeriods);
  return times(perParent, plus(own, countsPeriods ? combine(children, rows ?? 0, Math.max) : children));
}

function dependsOnVariables(
  nodes: Parameters<typeof usesVariables>[0],
  { hasFixedVariables = false }: Calculation,
): boolean {
  return !hasFixedVariables && usesVariables(nodes);
}

function ownCost(node: CostNode, { variables, unit }: Calculation): number {
  if (unit === 'objects') return node.isWrapper ? 0 : 1;
  return leavesOf(node, variables) + (node.isConnection ? connectionValues : 0);
}

function sizeOf(occurrence: Occurrence, calculation: Calculation): Amount[] {
  const rows = rowsOf(occurrence);
  if (!rows) return [];
  if (dependsOnVariables([occurrence.node], calculation)) return [(variables) => rows(variables) ?? 0];
  return [rows(calculation.variables) ?? []].flat();
}

function maxAmount(sizes: readonly Amount[]): Amount | undefined {
  const [first, ...more] = sizes;
  return first === undefined ? undefined : more.reduce((a, b) => combine(a, b, Math.max), first);
}

function plus(one: Amount, other: Amount): Amount {
  return combine(one, other, (a, b) => a + b);
}

function times(one: Amount, other: Amount): Amount {
  return combine(one, other, (a, b) => a * b);
}

function combine(one: Amount, other: Amount, by: (a: number, b: number) => number): Amount {
  if (typeof one === 'number' && typeof other === 'number') return by(one, other);
  return (variables) => by(evaluate(one, variables), evaluate(other, variables));
}

function evaluate(amount: Amount, variables: Variables): number {
  return typeof amount === 'number' ? amount : amount(variables);
}

/** Whether the rows are periods, whose number `first` does not limit. */
function hasPeriods({ field }: Occurrence): boolean {
  return extensionsOf(field).periods === true;
}

/**
 * Returns a function that finds the size of a connection's page, or of a list whose items the arguments name, from the variables; the
 * size may be unknown. Returns undefined for any other field.
 */
export function rowsOf({
  node,
  field,
}: Occurrence): ((variables: Variables) => number | undefined) | undefined {
  const { rows } = extensionsOf(field);
  if (!rows) return undefined;
  const read = argumentReader(field, node);
  return (variables) => rows(read(variables));
}
