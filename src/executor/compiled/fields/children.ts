import { decodeText } from '../../../db/wire/decoded-types.ts';
import type { ChildSource } from '../../../db/query/walks/walk.ts';
import type { Predicate } from '../../../db/query/conditions/predicate.ts';
import { Prepared } from '../../../db/statements/prepared.ts';
import { existsQuery, sumsQuery } from '../../../db/query/row-queries.ts';
import type { TableName } from '../../../db/tables/tables.ts';
import { countsQuery } from '../../../db/query/totals/totals.ts';
import { preloadableTables } from '../../../db/writes/preloaded.ts';
import type { KeyColumn, ReadText } from '../compile/columns.ts';
import { distinctKeys } from '../run/distinct-keys.ts';
import type { Frame, Row } from '../run/frame.ts';
import type { Fetch } from '../compile/objects.ts';
import { keysSlot, type Run, viewerSlot } from '../run/run.ts';
import { statement } from '../run/statements.ts';

/** The rows of all groups in one array, and where each group begins and ends. */
export function flatten(groups: readonly (readonly Row[])[]) {
  const rows: Row[] = [];
  const start = new Int32Array(groups.length);
  const end = new Int32Array(groups.length);
  groups.forEach((group, index) => {
    start[index] = rows.length;
    for (const row of group) rows.push(row);
    end[index] = rows.length;
  });
  return { rows, start, end };
}

/** Finds which rows of a frame a join table connects with the viewer. */
export class ExistsFetch implements Fetch {
  readonly #table: TableName;
  readonly #keyColumn: string;
  readonly #viewerColumn: string;
  readonly #key: KeyColumn;
  readonly #attached: ReadText | undefined;
  readonly #fetchIndex: number;
  #statement: Prepared | undefined;

  /** `attached` reads `true` or `false` from rows to which the value is attached; they need no statement. */
  constructor(
    plan: { table: TableName; keyColumn: string; viewerColumn: string },
    key: KeyColumn,
    attached: ReadText | undefined,
    fetchIndex: number,
  ) {
    this.#attached = attached;
    this.#table = plan.table;
    this.#keyColumn = plan.keyColumn;
    this.#viewerColumn = plan.viewerColumn;
    this.#key = key;
    this.#fetchIndex = fetchIndex;
  }

  get showsOnlyWritten(): boolean {
    return this.#attached !== undefined && preloadableTables.some((table) => table === this.#table);
  }

  async fetch(frame: Frame, run: Run): Promise<void> {
    const known = frame.rows.map((row) => this.#attached?.(row) ?? null);
    if (!known.includes(null)) {
      frame.fetched[this.#fetchIndex] = known.map((text) => text === 'true');
      return;
    }
    this.#statement ??= new Prepared(
      existsQuery(run.queryBase([]), this.#table, this.#keyColumn, this.#viewerColumn, viewerSlot, keysSlot),
    );
    const { texts, keyIndexes, array } = distinctKeys(frame, this.#key);
    const { rows } = await run.texts(this.#statement, { keys: array });
    const found = new Set(rows.map(([key]) => key));
    frame.fetched[this.#fetchIndex] = Array.from(keyIndexes, (index) => found.has(texts[index] ?? ''));
  }
}

/** Counts the children of each row of a frame. */
export class CountFetch implements Fetch {
  readonly #source: ChildSource;
  readonly #filter: Predicate;
  readonly #key: KeyColumn;
  readonly #fetchIndex: number;
  #statement: Prepared | undefined;

  constructor(plan: { source: ChildSource; filter: Predicate }, key: KeyColumn, fetchIndex: number) {
    this.#source = plan.source;
    this.#filter = plan.filter;
    this.#key = key;
    this.#fetchIndex = fetchIndex;
  }

  async fetch(frame: Frame, run: Run): Promise<void> {
    const cached = run.cachedCount(this.#source, this.#filter);
    if (cached) {
      frame.fetched[this.#fetchIndex] = frame.rows.map((row) => cached(this.#key.text(row) ?? ''));
      return;
    }
    this.#statement ??= new Prepared(countsQuery(run.queryBase([]), this.#source, this.#filter, keysSlot));
    const { texts, keyIndexes, array } = distinctKeys(frame, this.#key);
    const { rows } = await run.texts(this.#statement, { keys: array });
    const counts = new Map(rows.map(([key, count]) => [key, Number(count)]));
    frame.fetched[this.#fetchIndex] = Array.from(keyIndexes, (index) => counts.get(texts[index] ?? '') ?? 0);
  }
}

type Sums = Readonly<Record<string, unknown>>;

/** Sums the counters of each row of a frame, which are stored in several slots. Several fields share the sums. */
export class SumsFetch implements Fetch {
  readonly fetchIndex: number;
  readonly table: TableName;
  /** The column of the counters that refers to the row. */
  readonly keyColumn: string;
  readonly #columns: string[] = [];
  readonly #key: KeyColumn;
  #statement: Prepared | undefined;

  constructor(table: TableName, keyColumn: string, key: KeyColumn, fetchIndex: number) {
    this.table = table;
    this.keyColumn = keyColumn;
    this.#key = key;
    this.fetchIndex = fetchIndex;
  }

  add(columns: readonly string[]): void {
    for (const column of columns) if (!this.#columns.includes(column)) this.#columns.push(column);
  }

  async fetch(frame: Frame, run: Run): Promise<void> {
    // The sums were preloaded on the rows that refer to these.
    if (frame.fetched[this.fetchIndex]) return;
    const { table, keyColumn } = this;
    this.#statement ??= statement(
      ['sums', table, keyColumn, this.#columns],
      () => new Prepared(sumsQuery(run.queryBase([]), table, keyColumn, this.#columns, keysSlot)),
    );
    const { texts, keyIndexes, array } = distinctKeys(frame, this.#key);
    const { rows, types } = await run.texts(this.#statement, { keys: array });
    const sums = new Map<string | null, Sums>();
    for (const row of rows) sums.set(row[0] ?? null, this.#sumsOf(row, types));
    const none = this.#sumsOf([], types);
    frame.fetched[this.fetchIndex] = Array.from(keyIndexes, (index) => sums.get(texts[index] ?? '') ?? none);
  }

  /** The key is the first column, before the sums. */
  #sumsOf(row: readonly (string | null)[], types: readonly number[]): Sums {
    const sums: Record<string, unknown> = {};
    for (const [index, column] of this.#columns.entries())
      sums[column] = decodeText(types[index + 1] ?? 0, row[index + 1] ?? null) ?? 0;
    return sums;
  }
}
