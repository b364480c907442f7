import type { ListOrder } from '../db/query/pages/plain-lists.ts';
import { eachUuid, uuidText } from '../db/wire/uuid-bytes.ts';
import type { CachedRow, CachedTable } from './cached-table.ts';

/** The columns of the join table by which a list is ordered. */
export function linkColumns(orderBy: readonly ListOrder[]): string[] {
  return orderBy.flatMap(({ column, of }) => (of === 'link' ? [column] : []));
}

/** The length of a UUID as text. */
const keyLength = 36;
/** The order of a group with one item. */
const onlyItem: readonly number[] = [0];

/** Collects the cached rows that belong to each parent, one parent after the other, in the order of the list. */
export class GroupedRows {
  /** The rows of all parents so far. The rows of one parent are a group. */
  readonly rows: CachedRow[] = [];
  readonly #table: CachedTable;
  readonly #by: string;
  readonly #test: (row: CachedRow) => boolean;
  readonly #missing: (key: string) => void;
  /** The values by which the items of a group are ordered, the most significant first. */
  readonly #orders: readonly ((item: number) => number)[];
  /** The current group: the positions of its rows in the table, and `#width` numbers of the join table for each row. */
  readonly #positions: number[] = [];
  readonly #links: number[] = [];
  /** The items of a group in the order of the list. */
  readonly #order: number[] = [];
  readonly #width: number;

  /**
   * Rows are found by a column. `test` decides which are included; `missing` is called with keys that the table lacks.
   */
  constructor(
    table: CachedTable,
    { by, orderBy }: { by: string; orderBy: readonly ListOrder[] },
    test: (row: CachedRow) => boolean,
    missing: (key: string) => void,
  ) {
    this.#table = table;
    this.#by = by;
    this.#test = test;
    this.#missing = missing;
    const links = linkColumns(orderBy);
    this.#width = links.length;
    this.#orders = orderBy.map(({ column, of }) => {
      if (of === 'link') {
        const position = links.indexOf(column);
        return (item) => this.#links[item * this.#width + position] ?? 0;
      }
      const ranks = table.ranks(column);
      return (item) => ranks[this.#positions[item] ?? 0] ?? 0;
    });
  }

  /** Adds one row to the group, by its key, with the values of the join table that order the list. */
  add(key: string, link: readonly (string | null)[]): void {
    const position = this.#table.index(this.#by).ofText(key);
    if (position < 0) return this.#missing(key);
    this.#positions.push(position);
    for (const text of link) this.#links.push(Number(text));
  }

  /** Adds all rows of the group, by an array with the bytes of their keys. */
  addUuids(bytes: Buffer, start: number): void {
    const index = this.#table.index(this.#by);
    eachUuid(bytes, start, (at) => {
      const position = index.ofBytes(bytes, at);
      if (position < 0) this.#missing(uuidText(bytes, at));
      else this.#positions.push(position);
    });
  }

  /** Adds all rows of the group, by an array in text format: `{key,key}`. */
  addArray(bytes: Buffer, start: number, end: number): void {
    const index = this.#table.index(this.#by);
    for (let at = start + 1; at + keyLength < end; at += keyLength + 1) {
      const key = bytes.toString('latin1', at, at + keyLength);
      const position = index.ofText(key);
      if (position < 0) this.#missing(key);
      else this.#positions.push(position);
    }
  }

  /** Ends the group. Returns the index in `rows` at which the next group begins. */
  end(): number {
    const { rows } = this.#table;
    const positions = this.#positions;
    const order = positions.length > 1 ? this.#sort() : onlyItem;
    for (let nth = 0; nth < positions.length; nth += 1) {
      const row = rows[positions[order[nth] as number] as number] as CachedRow;
      if (this.#test(row)) this.rows.push(row);
    }
    positions.length = 0;
    this.#links.length = 0;
    return this.rows.length;
  }

  /** An insertion sort, because groups are small. */
  #sort(): readonly number[] {
    const order = this.#order;
    order.length = 0;
    for (let item = 0; item < this.#positions.length; item += 1) {
      let at = item;
      for (; at > 0 && this.#isBefore(item, order[at - 1] as number); at -= 1)
        order[at] = order[at - 1] as number;
      order[at] = item;
    }
    return order;
  }

  #isBefore(a: number, b: number): boolean {
    for (const order of this.#orders) {
      const compared = order(a) - order(b);
      if (compared !== 0) return compared < 0;
    }
    return false;
  }
}
