import DataLoader from 'dataloader';
import type { AnyRow } from '../query/any-tables.ts';
import type { ListOrder } from '../query/pages/plain-lists.ts';
import { selectLists } from './plain-lists.ts';
import type { Predicate } from '../query/conditions/predicate.ts';
import type { ReadBounds } from '../query/read-bounds.ts';
import { existsQuery, findQuery, keyQuery, sumsQuery } from '../query/row-queries.ts';
import type { TableName } from '../tables/tables.ts';
import type { ChildSource, Source } from '../query/walks/walk.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';
import type { Total } from './bounded-totals.ts';
import { type Page, type PageRequest, selectPage, selectPages } from './pages.ts';
import { selectCounts, selectTotal, selectTotals } from './totals.ts';

/**
 * The loaders of one request in one workspace. Keys that are loaded in the same tick, with the same declaration and
 * arguments, are read by one statement. After a write, `clear` drops all loaded rows.
 */
export class Loaders {
  readonly #db: TenantDb;
  readonly #bounds: ReadBounds;
  readonly #loaders = new Map<string, DataLoader<string, unknown>>();
  /** The number of each kind of `batch`, which is a part of the name of its loader. */
  readonly #kinds = new Map<object, number>();
  /** The number of each request and filter, which is a part of the name of its loader; equal ones have the same. */
  readonly #numbers = new WeakMap<PageRequest | Predicate, number>();
  readonly #numbersByJson = new Map<string, number>();

  constructor(db: TenantDb, bounds: ReadBounds) {
    this.#db = db;
    this.#bounds = bounds;
  }

  get #base(): { db: TenantDb } {
    return { db: this.#db };
  }

  /** Rows by a unique column; undefined for keys without a row. */
  byKey(table: TableName, column: string, where: Predicate): DataLoader<string, AnyRow | undefined> {
    return this.#loader(`byKey ${table}.${column} ${JSON.stringify(where)}`, async (keys) => {
      const rows = await keyQuery(this.#base, table, column, where, keys).execute();
      const found = new Map(rows.map((row) => [String(row[column]), row]));
      return keys.map((key) => found.get(key));
    });
  }

  /** A page of children for each parent. */
  pages(request: PageRequest): DataLoader<string, Page> {
    return this.#loader(`pages ${this.#numberOf(request)}`, async (parents) => {
      const pages = await selectPages(this.#db, request, parents, this.#bounds);
      return parents.map((parent) => pages.get(parent) ?? { rows: [], hasMore: false });
    });
  }

  /** The number of children of each parent. */
  counts(source: ChildSource, filter: Predicate): DataLoader<string, number> {
    return this.#loader(`counts ${JSON.stringify(source)} ${this.#numberOf(filter)}`, async (parents) => {
      const counts = await selectCounts(this.#db, source, filter, parents);
      return parents.map((parent) => counts.get(parent) ?? 0);
    });
  }

  /** The number of children on all pages of each parent. */
  totals(source: ChildSource, filter: Predicate): DataLoader<string, Total> {
    return this.#loader(`totals ${JSON.stringify(source)} ${this.#numberOf(filter)}`, async (parents) => [
      ...(await selectTotals(this.#db, source, filter, this.#bounds, parents)),
    ]);
  }

  /** All children of each parent, in order. */
  lists(source: ChildSource, orderBy: readonly ListOrder[]): DataLoader<string, AnyRow[]> {
    return this.#loader(`lists ${JSON.stringify([source, orderBy])}`, async (parents) => {
      const lists = await selectLists(this.#db, source, orderBy, parents);
      return parents.map((parent) => lists.get(parent) ?? []);
    });
  }

  /** Whether there is a row with the key and the viewer's account. */
  exists(
    table: TableName,
    keyColumn: string,
    viewerColumn: string,
    viewer: string,
  ): DataLoader<string, boolean> {
    return this.#loader(`exists ${table}.${keyColumn} ${viewerColumn} ${viewer}`, async (keys) => {
      const rows = await existsQuery(this.#base, table, keyColumn, viewerColumn, viewer, keys).execute();
      const found = new Set(rows.map((row) => row.key));
      return keys.map((key) => found.has(key));
    });
  }

  /** The sums of the counter slots of each key. */
  sums(
    table: TableName,
    keyColumn: string,
    columns: readonly string[],
  ): DataLoader<string, Record<string, number>> {
    return this.#loader(`sums ${table}.${keyColumn} ${columns.join(' ')}`, async (keys) => {
      const rows = await sumsQuery(this.#base, table, keyColumn, columns, keys).execute();
      const none = Object.fromEntries(columns.map((column) => [column, 0]));
      const found = new Map(rows.map((row) => [row.key, row as Record<string, number>]));
      return keys.map((key) => found.get(key) ?? none);
    });
  }

  /** Values that `load` computes for several keys at once. `of` and the arguments identify the kind of value. */
  batch<Value extends object>(
    of: object,
    args: unknown,
    load: (keys: readonly string[]) => Promise<readonly Value[]>,
  ): DataLoader<string, Value> {
    let kind = this.#kinds.get(of);
    if (kind === undefined) this.#kinds.set(of, (kind = this.#kinds.size));
    return this.#loader(`batch ${kind} ${JSON.stringify(args)}`, async (keys) => [...(await load(keys))]);
  }

  /** A page of all rows of the workspace. It needs no batching because a root field has no parents. */
  page(request: PageRequest): Promise<Page> {
    return selectPage(this.#db, request, this.#bounds);
  }

  /** The first row that matches the predicate, for root fields that look up a single row. */
  async find(table: TableName, where: Predicate): Promise<AnyRow | undefined> {
    return findQuery(this.#base, table, where).limit(1).executeTakeFirst();
  }

  /** The number of rows on all pages of the workspace's rows. */
  total(source: Source, filter: Predicate): Promise<Total> {
    return selectTotal(this.#db, source, filter, this.#bounds);
  }

  /** Drops all loaded rows, so that reads after a write see its result. */
  clear(): void {
    this.#loaders.clear();
  }

  /**
   * The number of a request or filter. Its JSON is made once for each object, because a filter with many values has a long JSON
   * and its number is needed for each parent.
   */
  #numberOf(part: PageRequest | Predicate): number {
    let number = this.#numbers.get(part);
    if (number !== undefined) return number;
    const json = JSON.stringify(part);
    number = this.#numbersByJson.get(json) ?? this.#numbersByJson.size;
    this.#numbersByJson.set(json, number);
    this.#numbers.set(part, number);
    return number;
  }

  #loader<Value>(
    name: string,
    batch: (keys: readonly string[]) => Promise<Value[]>,
  ): DataLoader<string, Value> {
    const existing = this.#loaders.get(name);
    if (existing) return existing as DataLoader<string, Value>;
    const loader = new DataLoader<string, Value>(batch);
    this.#loaders.set(name, loader);
    return loader;
  }
}
