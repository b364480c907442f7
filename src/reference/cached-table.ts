import type { Order } from '../db/query/walks/walk.ts';
import type { CachedDeclaration } from '../db/tables/cached-tables.ts';
import type { ReferenceRows } from '../db/reads/reference-reads.ts';
import { KeyIndex } from './key-index.ts';
import { compareKeys, comparison } from './order.ts';

/** A row as PostgreSQL sent it. It stays the same object for as long as the row does not change. */
export type CachedRow = readonly (string | null)[];

const noRows: readonly CachedRow[] = [];

/**
 * The rows of one table of a workspace at one version. It never changes. Its indexes are created when they are first
 * used.
 */
export class CachedTable {
  readonly rows: readonly CachedRow[];
  readonly types: readonly number[];
  readonly #declaration: CachedDeclaration;
  readonly #byColumn = new Map<string, ReadonlyMap<string, readonly CachedRow[]>>();
  readonly #indexes = new Map<string, KeyIndex>();
  readonly #ranks = new Map<string, Int32Array>();
  readonly #sorted = new Map<string, readonly CachedRow[]>();

  constructor(declaration: CachedDeclaration, rows: readonly CachedRow[], types: readonly number[]) {
    this.#declaration = declaration;
    this.rows = rows;
    this.types = types;
  }

  /** The position of the column in each row; -1 when the column is not cached. */
  columnIndex(column: string): number {
    return this.#declaration.columns.indexOf(column);
  }

  /** The rows with this text in the column. */
  by(column: string, text: string): readonly CachedRow[] {
    return this.grouped(column).get(text) ?? noRows;
  }

  grouped(column: string): ReadonlyMap<string, readonly CachedRow[]> {
    let groups = this.#byColumn.get(column);
    if (!groups) {
      const position = this.columnIndex(column);
      groups = Map.groupBy(
        this.rows.filter((row) => (row[position] ?? null) !== null),
        (row) => row[position] as string,
      );
      this.#byColumn.set(column, groups);
    }
    return groups;
  }

  /** The positions of rows by the UUIDs in a unique column. */
  index(column: string): KeyIndex {
    let index = this.#indexes.get(column);
    if (!index) {
      const position = this.columnIndex(column);
      index = new KeyIndex(this.rows.map((row) => row[position] ?? null));
      this.#indexes.set(column, index);
    }
    return index;
  }

  /** The rank of each row in the order of the column. Rows with the same value have the same rank. */
  ranks(column: string): Int32Array {
    let ranks = this.#ranks.get(column);
    if (!ranks) {
      const position = this.columnIndex(column);
      const keys = this.rows.map((row) => comparisonKey(this.types[position], row[position] ?? null));
      const sorted = [...new Set(keys)].toSorted(compareKeys);
      const rankOf = new Map(sorted.map((key, rank) => [key, rank]));
      ranks = Int32Array.from(keys, (key) => rankOf.get(key) ?? 0);
      this.#ranks.set(column, ranks);
    }
    return ranks;
  }

  /** All rows, in the same order as in SQL. */
  sorted(order: Order): readonly CachedRow[] {
    const key = `${order.column} ${order.direction}`;
    let rows = this.#sorted.get(key);
    if (!rows) {
      rows = this.rows.toSorted(comparison(this, order));
      this.#sorted.set(key, rows);
    }
    return rows;
  }

  /** The table after a change. The changed groups are replaced, and all other rows stay the same objects. */
  changed({ changed, rows, types }: ReferenceRows): CachedTable {
    if (!changed) return new CachedTable(this.#declaration, rows, types);
    const group = this.columnIndex(this.#declaration.group);
    const unchanged = this.rows.filter((row) => !changed.has(row[group] ?? ''));
    return new CachedTable(this.#declaration, [...unchanged, ...rows], this.types);
  }
}

const integerTypes: ReadonlySet<number> = new Set([20, 21, 23]);

function comparisonKey(type: number | undefined, text: string | null): string | number {
  return integerTypes.has(type ?? 0) ? Number(text) : (text ?? '');
}
