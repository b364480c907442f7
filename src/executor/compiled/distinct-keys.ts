import { uuidArray } from '../../db/prepared.ts';
import { WireRow } from '../../db/wire-row.ts';
import { hashOf, isSameKey, keyLength } from '../../reference/key-index.ts';
import type { KeyColumn, Read } from './columns.ts';
import type { Frame, Row } from './frame.ts';

/** The UUIDs in a column of a frame's rows, each once; a row without one has the empty text. */
export interface DistinctKeys {
  readonly count: number;
  /** Which of them each row has. */
  readonly at: Int32Array;
  /** All of them as a statement takes them. */
  readonly array: string;
  readonly texts: readonly string[];
}

export function distinctKeys({ rows }: Frame, { text, place }: KeyColumn): DistinctKeys {
  return (place === undefined ? undefined : ofBytes(rows, place)) ?? ofTexts(rows, text);
}

function ofTexts(rows: readonly Row[], read: Read): DistinctKeys {
  const texts: string[] = [];
  const places = new Map<string, number>();
  const at = new Int32Array(rows.length);
  rows.forEach((row, index) => {
    const text = read(row) ?? '';
    let place = places.get(text);
    if (place === undefined) {
      place = texts.push(text) - 1;
      places.set(text, place);
    }
    at[index] = place;
  });
  return {
    count: texts.length,
    at,
    texts,
    get array() {
      return uuidArray(texts);
    },
  };
}

/** A key and the comma behind it. */
const step = keyLength + 1;
const comma = 0x2c;
/** The keys of the frame that is looked at, and where each is by its hash: its number, from 1. */
let keys = Buffer.allocUnsafeSlow(0);
let slots = new Int32Array(0);

/** The same of rows that are bytes, without a text for each of them; undefined where one is not, or has no key. */
function ofBytes(rows: readonly Row[], place: number): DistinctKeys | undefined {
  if (!(rows[0] instanceof WireRow)) return undefined;
  const mask = makeRoom(rows.length) - 1;
  const at = new Int32Array(rows.length);
  let count = 0;
  for (let index = 0; index < rows.length; index += 1) {
    const row = rows[index];
    if (!(row instanceof WireRow)) return undefined;
    const start = row.find(place);
    if (start < 0 || row.end - start !== keyLength) return undefined;
    let slot = hashOf(row.bytes, start) & mask;
    let known = slots[slot] as number;
    while (known !== 0 && !isSameKey(keys, (known - 1) * step, row.bytes, start)) {
      slot = (slot + 1) & mask;
      known = slots[slot] as number;
    }
    if (known === 0) {
      copyKey(row.bytes, start, count * step);
      count += 1;
      known = count;
      slots[slot] = count;
    }
    at[index] = known - 1;
  }
  const list = keys.toString('latin1', 0, Math.max(count * step - 1, 0));
  return {
    count,
    at,
    array: `{${list}}`,
    get texts() {
      return list === '' ? [] : list.split(',');
    },
  };
}

/** Room for so many keys; says how many slots are empty for them, a power of two. */
function makeRoom(count: number): number {
  const size = 2 ** Math.ceil(Math.log2(Math.max(count, 4) * 2));
  if (keys.length < count * step) keys = Buffer.allocUnsafeSlow(size * step);
  if (slots.length < size) slots = new Int32Array(size);
  else slots.fill(0, 0, size);
  return size;
}

function copyKey(bytes: Uint8Array, start: number, to: number): void {
  for (let place = 0; place < keyLength; place += 1) keys[to + place] = bytes[start + place] as number;
  keys[to + keyLength] = comma;
}
