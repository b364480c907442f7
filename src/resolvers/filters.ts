import {
  always,
  type Comparable,
  type Comparison,
  type Predicate,
  type Through,
} from '../db/query/conditions/predicate.ts';
import type { TableName } from '../db/tables/tables.ts';
import type { Violations } from './errors.ts';
import { fold } from '../model/fold.ts';
import { lengthRule, storableRule } from '../model/sentences.ts';
import { isLonger } from '../model/text-rules.ts';
import { TimeBetweenMilliseconds } from '../model/times.ts';
import { decodeId, type IdPrefix } from './ids.ts';
import { asciiUpper } from './keys.ts';
import { limits } from '../model/limits.ts';

/**
 * A field of a filter as declared by its type. The comparators of the input become predicates on it. `stored` converts
 * a value to that of the column.
 */
export type FilterField =
  | { kind: 'id'; column: string; prefix: IdPrefix }
  | { kind: 'text'; column: string; conversion: TextConversion }
  | { kind: 'value'; column: string; stored?: (value: number) => number }
  | { kind: 'reference'; column: string; target: FilterTarget }
  | { kind: 'through'; through: Through; own: string; target: FilterTarget };
export type FilterFields = Readonly<Record<string, FilterField>>;

/** How texts are converted before a column stores them, and so before they are compared with the column. */
export type TextConversion = 'fold' | 'upper' | 'lower';

interface FilterTarget {
  table: TableName;
  by: string;
  where: Predicate;
  filter: () => FilterFields;
}

const maxCombinators = 3;
const maxRelations = 3;

/**
 * The maximum numbers of conditions in a filter, of conditions on related rows, and of values in a list. They are
 * checked before an input is coerced (`executor/inputs/input-size.ts`), since coercing a larger one would take a long time.
 */
export const maxConditions = 100;
export const maxRelatedConditions = 20;
export const maxValues = limits.filterValues;

/** The position of a part of a filter: its path, and how deeply combinators and relations are nested there. */
interface FilterPath {
  path: string;
  combinators: number;
  relations: number;
}

/**
 * Converts a filter input to a predicate. Adds a violation with its path for each invalid value, such as an id of
 * another type. `path` is the name of the argument.
 */
export function filterPredicate(
  fields: FilterFields,
  input: Record<string, unknown>,
  violations: Violations,
  path = 'filter',
): Predicate {
  return partPredicate(fields, input, violations, { path, combinators: 0, relations: 0 });
}

function partPredicate(
  fields: FilterFields,
  input: Record<string, unknown>,
  violations: Violations,
  filterPath: FilterPath,
): Predicate {
  const parts: Predicate[] = [];
  for (const [name, value] of Object.entries(input)) {
    const at = { ...filterPath, path: `${filterPath.path}.${name}` };
    // A field that is null is treated as omitted, and does not filter.
    if (value === null || value === undefined) continue;
    if (name === 'and' || name === 'or' || name === 'not') {
      parts.push(combinedPredicate(fields, name, value, violations, at));
      continue;
    }
    const field = fields[name];
    if (field) parts.push(fieldPredicate(field, asInput(value), violations, at));
  }
  return { all: parts };
}

function combinedPredicate(
  fields: FilterFields,
  combinator: 'and' | 'or' | 'not',
  value: unknown,
  violations: Violations,
  filterPath: FilterPath,
): Predicate {
  if (filterPath.combinators >= maxCombinators) {
    violations.add(filterPath.path, `and, or, not may be nested at most ${maxCombinators} levels deep`);
    return always;
  }
  const nested = { ...filterPath, combinators: filterPath.combinators + 1 };
  if (combinator === 'not') return { not: partPredicate(fields, asInput(value), violations, nested) };
  const parts = (value as unknown[]).map((item, index) =>
    partPredicate(fields, asInput(item), violations, { ...nested, path: `${filterPath.path}[${index}]` }),
  );
  return combinator === 'and' ? { all: parts } : { any: parts };
}

function fieldPredicate(
  field: FilterField,
  input: Record<string, unknown>,
  violations: Violations,
  filterPath: FilterPath,
): Predicate {
  if (field.kind === 'through') return throughPredicate(field, input, violations, filterPath);
  if (field.kind === 'reference') {
    const { target, column } = field;
    const where = relatedPredicate(target, input, violations, filterPath);
    return { column, references: target.table, by: target.by, where };
  }
  const parts: Predicate[] = [];
  for (const [comparator, value] of Object.entries(input)) {
    if (value === null || value === undefined) continue;
    const at = `${filterPath.path}.${comparator}`;
    if (comparator === 'isNull') parts.push({ column: field.column, isNull: Boolean(value) });
    else if (comparator === 'in' || comparator === 'nin') {
      const values = value as Comparable[];
      const list: Predicate = {
        column: field.column,
        in: valueSet(
          values.flatMap((item, index) => comparable(field, item, violations, `${at}[${index}]`) ?? []),
        ),
      };
      parts.push(comparator === 'in' ? list : { not: list });
    } else {
      const compared = comparable(field, value as Comparable, violations, at);
      if (compared === undefined) continue;
      if (comparator === 'neq') parts.push({ not: { column: field.column, is: 'eq', value: compared } });
      else parts.push(comparison(field.column, comparator as Comparison, compared));
    }
  }
  return { all: parts };
}

/**
 * The values of a list that a stored value can be equal to, each once and sorted: the same values in any order are the
 * same filter, so a cursor of one is accepted under the other.
 */
function valueSet(values: readonly Comparable[]): readonly Comparable[] {
  const byKey = new Map<string | number | boolean, Comparable>();
  for (const value of values)
    if (!(value instanceof TimeBetweenMilliseconds))
      byKey.set(value instanceof Date ? value.getTime() : value, value);
  return [...byKey.values()].toSorted((a, b) => (a < b ? -1 : 1));
}

function comparison(column: string, is: Comparison, value: Comparable): Predicate {
  if (!(value instanceof TimeBetweenMilliseconds)) return { column, is, value };
  if (is === 'eq') return { any: [] };
  // What is later than a time between two milliseconds is later than the first of them.
  return { column, is: is === 'gt' || is === 'gte' ? 'gt' : 'lte', value: new Date(value) };
}

function throughPredicate(
  { through, own, target }: FilterField & { kind: 'through' },
  input: Record<string, unknown>,
  violations: Violations,
  filterPath: FilterPath,
): Predicate {
  const parts: Predicate[] = [];
  for (const quantifier of ['some', 'none']) {
    const value = input[quantifier];
    if (value === null || value === undefined) continue;
    const at = { ...filterPath, path: `${filterPath.path}.${quantifier}` };
    const some: Predicate = { through, own, where: relatedPredicate(target, asInput(value), violations, at) };
    parts.push(quantifier === 'some' ? some : { not: some });
  }
  return { all: parts };
}

/** The predicate for related rows. Each level adds a sub-select, so the depth is limited. */
function relatedPredicate(
  target: FilterTarget,
  input: Record<string, unknown>,
  violations: Violations,
  filterPath: FilterPath,
): Predicate {
  if (filterPath.relations >= maxRelations) {
    violations.add(filterPath.path, `relations may be nested at most ${maxRelations} levels deep`);
    return always;
  }
  const nested = { ...filterPath, relations: filterPath.relations + 1 };
  return { all: [target.where, partPredicate(target.filter(), input, violations, nested)] };
}

function comparable(
  field: FilterField,
  value: Comparable,
  violations: Violations,
  path: string,
): Comparable | undefined {
  if (field.kind === 'id') {
    const decoded = decodeId(field.prefix, String(value));
    if ('uuid' in decoded) return decoded.uuid;
    violations.add(path, decoded.problem);
    return undefined;
  }
  if (typeof value === 'number' && field.kind === 'value' && field.stored) return field.stored(value);
  if (typeof value !== 'string') return value;
  if (value.includes('\0') || !value.isWellFormed()) {
    violations.add(path, storableRule);
    return undefined;
  }
  if (isLonger(value, limits.filterText)) {
    violations.add(path, lengthRule(limits.filterText));
    return undefined;
  }
  // A filter with a violation is refused, so its other texts are not folded, which would take longest.
  if (field.kind !== 'text' || violations.any) return value;
  const stored = converted(field.conversion, value);
  if (stored.length <= limits.foldedFilterText) return stored;
  const max = limits.foldedFilterText.toLocaleString('en');
  violations.add(path, `must have at most ${max} characters when its ligatures are written out`);
  return undefined;
}

/** The text as a column with this conversion stores it, so that neither case nor accents of a filter matter. */
function converted(conversion: TextConversion, text: string): string {
  const folded = fold(text);
  return conversion === 'upper' ? asciiUpper(folded) : folded;
}

function asInput(value: unknown): Record<string, unknown> {
  return value as Record<string, unknown>;
}
