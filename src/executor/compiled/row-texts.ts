import type { Frame, Row } from './frame.ts';
import type { JsonWriter } from './json-writer.ts';
import { WireRow } from '../../db/wire/wire-row.ts';

/** Bytes of remembered texts over all plans, with what it takes to keep one; beyond, all are forgotten. */
const maxBytes = 16_000_000;
const cachedBytes = 200;
const placeBytes = 8;
let bytes = 0;
let generation = 0;

/** Texts of the rows of one table, by their places there. */
type Texts = (Uint8Array | undefined)[];

/**
 * The JSON of one selection on rows that are cached in memory: such a row never changes, so neither does what it is
 * written as. It is known by the row, or by the row's place where the frame is all of a cached table: most are.
 */
export class RowTexts {
  #generation = generation;
  #byRow = new WeakMap<Row, Uint8Array>();
  #byTable = new WeakMap<readonly Row[], Texts>();
  /** The table that was asked for last, which is the one that is asked for next. */
  #table: readonly Row[] | undefined;
  #texts: Texts = [];

  /** Writes a row, which takes a copy of its JSON where it was written before and is cached. */
  write(
    out: JsonWriter,
    frame: Frame,
    row: number,
    write: (out: JsonWriter, frame: Frame, row: number) => void,
  ): void {
    if (!frame.isTable && frame.rows[row] instanceof WireRow) return write(out, frame, row);
    const known = this.#get(frame, row);
    if (known) return out.bytes(known);
    const start = out.length;
    write(out, frame, row);
    this.#set(frame, row, out.since(start));
  }

  #get({ rows, isTable }: Frame, at: number): Uint8Array | undefined {
    if (this.#generation !== generation) this.#forget();
    if (!isTable) return this.#byRow.get(rows[at] as Row);
    if (this.#table !== rows) this.#turnTo(rows);
    return this.#texts[at];
  }

  #set({ rows, isTable }: Frame, at: number, text: Uint8Array): void {
    count(text.length + cachedBytes);
    if (isTable) this.#texts[at] = text;
    else this.#byRow.set(rows[at] as Row, text);
  }

  #turnTo(rows: readonly Row[]): void {
    let texts = this.#byTable.get(rows);
    if (!texts) {
      texts = Array.from<Uint8Array | undefined>({ length: rows.length });
      count(rows.length * placeBytes);
      this.#byTable.set(rows, texts);
    }
    this.#table = rows;
    this.#texts = texts;
  }

  #forget(): void {
    this.#generation = generation;
    this.#byRow = new WeakMap();
    this.#byTable = new WeakMap();
    this.#table = undefined;
  }
}

function count(more: number): void {
  bytes += more;
  if (bytes <= maxBytes) return;
  bytes = 0;
  generation += 1;
}
