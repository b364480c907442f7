import type { Comparable, Comparison, Predicate } from '../db/query/conditions/predicate.ts';
import { Slot } from '../db/statements/slots.ts';
import { compareKeys } from './order.ts';

/** Whether a row in memory satisfies a predicate. */
export type RowTest<Row> = (row: Row) => boolean;

/** A value in the form in which it is compared. */
type Key = string | number;

/** A column of rows in memory. */
export interface ComparedColumn<Row> {
  /**
   * Which comparisons give the same result as in SQL: only `equality`; equality and `parts` of texts (`contains`,
   * `startsWith`); or equality and `order`.
   */
  readonly comparisons: 'equality' | 'parts' | 'order';
  read(row: Row): Key | null;
  /** The value of a condition, as `read` returns it; undefined if only SQL can compare it with the column. */
  key(value: Comparable): Key | undefined;
}

/** A condition on rows that the row refers to. */
export type RelatedCondition = Extract<Predicate, { references: unknown } | { through: unknown }>;

/** What a kind of rows in memory has for predicates. Undefined means that only SQL can evaluate the condition. */
export interface RowsInMemory<Row> {
  column(name: string): ComparedColumn<Row> | undefined;
  related(condition: RelatedCondition): RowTest<Row> | undefined;
}

/** Compiles a predicate to a function with the same result as SQL; undefined if only SQL can evaluate it. */
export function rowTest<Row>(predicate: Predicate, rows: RowsInMemory<Row>): RowTest<Row> | undefined {
  if ('all' in predicate) {
    const tests = testsOf(predicate.all, rows);
    if (!tests) return undefined;
    const [first, ...others] = tests;
    if (!first) return () => true;
    return others.length === 0 ? first : (row) => tests.every((test) => test(row));
  }
  if ('any' in predicate) {
    const tests = testsOf(predicate.any, rows);
    return tests && ((row) => tests.some((test) => test(row)));
  }
  if ('not' in predicate) {
    const test = rowTest(predicate.not, rows);
    return test && ((row) => !test(row));
  }
  if ('through' in predicate || 'references' in predicate) return rows.related(predicate);
  // `withKeys` adds `among` for SQL only.
  if ('lineage' in predicate || 'among' in predicate) return undefined;
  const column = rows.column(predicate.column);
  if (!column) return undefined;
  if ('isNull' in predicate) return (row) => (column.read(row) === null) === predicate.isNull;
  if ('in' in predicate) return predicate.in instanceof Slot ? undefined : isOneOf(column, predicate.in);
  return predicate.value instanceof Slot ? undefined : compares(column, predicate.is, predicate.value);
}

function testsOf<Row>(parts: readonly Predicate[], rows: RowsInMemory<Row>): RowTest<Row>[] | undefined {
  const tests: RowTest<Row>[] = [];
  for (const part of parts) {
    const test = rowTest(part, rows);
    if (!test) return undefined;
    tests.push(test);
  }
  return tests;
}

function isOneOf<Row>(column: ComparedColumn<Row>, values: readonly Comparable[]): RowTest<Row> | undefined {
  const keys = new Set<Key>();
  for (const value of values) {
    const key = column.key(value);
    if (key === undefined) return undefined;
    keys.add(key);
  }
  return (row) => {
    const key = column.read(row);
    return key !== null && keys.has(key);
  };
}

function compares<Row>(
  column: ComparedColumn<Row>,
  is: Comparison,
  value: Comparable,
): RowTest<Row> | undefined {
  const sought = column.key(value);
  if (sought === undefined) return undefined;
  if (is === 'eq') return (row) => column.read(row) === sought;
  const isTextComparison = is === 'contains' || is === 'startsWith';
  if (column.comparisons !== (isTextComparison ? 'parts' : 'order')) return undefined;
  return (row) => {
    const key = column.read(row);
    return key !== null && holds(is, key, sought);
  };
}

function holds(is: Exclude<Comparison, 'eq'>, key: Key, sought: Key): boolean {
  switch (is) {
    case 'lt':
      return compareKeys(key, sought) < 0;
    case 'lte':
      return compareKeys(key, sought) <= 0;
    case 'gt':
      return compareKeys(key, sought) > 0;
    case 'gte':
      return compareKeys(key, sought) >= 0;
    case 'contains':
      return String(key).includes(String(sought));
    case 'startsWith':
      return String(key).startsWith(String(sought));
  }
}

/** Converts numbers, times and booleans to numbers, by which they are ordered. */
export function numericKey(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  return value instanceof Date ? value.getTime() : undefined;
}
