import { hash } from 'node:crypto';
import { tryParseJson } from '../model/json.ts';
import type { Order, OrderKind, Position } from '../db/query/walks/walk.ts';
import type { Predicate } from '../db/query/conditions/predicate.ts';
import type { AnyRow } from '../db/query/any-tables.ts';
import type { TableName } from '../db/tables/tables.ts';
import { maxInt32 } from '../model/int32.ts';
import { isUuid } from './ids.ts';

/**
 * The fingerprint that binds a cursor to the table, the order and the filters of a list, but not to its parent. A
 * cursor of a different list is refused, because its position would be meaningless.
 */
export function listFingerprint(table: TableName, order: Order, filter: Predicate): string {
  const list = JSON.stringify([table, order.column, order.direction, filter]);
  return hash('sha256', list, 'base64url').slice(0, 8);
}

export function encodeCursor(row: AnyRow, order: Order, fingerprint: string): string {
  const value = row[order.column];
  return cursorAt(value instanceof Date ? value.toISOString() : value, row.id, fingerprint);
}

/** The cursor of the row with this id and this value in the column of the order. A time is an ISO text. */
export function cursorAt(value: unknown, id: unknown, fingerprint: string): string {
  return Buffer.from(JSON.stringify([fingerprint, value, id])).toString('base64url');
}

/** The position of a cursor; undefined if the cursor is invalid or belongs to a different list. */
export function decodeCursor(cursor: string, order: Order, fingerprint: string): Position | undefined {
  const parts = tryParseJson(Buffer.from(cursor, 'base64url').toString());
  if (!Array.isArray(parts) || parts.length !== 3) return undefined;
  const [encodedFingerprint, value, id]: unknown[] = parts;
  if (encodedFingerprint !== fingerprint || !isUuid(id)) return undefined;
  // The decoder skips characters that are not of base64url, and JSON has several spellings of one value.
  if (cursorAt(value, id, encodedFingerprint) !== cursor) return undefined;
  if (value === null) return order.nullable ? { value, id } : undefined;
  if (typeof value !== 'string' && typeof value !== 'number') return undefined;
  return isValueOf[order.kind](value) ? { value, id } : undefined;
}

// The value must be valid for the column's type, so that a forged cursor is an invalid request and not an internal
// error.
const isValueOf: Record<OrderKind, (value: string | number) => boolean> = {
  int: (value) => Number.isInteger(value) && Math.abs(Number(value)) <= maxInt32,
  text: (value) => typeof value === 'string' && value.isWellFormed() && !value.includes('\0'),
  time: (value) => typeof value === 'string' && isTime(value),
  date: (value) =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value) && isTime(`${value}T00:00:00.000Z`),
};

/** Whether a text is a time in the form of `encodeCursor`, in a year that PostgreSQL can parse: 1 to 9999. */
function isTime(text: string): boolean {
  const time = new Date(text);
  return (
    /^\d{4}-/.test(text) &&
    !text.startsWith('0000') &&
    !Number.isNaN(time.getTime()) &&
    time.toISOString() === text
  );
}
