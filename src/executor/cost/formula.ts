import { argumentReader } from '../inputs/argument-values.ts';
import { extensionsOf } from '../../schema/builder/output-extensions.ts';
import { usesVariables } from '../compiled/compile/selection.ts';
import { type CostNode, isIncluded, leavesOf, type Occurrence } from './tree.ts';
import { type Amounts, SchemaCount } from './schema-count.ts';
import { connectionValues, plainListCost } from '../limits.ts';

type Variables = Record<string, unknown>;

/** A number, or a function of the variables if it depends on them. */
type Amount = number | ((variables: Variables) => number);

/** What a formula adds up: the objects that could be returned, or the values that could be written. */
type Unit = keyof Amounts;

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
  return (variables) => at(cost, variables);
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
  const note = (field: string, objects: Amount, page: Amount | undefined) => {
    paths.push({ field, objects: at(objects, variables), page: page && at(page, variables) });
  };
  sumOf(tree, { ...input, unit: 'objects', isBound: true, note }, root);
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
  const cost = sumOf(tree, { ...input, unit: 'objects', isBound: true, maxRows }, root);
  return at(cost, input.variables);
}

interface Rule extends FormulaInput {
  /** Set if the amounts are needed only for these `variables`, so that they are numbers. */
  readonly isBound?: boolean;
  /** The sizes to which lists are limited in the calculation. */
  readonly maxRows?: MaxRows;
  readonly note?: (path: string, objects: Amount, page: Amount | undefined) => void;
}

/** The path of a node, the number of parents that it could have, and the number of rows of each, if known. */
interface CostPath {
  readonly path: string;
  readonly times: Amount;
  readonly rows: Amount | undefined;
}

const root: CostPath = { path: '', times: 1, rows: undefined };

function sumOf(tree: readonly CostNode[], rule: Rule, parent: CostPath): Amount {
  return tree.map((node) => costOf(node, rule, parent)).reduce(plus, 0);
}

/** The cost of a node and everything below it, for one parent. */
function costOf(node: CostNode, rule: Rule, parent: CostPath): Amount {
  const { variables, unit, schemaCount, maxRows = {}, note } = rule;
  const { occurrences, isList, below, describes } = node;
  const alive = occurrences.filter(({ conditions }) => isIncluded(conditions, variables));
  if (alive.length === 0) return 0;
  if (describes) {
    const nodes = alive.map((one) => one.node);
    if (varies(nodes, rule)) return (values) => new SchemaCount(values).of(node, describes)[unit];
    const counted = schemaCount.of(node, describes)[unit];
    note?.(node.key, counted, undefined);
    return counted;
  }
  const page = maxAmount(alive.flatMap((occurrence) => sizeOf(occurrence, rule)));
  const isPage = page !== undefined && !alive.some(hasPeriods);
  const max = isPage ? maxRows.pages : maxRows.periods;
  const rows = page !== undefined && max !== undefined ? combine(page, max, Math.min) : page;
  const each = isList ? (rows ?? parent.rows ?? plainListCost) : 1;
  const own = ownOf(node, rule);
  const path = parent.path === '' ? node.key : `${parent.path}.${node.key}`;
  const all = times(parent.times, each);
  note?.(path, times(all, own), isPage ? page : undefined);
  const here = { path, times: all, rows: isList ? undefined : rows };
  const children = sumOf(below, rule, here);
  // All periods are counted even if they are not selected.
  const countsPeriods = unit === 'objects' && !isList && alive.some(hasPeriods);
  return times(each, plus(own, countsPeriods ? combine(children, rows ?? 0, Math.max) : children));
}

function varies(nodes: Parameters<typeof usesVariables>[0], { isBound = false }: Rule): boolean {
  return !isBound && usesVariables(nodes);
}

function ownOf(node: CostNode, { variables, unit }: Rule): number {
  if (unit === 'objects') return node.isWrapper ? 0 : 1;
  return leavesOf(node, variables) + (node.isConnection ? connectionValues : 0);
}

function sizeOf(occurrence: Occurrence, rule: Rule): Amount[] {
  const rows = rowsOf(occurrence);
  if (!rows) return [];
  if (varies([occurrence.node], rule)) return [(variables) => rows(variables) ?? 0];
  return [rows(rule.variables) ?? []].flat();
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
  return (variables) => by(at(one, variables), at(other, variables));
}

function at(amount: Amount, variables: Variables): number {
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
