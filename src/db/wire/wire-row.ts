import { asText, asTime, asUuid, asUuids, type CellFormats } from './cell-formats.ts';
import { timeText } from './time-bytes.ts';
import { uuidText, uuidTexts } from './uuid-bytes.ts';

/**
 * One row as PostgreSQL sent it. Its cells stay the bytes that they are until somebody wants a text: most are only
 * copied into an answer, and a text of JavaScript for each of them would be most of what the garbage collector gets.
 */
export class WireRow {
  /** What the row stands in, other rows beside it. */
  readonly bytes: Buffer;
  /** How its cells stand in it; undefined where all are texts. */
  readonly formats: CellFormats | undefined;
  /** Where the cell ends that was found last. */
  end = 0;
  readonly #first: number;
  /** The cell that was found last, and where its length stands: cells are asked for in about their order. */
  #place = 0;
  #at: number;

  /** `start` is where the number of its cells stands. */
  constructor(bytes: Buffer, start: number, formats?: CellFormats) {
    this.bytes = bytes;
    this.formats = formats;
    this.#first = start + 2;
    this.#at = start + 2;
  }

  /** Where the cell begins, -1 where it is null; `end` is then where it ends. */
  find(place: number): number {
    const { bytes } = this;
    let at = this.#at;
    let next = this.#place;
    if (place < next) {
      at = this.#first;
      next = 0;
    }
    for (; next < place; next += 1) at += 4 + Math.max(bytes.readInt32BE(at), 0);
    this.#place = place;
    this.#at = at;
    const length = bytes.readInt32BE(at);
    if (length < 0) return -1;
    this.end = at + 4 + length;
    return at + 4;
  }

  /** The number in a cell that is never null nor below zero. */
  natural(place: number): number {
    const start = this.find(place);
    let number = 0;
    for (let at = start; at < this.end; at += 1) number = number * 10 + (this.bytes[at] as number) - 0x30;
    return number;
  }

  /** The same row without its first cells, all of which are null; `formats` are those of the others. */
  behindNulls(cells: number, formats: CellFormats | undefined): WireRow {
    return new WireRow(this.bytes, this.#first - 2 + nullLength * cells, formats);
  }

  /** Does the cell stand in it as PostgreSQL writes it for people. */
  isText(place: number): boolean {
    return this.formats === undefined || this.formats[place] === asText;
  }

  /** What PostgreSQL would write, however the cell came. */
  text(place: number): string | null {
    const start = this.find(place);
    if (start < 0) return null;
    switch (this.formats?.[place] ?? asText) {
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

  /** Where the bytes of a UUID begin in a cell; undefined where it is null or came as a text. */
  uuid(place: number): number | undefined {
    const start = this.find(place);
    return start < 0 || this.formats?.[place] !== asUuid ? undefined : start;
  }

  /** The texts of all cells. */
  get fields(): (string | null)[] {
    const width = this.bytes.readInt16BE(this.#first - 2);
    const texts: (string | null)[] = [];
    for (let place = 0; place < width; place += 1) texts.push(this.text(place));
    return texts;
  }
}

/** A cell that is null is a length alone. */
const nullLength = 4;

/** A row of texts, by the place of the column. */
export type TextRow = readonly (string | null)[] | WireRow;

export function textAt(row: TextRow, place: number): string | null {
  return row instanceof WireRow ? row.text(place) : (row[place] ?? null);
}

/** The number that a cell holds which is never null nor below zero. */
export function naturalAt(row: TextRow, place: number): number {
  return row instanceof WireRow ? row.natural(place) : Number(row[place]);
}

export function textsOf(row: TextRow): readonly (string | null)[] {
  return row instanceof WireRow ? row.fields : row;
}
