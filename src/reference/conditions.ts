import { decodeText } from '../db/wire/decoded-types.ts';
import type { Comparable, Comparison, Predicate } from '../db/query/conditions/predicate.ts';
import { Slot } from '../db/statements/slots.ts';
import { uuidArrayBytes } from '../db/wire/uuid-bytes.ts';
import { compareKeys } from './order.ts';
import type { CachedRow, CachedTable } from './cached-table.ts';
import type { Snapshot } from './snapshot.ts';

export type Test = (row: CachedRow) => boolean;

const uuidType = 2950;
const textType = 25;
const dateType = 1082;

/**
 * The predicate as a function of a cached row, which returns whether SQL would find the row. Undefined when only SQL
 * can decide: for other tables, and for the order of texts, which depends on their collation.
 */
export function testOf(predicate: Predicate, table: CachedTable, snapshot: Snapshot): Test | undefined {
  if ('all' in predicate) {
    const tests = testsOf(predicate.all, table, snapshot);
    if (!tests) return undefined;
    const [first, ...others] = tests;
    if (!first) return () => true;
    return others.length === 0 ? first : (row) => tests.every((test) => test(row));
  }
  if ('any' in predicate) {
    const tests = testsOf(predicate.any, table, snapshot);
    return tests && ((row) => tests.some((test) => test(row)));
  }
  if ('not' in predicate) {
    const test = testOf(predicate.not, table, snapshot);
    return test && ((row) => !test(row));
  }
  if ('through' in predicate) return throughTest(predicate, table, snapshot);
  if ('lineage' in predicate) return undefined;
  const position = table.columnIndex(predicate.column);
  if (position < 0) return undefined;
  if ('isNull' in predicate) return (row) => ((row[position] ?? null) === null) === predicate.isNull;
  if ('references' in predicate) {
    const keys = keysWhere(predicate, snapshot);
    return keys && ((row) => keys.has(row[position] ?? ''));
  }
  // `withKeys` adds this kind of predicate for SQL only.
  if ('among' in predicate) return undefined;
  if ('in' in predicate) {
    if (predicate.in instanceof Slot) return undefined;
    const texts = textsIn(table.types[position] ?? 0, predicate.in);
    if (texts) return (row) => texts.has(row[position] ?? null);
    const tests = predicate.in.map((value) => comparisonTest(table, position, 'eq', value));
    return tests.every((test) => test !== undefined) ? (row) => tests.some((test) => test(row)) : undefined;
  }
  return predicate.value instanceof Slot
    ? undefined
    : comparisonTest(table, position, predicate.is, predicate.value);
}

/** The values as PostgreSQL writes them in a column of this type; undefined when they cannot be compared as texts. */
function textsIn(type: number, values: readonly Comparable[]): ReadonlySet<string | null> | undefined {
  if (!isTextual(type) || !values.every((value) => typeof value === 'string')) return undefined;
  return new Set(type === uuidType ? values.map((value) => value.toLowerCase()) : values);
}

/** In larger tables SQL finds rows faster. */
const mostRows = 1_000;
/** With more keys than this, PostgreSQL does not use an index. */
const fewKeys = 8;

/**
 * Replaces conditions on cached rows by the keys of the rows that satisfy them, so that SQL need not find those rows.
 * Returns the same object if there are no such conditions. Many keys are not used in conditions on related rows: there
 * PostgreSQL itself decides better whether to begin with the other table.
 */
export function withKeys(predicate: Predicate, snapshot: Snapshot, many = true): Predicate {
  const partsOf = (parts: readonly Predicate[]) => {
    const replaced = parts.map((part) => withKeys(part, snapshot, many));
    return replaced.every((part, index) => part === parts[index]) ? undefined : replaced;
  };
  if ('all' in predicate) {
    const all = partsOf(predicate.all);
    return all ? { all } : predicate;
  }
  if ('any' in predicate) {
    const any = partsOf(predicate.any);
    return any ? { any } : predicate;
  }
  if ('not' in predicate) {
    const not = withKeys(predicate.not, snapshot, many);
    return not === predicate.not ? predicate : { not };
  }
  if (!('where' in predicate)) return predicate;
  if ('references' in predicate) {
    const keys = amongKeys(predicate, snapshot, many);
    // An index whose next column is that of the order helps only for one key.
    const [only, ...others] = keys?.keys ?? [];
    if (keys && only !== undefined && others.length === 0)
      return { column: predicate.column, is: 'eq', value: only };
    if (keys) return { column: predicate.column, among: uuidArrayBytes(keys.keys), many: keys.many };
  } else {
    const { child: column, target: references, by } = predicate.through;
    const keys = amongKeys({ references, by, where: predicate.where }, snapshot, false);
    if (keys) {
      const where = { column, among: uuidArrayBytes(keys.keys), many: keys.many };
      return { ...predicate, where };
    }
  }
  const where = withKeys(predicate.where, snapshot, false);
  return where === predicate.where ? predicate : { ...predicate, where };
}

function amongKeys(
  target: { references: string; by: string; where: Predicate },
  snapshot: Snapshot,
  takesMany: boolean,
): { keys: ReadonlySet<string>; many: boolean } | undefined {
  const table = snapshot.table(target.references);
  if (!table || table.rows.length > mostRows || table.types[table.columnIndex(target.by)] !== uuidType)
    return undefined;
  const keys = keysWhere(target, snapshot);
  if (!keys) return undefined;
  const many = keys.size > fewKeys;
  return many && !takesMany ? undefined : { keys, many };
}

function testsOf(parts: readonly Predicate[], table: CachedTable, snapshot: Snapshot): Test[] | undefined {
  const tests: Test[] = [];
  for (const part of parts) {
    const test = testOf(part, table, snapshot);
    if (!test) return undefined;
    tests.push(test);
  }
  return tests;
}

function throughTest(
  { through, own, where }: Extract<Predicate, { through: unknown }>,
  table: CachedTable,
  snapshot: Snapshot,
): Test | undefined {
  const link = snapshot.table(through.table);
  const targets = keysWhere({ references: through.target, by: through.by, where }, snapshot);
  const position = table.columnIndex(own);
  if (!link || !targets || position < 0) return undefined;
  const child = link.columnIndex(through.child);
  return (row) =>
    link.by(through.parent, row[position] ?? '').some((joined) => targets.has(joined[child] ?? ''));
}

/** The values of a column in the cached rows that satisfy the predicate. */
function keysWhere(
  { references, by, where }: { references: string; by: string; where: Predicate },
  snapshot: Snapshot,
): ReadonlySet<string> | undefined {
  const target = snapshot.table(references);
  const test = target && testOf(where, target, snapshot);
  if (!target || !test) return undefined;
  const position = target.columnIndex(by);
  return new Set(target.rows.filter(test).map((row) => row[position] ?? ''));
}

function comparisonTest(
  table: CachedTable,
  position: number,
  is: Comparison,
  value: Comparable,
): Test | undefined {
  const type = table.types[position] ?? 0;
  if (is === 'contains' || is === 'startsWith') {
    if (type !== textType) return undefined;
    const sought = String(value);
    return (row) => {
      const text = row[position] ?? null;
      return text !== null && (is === 'contains' ? text.includes(sought) : text.startsWith(sought));
    };
  }
  if (isTextual(type)) {
    if (typeof value !== 'string' || (is !== 'eq' && type !== dateType)) return undefined;
    const sought = type === uuidType ? value.toLowerCase() : value;
    return (row) => {
      const text = row[position] ?? null;
      return text !== null && holds(is, compareKeys(text, sought));
    };
  }
  const sought = comparable(value);
  if (sought === undefined) return undefined;
  return (row) => {
    const key = comparable(decodeText(type, row[position] ?? null));
    return key !== undefined && holds(is, key - sought);
  };
}

/** Whether texts of the column are compared byte by byte. */
function isTextual(type: number): boolean {
  return type === textType || type === uuidType || type === dateType;
}

/** Converts numbers, times and booleans to numbers, by which they are ordered. */
function comparable(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value === 'boolean') return Number(value);
  return value instanceof Date ? value.getTime() : undefined;
}

function holds(is: Exclude<Comparison, 'contains' | 'startsWith'>, compared: number): boolean {
  switch (is) {
    case 'eq':
      return compared === 0;
    case 'lt':
      return compared < 0;
    case 'lte':
      return compared <= 0;
    case 'gt':
      return compared > 0;
    case 'gte':
      return compared >= 0;
  }
}
