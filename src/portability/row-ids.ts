import { createHash } from 'node:crypto';
import { newUuid } from '../resolvers/ids.ts';

/** A new row that needs an id. */
export interface NamedRow {
  /** The kind of the row: `issue`, `comment` and so on. */
  readonly kind: string;
  /** The text that identifies the row among the rows of its kind in the file. */
  readonly key: string;
  /** When the row was created. */
  readonly createdUtc: Date;
  /** Its index among rows that may have been created at the same time. */
  readonly index?: number;
}

/** Makes the id of a new row. */
export type NewId = (row: NamedRow) => string;

let lastIdMs = 0;

/** Makes random ids, each greater than all before, so that rows of the same time are in the order of the file. */
export function ascendingIds(): NewId {
  return () => {
    lastIdMs = Math.max(lastIdMs + 1, Date.now());
    return newUuid(lastIdMs);
  };
}

/**
 * Makes UUIDv7s that depend only on the file, so that the same file gives the same ids on every machine. An id contains
 * the creation time of the row and then its index. Rows with the same kind and key are counted to tell them apart.
 */
export function derivedIds(seed: string): NewId {
  const counts = new Map<string, number>();
  return ({ kind, key, createdUtc, index = 0 }) => {
    const name = `${kind} ${key}`;
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    const bytes = createHash('sha256').update(`${seed} ${name} ${count}`).digest().subarray(0, 16);
    bytes.writeUIntBE(Math.max(0, createdUtc.getTime()), 0, 6);
    bytes.writeUInt16BE(0x7000 | (index & 0x0fff), 6);
    bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
    const hex = bytes.toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  };
}
