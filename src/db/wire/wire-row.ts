import { asText, asTime, asUuid, asUuids, type CellFormats } from './cell-formats.ts';
import { timeText } from './time-bytes.ts';
import { uuidText, uuidTexts } from './uuid-bytes.ts';

/**
 * One row as PostgreSQL sent it. A cell stays bytes until its text is requested: most cells are only copied into an
 * answer, and a JavaScript string for each would be most of the garbage of a request.
 */
export class WireRow {
  /** The buffer that holds the row, and other rows. */
  readonly bytes: Buffer;
  /** The formats of its cells; undefined when all are text. */
  formats: CellFormats | undefined;
  /** The end of the cell that `find` has found last. */
  end = 0;
  #first: number;
  /** The cell found last and the position of its length: cells are mostly read in order. */
  #index = 0;
  #at: number;

  /** `start` is the position of the cell count. */
  constructor(bytes: Buffer, start: number, formats?: CellFormats) {
    this.bytes = bytes;
    this.formats = formats;
    this.#first = start + 2;
    this.#at = start + 2;
  }

  /** The position of a cell's first byte, -1 when it is null. Sets `end`. */
  find(index: number): number {
    const { bytes } = this;
    let at = this.#at;
    let next = this.#index;
    if (index < next) {
      at = this.#first;
      next = 0;
    }
    for (; next < index; next += 1) at += 4 + Math.max(bytes.readInt32BE(at), 0);
    this.#index = index;
    this.#at = at;
    const length = bytes.readInt32BE(at);
    if (length < 0) return -1;
    this.end = at + 4 + length;
    return at + 4;
  }

  /** The number in a cell that is neither null nor negative. */
  natural(index: number): number {
    const start = this.find(index);
    let number = 0;
    for (let at = start; at < this.end; at += 1) number = number * 10 + (this.bytes[at] as number) - 0x30;
    return number;
  }

  /** Removes the first `cells`, which are all null. `formats` describes the rest. */
  dropNulls(cells: number, formats: CellFormats | undefined): void {
    this.#first += nullLength * cells;
    this.formats = formats;
    this.#index = 0;
    this.#at = this.#first;
  }

  /** Whether the cell is in text format. */
  isText(index: number): boolean {
    return this.formats === undefined || this.formats[index] === asText;
  }

  /** The cell in PostgreSQL's text format, whatever format it was sent in. */
  text(index: number): string | null {
    const start = this.find(index);
    if (start < 0) return null;
    switch (this.formats?.[index] ?? asText) {
      case asUuid:
        return uuidText(this.bytes, start);
      case asTime:
        return timeText(this.bytes, start);
      case asUuids:
        return `{${uuidTexts(this.bytes, start).join(',')}}`;
      default:
        return this.bytes.toString('utf8', start, this.end);
    }
  }

  /** The position of a UUID's bytes; undefined when the cell is null or text. */
  uuid(index: number): number | undefined {
    const start = this.find(index);
    return start < 0 || this.formats?.[index] !== asUuid ? undefined : start;
  }

  /** All cells as text. */
  get fields(): (string | null)[] {
    const width = this.bytes.readInt16BE(this.#first - 2);
    const texts: (string | null)[] = [];
    for (let index = 0; index < width; index += 1) texts.push(this.text(index));
    return texts;
  }
}

/** A null cell consists of its length alone. */
const nullLength = 4;

/** A row whose cells are read by position. */
export type TextRow = readonly (string | null)[] | WireRow;

export function textAt(row: TextRow, index: number): string | null {
  return row instanceof WireRow ? row.text(index) : (row[index] ?? null);
}

/** The number in a cell that is neither null nor negative. */
export function naturalAt(row: TextRow, index: number): number {
  return row instanceof WireRow ? row.natural(index) : Number(row[index]);
}

export function textsOf(row: TextRow): readonly (string | null)[] {
  return row instanceof WireRow ? row.fields : row;
}
