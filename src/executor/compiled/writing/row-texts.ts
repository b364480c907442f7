import type { Frame, Row } from '../run/frame.ts';
import type { JsonWriter } from './json-writer.ts';
import { WireRow } from '../../../db/wire/wire-row.ts';

/**
 * The maximum number of bytes of cached JSON of all plans, including the overhead of each text. Above it, all of them are
 * dropped.
 */
const maxBytes = 16_000_000;
const overheadBytes = 200;
const entryBytes = 8;
let bytes = 0;
let generation = 0;

/** The JSON of the rows of one table, by their indexes. */
type Texts = (Uint8Array | undefined)[];

/**
 * Caches the JSON of one selection on cached rows, which never change. If the frame has a whole cached table, as most have, a
 * text is found by the index of the row, otherwise by the row.
 */
export class RowTexts {
  #generation = generation;
  #byRow = new WeakMap<Row, Uint8Array>();
  #byTable = new WeakMap<readonly Row[], Texts>();
  /** The table of the last lookup, which the next one most likely uses as well. */
  #table: readonly Row[] | undefined;
  #texts: Texts = [];

  /** Writes a row: from the cache, or with `write`, whose JSON is cached unless a statement read the row. */
  write(
    out: JsonWriter,
    frame: Frame,
    row: number,
    write: (out: JsonWriter, frame: Frame, row: number) => void,
  ): void {
    if (!frame.isWholeTable && frame.rows[row] instanceof WireRow) return write(out, frame, row);
    const known = this.#get(frame, row);
    if (known) return out.bytes(known);
    const start = out.length;
    write(out, frame, row);
    this.#set(frame, row, out.since(start));
  }

  #get({ rows, isWholeTable }: Frame, at: number): Uint8Array | undefined {
    if (this.#generation !== generation) this.#forget();
    if (!isWholeTable) return this.#byRow.get(rows[at] as Row);
    if (this.#table !== rows) this.#useTable(rows);
    return this.#texts[at];
  }

  #set({ rows, isWholeTable }: Frame, at: number, text: Uint8Array): void {
    count(text.length + overheadBytes);
    if (isWholeTable) this.#texts[at] = text;
    else this.#byRow.set(rows[at] as Row, text);
  }

  #useTable(rows: readonly Row[]): void {
    let texts = this.#byTable.get(rows);
    if (!texts) {
      texts = Array.from<Uint8Array | undefined>({ length: rows.length });
      count(rows.length * entryBytes);
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
