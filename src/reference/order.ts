import { decodeText } from '../db/wire/decoded-types.ts';
import type { Order, OrderKind } from '../db/query/walks/walk.ts';
import type { CachedRow, CachedTable } from './cached-table.ts';

/** The OID of `timestamptz`. */
const timestamptzType = 1184;

/** The key by which a column's text is compared, so that rows in memory have the same order as in SQL. */
export function orderKey(kind: OrderKind, text: string): string | number {
  if (kind === 'int') return Number(text);
  return kind === 'time' ? (decodeText(timestamptzType, text) as Date).getTime() : text;
}

/** Negative when `a` comes first. Texts are compared by code points, as in the collation "C". */
export function compareKeys(a: string | number, b: string | number): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b);
  return Number(a) - Number(b);
}

/** Compares rows of a table. Nulls come last in both directions. The id breaks ties, in the same direction. */
export function comparison(table: CachedTable, order: Order): (a: CachedRow, b: CachedRow) => number {
  const position = table.columnIndex(order.column);
  const id = table.columnIndex('id');
  const sign = order.direction === 'asc' ? 1 : -1;
  return (a, b) => {
    const [left, right] = [a[position] ?? null, b[position] ?? null];
    if (left === null || right === null) {
      if (left !== right) return left === null ? 1 : -1;
    } else {
      const compared = compareKeys(orderKey(order.kind, left), orderKey(order.kind, right));
      if (compared !== 0) return sign * compared;
    }
    return sign * compareText(a[id] ?? '', b[id] ?? '');
  };
}

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at += 1) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return codePointOrder(left) - codePointOrder(right);
  }
  return a.length - b.length;
}

/** Surrogates encode code points that are higher than those of all other code units. */
function codePointOrder(unit: number): number {
  return unit >= 0xd800 && unit < 0xe000 ? unit + 0x10000 : unit;
}
