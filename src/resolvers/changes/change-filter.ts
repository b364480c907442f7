import { Slot } from '../../db/statements/slots.ts';
import type { Comparable, Comparison, Predicate } from '../../db/query/conditions/predicate.ts';
import type { ChangeRow } from '../../db/reads/change-pages.ts';

export type ChangeTest = (change: ChangeRow) => boolean;

/**
 * Compiles a filter of changes to a function with the same result as SQL; undefined if only SQL can evaluate the
 * filter.
 */
export function changeTest(predicate: Predicate): ChangeTest | undefined {
  if ('all' in predicate) {
    const tests = testsOf(predicate.all);
    return tests && ((change) => tests.every((test) => test(change)));
  }
  if ('any' in predicate) {
    const tests = testsOf(predicate.any);
    return tests && ((change) => tests.some((test) => test(change)));
  }
  if ('not' in predicate) {
    const test = changeTest(predicate.not);
    return test && ((change) => !test(change));
  }
  if ('through' in predicate || 'lineage' in predicate) return undefined;
  const read = readerOf(predicate.column);
  if (!read) return undefined;
  if ('isNull' in predicate) return (change) => (read(change) === null) === predicate.isNull;
  if ('references' in predicate || 'among' in predicate) return undefined;
  if ('in' in predicate) {
    if (predicate.in instanceof Slot) return undefined;
    const wanted = new Set(predicate.in.map(comparable));
    return (change) => {
      const value = read(change);
      return value !== null && wanted.has(value);
    };
  }
  if (predicate.value instanceof Slot) return undefined;
  const { is } = predicate;
  const sought = comparable(predicate.value);
  return (change) => {
    const value = read(change);
    return value !== null && holds(is, value, sought);
  };
}

function testsOf(parts: readonly Predicate[]): ChangeTest[] | undefined {
  const tests = parts.map(changeTest);
  return tests.every((test) => test !== undefined) ? tests : undefined;
}

/** The columns that a filter of changes reads. Their texts are ordered byte by byte. */
const columns = ['eventType', 'issueId', 'teamId', 'actorUserAccountId', 'origin', 'occurredUtc'] as const;

function readerOf(name: string): ((change: ChangeRow) => string | number | null) | undefined {
  const column = columns.find((known) => known === name);
  return (
    column &&
    ((change) => {
      const value = change[column];
      return value === null ? null : comparable(value);
    })
  );
}

/**
 * A value that JavaScript compares in the same way as SQL: a time becomes a number, and ids are in lower case already.
 */
function comparable(value: Comparable): string | number {
  if (value instanceof Date) return value.getTime();
  return typeof value === 'string' ? value : Number(value);
}

function holds(is: Comparison, value: string | number, sought: string | number): boolean {
  switch (is) {
    case 'eq':
      return value === sought;
    case 'lt':
      return value < sought;
    case 'lte':
      return value <= sought;
    case 'gt':
      return value > sought;
    case 'gte':
      return value >= sought;
    case 'contains':
      return String(value).includes(String(sought));
    case 'startsWith':
      return String(value).startsWith(String(sought));
  }
}
