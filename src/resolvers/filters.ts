import type { Comparable, Comparison, Predicate, Through } from '../db/predicate.ts';
import type { TableName } from '../db/tables.ts';
import type { Violations } from './errors.ts';
import { fold } from './fold.ts';
import { decodeId, type IdPrefix } from './ids.ts';

/** What a filter's field tests, as the types declare it: the comparators of the input object become predicates on it. */
export type FilterField =
  | { kind: 'id'; column: string; prefix: IdPrefix }
  | { kind: 'text'; column: string; form: TextForm }
  | { kind: 'value'; column: string }
  | { kind: 'reference'; column: string; target: FilterTarget }
  | { kind: 'through'; through: Through; own: string; target: FilterTarget };
export type FilterFields = Readonly<Record<string, FilterField>>;

/** How a text is brought to the form that its column keeps. */
export type TextForm = 'fold' | 'upper' | 'lower';

interface FilterTarget {
  table: TableName;
  by: string;
  where: Predicate;
  filter: () => FilterFields;
}

const maxDepth = 3;
const maxValues = 250;

/** The predicate of a filter input. What cannot be meant (an id of another kind) is noted, each under its path. */
export function filterPredicate(
  fields: FilterFields,
  input: Record<string, unknown>,
  violations: Violations,
  path = 'filter',
  depth = 0,
): Predicate {
  const parts: Predicate[] = [];
  for (const [name, value] of Object.entries(input)) {
    const at = `${path}.${name}`;
    // An omitted filter filters nothing, and null is an omitted one.
    if (value === null || value === undefined) continue;
    if (name === 'and' || name === 'or' || name === 'not') {
      if (depth >= maxDepth) {
        violations.add(at, `and, or, not may be nested ${maxDepth} deep at most`);
        continue;
      }
      const nested = (name === 'not' ? [value] : (value as unknown[])).map((each, index) =>
        filterPredicate(
          fields,
          asInput(each),
          violations,
          name === 'not' ? at : `${at}[${index}]`,
          depth + 1,
        ),
      );
      parts.push(
        name === 'and' ? { all: nested } : name === 'or' ? { any: nested } : { not: { all: nested } },
      );
      continue;
    }
    const field = fields[name];
    if (field) parts.push(fieldPredicate(field, asInput(value), violations, at, depth));
  }
  return { all: parts };
}

function fieldPredicate(
  field: FilterField,
  input: Record<string, unknown>,
  violations: Violations,
  path: string,
  depth: number,
): Predicate {
  if (field.kind === 'through') return throughPredicate(field, input, violations, path, depth);
  if (field.kind === 'reference') {
    const { target, column } = field;
    const where = { all: [target.where, filterPredicate(target.filter(), input, violations, path, depth)] };
    return { column, references: target.table, by: target.by, where };
  }
  const parts: Predicate[] = [];
  for (const [comparator, value] of Object.entries(input)) {
    if (value === null || value === undefined) continue;
    const at = `${path}.${comparator}`;
    if (comparator === 'isNull') parts.push({ column: field.column, isNull: Boolean(value) });
    else if (comparator === 'in' || comparator === 'nin') {
      const values = value as Comparable[];
      violations.that(values.length <= maxValues, at, `takes ${maxValues} values at most`);
      const list: Predicate = {
        column: field.column,
        in: values.flatMap((each, index) => comparable(field, each, violations, `${at}[${index}]`) ?? []),
      };
      parts.push(comparator === 'in' ? list : { not: list });
    } else {
      const compared = comparable(field, value as Comparable, violations, at);
      if (compared === undefined) continue;
      if (comparator === 'neq') parts.push({ not: { column: field.column, is: 'eq', value: compared } });
      else parts.push({ column: field.column, is: comparator as Comparison, value: compared });
    }
  }
  return { all: parts };
}

function throughPredicate(
  { through, own, target }: FilterField & { kind: 'through' },
  input: Record<string, unknown>,
  violations: Violations,
  path: string,
  depth: number,
): Predicate {
  const parts: Predicate[] = [];
  for (const quantifier of ['some', 'none']) {
    const value = input[quantifier];
    if (value === null || value === undefined) continue;
    const nested = filterPredicate(
      target.filter(),
      asInput(value),
      violations,
      `${path}.${quantifier}`,
      depth,
    );
    const some: Predicate = { through, own, where: { all: [target.where, nested] } };
    parts.push(quantifier === 'some' ? some : { not: some });
  }
  return { all: parts };
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
  if (typeof value !== 'string') return value;
  if (value.includes('\0') || !value.isWellFormed()) {
    violations.add(path, 'must not contain NUL or half a surrogate pair');
    return undefined;
  }
  return field.kind === 'text' ? inForm(field.form, value) : value;
}

function inForm(form: TextForm, text: string): string {
  if (form === 'fold') return fold(text);
  return form === 'upper' ? text.toUpperCase() : text.toLowerCase();
}

function asInput(value: unknown): Record<string, unknown> {
  return value as Record<string, unknown>;
}
