import type { Order } from '../db/page.ts';
import { type KeptTableName, keptTables } from '../db/kept-tables.ts';
import type { ReferenceRows } from '../db/reference-reads.ts';
import { comparison } from './order.ts';

/** A row as PostgreSQL wrote it; the same object as long as the row is the same. */
export type KeptRow = readonly (string | null)[];

const noRows: readonly KeptRow[] = [];

/** The rows of one table of a workspace at one version. It never changes; what is looked up by is made when first asked. */
export class KeptTable {
  readonly name: KeptTableName;
  readonly rows: readonly KeptRow[];
  readonly types: readonly number[];
  readonly #byColumn = new Map<string, ReadonlyMap<string, readonly KeptRow[]>>();
  readonly #places = new Map<string, ReadonlyMap<string, number>>();
  readonly #sorted = new Map<string, readonly KeptRow[]>();

  constructor(name: KeptTableName, rows: readonly KeptRow[], types: readonly number[]) {
    this.name = name;
    this.rows = rows;
    this.types = types;
  }

  /** Where the column stands in each row; -1 when it is not kept. */
  place(column: string): number {
    return keptTables[this.name].columns.indexOf(column);
  }

  /** The rows that hold this text in the column. */
  by(column: string, text: string): readonly KeptRow[] {
    return this.grouped(column).get(text) ?? noRows;
  }

  grouped(column: string): ReadonlyMap<string, readonly KeptRow[]> {
    let groups = this.#byColumn.get(column);
    if (!groups) {
      const place = this.place(column);
      groups = Map.groupBy(
        this.rows.filter((row) => (row[place] ?? null) !== null),
        (row) => row[place] as string,
      );
      this.#byColumn.set(column, groups);
    }
    return groups;
  }

  /** Where the row stands that holds this text in a column without doubles. */
  places(column: string): ReadonlyMap<string, number> {
    let places = this.#places.get(column);
    if (!places) {
      const at = this.place(column);
      places = new Map(this.rows.map((row, place) => [row[at] ?? '', place]));
      this.#places.set(column, places);
    }
    return places;
  }

  /** All rows in an order, as SQL has it. */
  sorted(order: Order): readonly KeptRow[] {
    const key = `${order.column} ${order.direction}`;
    let rows = this.#sorted.get(key);
    if (!rows) {
      rows = this.rows.toSorted(comparison(this, order));
      this.#sorted.set(key, rows);
    }
    return rows;
  }

  /** The table after a change: those groups are replaced, and every other row stays the object that it is. */
  changed({ changed, rows, types }: ReferenceRows): KeptTable {
    if (!changed) return new KeptTable(this.name, rows, types);
    const group = this.place(keptTables[this.name].group);
    const kept = this.rows.filter((row) => !changed.has(row[group] ?? ''));
    return new KeptTable(this.name, [...kept, ...rows], this.types);
  }
}
