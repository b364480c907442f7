import { type CodeTable, codeTables } from '../../src/model/codes.ts';
import { encodeId, type IdPrefix } from '../../src/resolvers/ids.ts';

/** The name that the graph shows for a code. */
export function codeName(table: CodeTable, code: number): string {
  const found = Object.entries(codeTables[table]).find(([, value]) => value === code);
  if (!found) throw new Error(`${table} has no code ${code}.`);
  return found[0].toUpperCase();
}

/** The position of a name in its code table, by which lists of states and roles are ordered. */
export function codeIndex(table: CodeTable, name: unknown): number {
  return Object.keys(codeTables[table]).findIndex((each) => each.toUpperCase() === name);
}

export function idOf(prefix: IdPrefix, uuid: string): string;
export function idOf(prefix: IdPrefix, uuid: string | null): string | null;
/** The id for a nullable column. */
export function idOf(prefix: IdPrefix, uuid: string | null): string | null {
  return uuid === null ? null : encodeId(prefix, uuid);
}

export function utc(date: Date): string;
export function utc(date: Date | null): string | null;
/** A time in the format of the graph. */
export function utc(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}

type Key = string | number | null | undefined;

/** Compares by several keys: numbers by value, texts by code point like the collation "C". */
export function compareBy<T>(...keys: ((each: T) => Key)[]): (a: T, b: T) => number {
  return (a, b) => {
    for (const key of keys) {
      const order = compare(key(a), key(b));
      if (order !== 0) return order;
    }
    return 0;
  };
}

function compare(a: Key, b: Key): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}
