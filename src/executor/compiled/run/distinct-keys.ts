import { uuidArray } from '../../../db/statements/uuid-array.ts';
import { UuidArray, uuidHash, uuidTexts } from '../../../db/wire/uuid-bytes.ts';
import { WireRow } from '../../../db/wire/wire-row.ts';
import type { KeyColumn, ReadText } from '../compile/columns.ts';
import type { Frame, Row } from './frame.ts';

/** The distinct UUIDs in a column of a frame's rows; null counts as the empty text. */
export interface DistinctKeys {
  readonly count: number;
  /** The index of each row's key among them. */
  readonly keyIndexes: Int32Array;
  /** The keys as an array for a statement. */
  readonly array: string | Buffer;
  readonly texts: readonly string[];
}

// These are classes because V8 gives each object literal with an accessor a hidden class of its own, which is slow and stays in memory
// until a full garbage collection.

class TextKeys implements DistinctKeys {
  readonly count: number;
  readonly keyIndexes: Int32Array;
  readonly texts: readonly string[];

  constructor(at: Int32Array, texts: readonly string[]) {
    this.count = texts.length;
    this.keyIndexes = at;
    this.texts = texts;
  }

  get array(): string | Buffer {
    return uuidArray(this.texts);
  }
}

class BinaryKeys implements DistinctKeys {
  readonly count: number;
  readonly keyIndexes: Int32Array;
  readonly array: Buffer;

  constructor(at: Int32Array, array: Buffer, count: number) {
    this.count = count;
    this.keyIndexes = at;
    this.array = array;
  }

  get texts(): readonly string[] {
    return uuidTexts(this.array, 0);
  }
}

export function distinctKeys({ rows }: Frame, { text, index }: KeyColumn): DistinctKeys {
  return (index === undefined ? undefined : ofBytes(rows, index)) ?? ofTexts(rows, text);
}

function ofTexts(rows: readonly Row[], read: ReadText): DistinctKeys {
  const texts: string[] = [];
  const known = new Map<string, number>();
  const at = new Int32Array(rows.length);
  rows.forEach((row, index) => {
    const text = read(row) ?? '';
    let key = known.get(text);
    if (key === undefined) {
      key = texts.push(text) - 1;
      known.set(text, key);
    }
    at[index] = key;
  });
  return new TextKeys(at, texts);
}

/** The keys of the frame that is being read, and a hash table of their numbers, which begin with 1. */
const keys = new UuidArray();
let slots = new Int32Array(0);

/** Finds the keys in the bytes of the rows, without texts; undefined if a row is not bytes or has no key. */
function ofBytes(rows: readonly Row[], column: number): DistinctKeys | undefined {
  if (!(rows[0] instanceof WireRow)) return undefined;
  const mask = makeRoom(rows.length) - 1;
  const at = new Int32Array(rows.length);
  for (let index = 0; index < rows.length; index += 1) {
    const row = rows[index];
    const start = row instanceof WireRow ? row.uuid(column) : undefined;
    if (start === undefined) return undefined;
    const { bytes } = row as WireRow;
    let slot = uuidHash(bytes, start) & mask;
    let known = slots[slot] as number;
    while (known !== 0 && !keys.itemEquals(known - 1, bytes, start)) {
      slot = (slot + 1) & mask;
      known = slots[slot] as number;
    }
    if (known === 0) {
      keys.add(bytes, start);
      known = keys.count;
      slots[slot] = known;
    }
    at[index] = known - 1;
  }
  return new BinaryKeys(at, keys.toBuffer(), keys.count);
}

/** Makes room for the keys; returns the size of the empty hash table, a power of two. */
function makeRoom(count: number): number {
  const size = 2 ** Math.ceil(Math.log2(Math.max(count, 4) * 2));
  keys.begin(count);
  if (slots.length < size) slots = new Int32Array(size);
  else slots.fill(0, 0, size);
  return size;
}
