import { createHash } from 'node:crypto';
import { newUuid } from '../resolvers/ids.ts';

/** A new row that needs an id. */
export interface NamedRow {
  /** What it is: `issue`, `comment` and so on. */
  readonly kind: string;
  /** What names it among its kind in the file. */
  readonly key: string;
  /** When it was made. */
  readonly madeUtc: Date;
  /** Its place among rows that may have been made at the same time. */
  readonly place?: number;
}

/** Gives a new row its id. */
export type NewId = (row: NamedRow) => string;

let lastIdMs = 0;

/** Gives random ids, each later than all that were given before: things of the same time keep the order of the file. */
export function freshIds(): NewId {
  return () => {
    lastIdMs = Math.max(lastIdMs + 1, Date.now());
    return newUuid(lastIdMs);
  };
}

/**
 * Gives UUIDv7s that follow from the file alone, so that the same file gives the same ids on every machine. Their time
 * is when the row was made, then comes its place. Rows of the same name are counted.
 */
export function derivedIds(seed: string): NewId {
  const counts = new Map<string, number>();
  return ({ kind, key, madeUtc, place = 0 }) => {
    const name = `${kind} ${key}`;
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    const bytes = createHash('sha256').update(`${seed} ${name} ${count}`).digest().subarray(0, 16);
    bytes.writeUIntBE(Math.max(0, madeUtc.getTime()), 0, 6);
    bytes.writeUInt16BE(0x7000 | (place & 0x0fff), 6);
    bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
    const hex = bytes.toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  };
}
