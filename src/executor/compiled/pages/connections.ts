import type { TextRows } from '../../../db/engine/borrowed-connection.ts';
import { servesParents } from '../../../db/query/walks/index-use.ts';
import type { ReadColumn } from '../../../db/query/query-base.ts';
import type { Values } from '../../../db/statements/prepared.ts';
import { isAlways } from '../../../db/query/conditions/predicate.ts';
import type { Total } from '../../../db/reads/bounded-totals.ts';
import {
  type ConnectionArguments,
  type ListDeclaration,
  pageRequest,
} from '../../../resolvers/connections.ts';
import { cursorAt } from '../../../resolvers/cursors.ts';
import { Columns, type KeyColumn, type ReadText } from '../compile/columns.ts';
import { type DistinctKeys, distinctKeys } from '../run/distinct-keys.ts';
import { type Field, type Frame, type Groups, newFrame, type Row } from '../run/frame.ts';
import { isCachedTable } from '../../../reference/snapshot.ts';
import { cachedPages } from './cached-pages.ts';
import { type Fetch, type ObjectPlan, startAll } from '../compile/objects.ts';
import { boundedRows, orderValue, type PagedRows, pagesOf } from './page-rows.ts';
import type { Run } from '../run/run.ts';
import { type ParameterizedPage, RequestedPage, WalkStatements } from './walks.ts';
import { fetchRows } from '../run/prewritten-rows.ts';
import { readTotals } from './totals.ts';
import { type FieldName, fieldNames, type Sink, writeList } from '../writing/sink.ts';

/** The pages of a connection under the rows of a frame. Each selection on the rows of pages is a view, with its own frame. */
export interface FetchedPages extends Pages, Groups {
  frames: Frame[];
  requested: RequestedPage;
}

interface ConnectionOptions {
  list: ListDeclaration;
  /** The key of the parent; undefined for a list without parents. */
  key: KeyColumn | undefined;
  /** Makes a function that reads the number of children from the parent; undefined if no column has that number. */
  count: (() => ReadText) | undefined;
  fetchIndex: number;
  /** The arguments in one run; `fixed` says that they are the same in all runs. */
  args: (run: Run) => ConnectionArguments;
  fixed: boolean;
}

/** Fetches the pages of one connection field under all rows of a frame: one statement for rows, one for counts. */
export class ConnectionFetch implements Fetch {
  readonly columns: Columns;
  readonly fetchIndex: number;
  readonly #options: ConnectionOptions;
  readonly #statements: WalkStatements;
  readonly #views: ObjectPlan[] = [];
  #fixed: RequestedPage | undefined;
  #showsRows = false;
  #showsMore = false;
  #showsCount = false;
  #storedCount: ReadText | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.columns = new Columns({ of: options.list.source.table });
    this.fetchIndex = options.fetchIndex;
    this.#statements = new WalkStatements(options.key !== undefined);
  }

  /** Adds a selection on the rows; returns the index of its frame. */
  view(plan: ObjectPlan): number {
    this.#showsRows = true;
    return this.#views.push(plan) - 1;
  }

  /** Makes the fetch read the rows, because the operation selects something that needs them. */
  showRows(): void {
    this.#showsRows = true;
  }

  /** Makes the fetch find out whether there are more rows, because the operation selects it. */
  showMore(): void {
    this.#showsMore = true;
  }

  /** Makes the fetch count the rows of all pages, because the operation selects their number. */
  showCount(): void {
    this.#showsCount = true;
    this.#storedCount ??= this.#options.count?.();
  }

  /** Returns a function that makes the cursor of a row, and adds the columns that it needs to those that are read. */
  cursor(): (pages: FetchedPages, row: number) => string {
    const { list } = this.#options;
    const id = this.columns.reader('id');
    const readers = new Map(
      Object.values(list.orders).map(({ column }) => [column, this.columns.reader(column)]),
    );
    return ({ requested, rows }, at) => {
      const row = rows[at] as Row;
      const { order } = requested.request;
      const text = readers.get(order.column)?.(row) ?? null;
      return cursorAt(text === null ? null : orderValue(order, text), id(row), requested.fingerprint());
    };
  }

  fetch(frame: Frame, run: Run): Promise<void> | undefined {
    const requested = this.#requestedPage(run);
    const { key } = this.#options;
    const keys = key ? distinctKeys(frame, key) : undefined;
    const groupIndexes = keys?.keyIndexes ?? new Int32Array(frame.rows.length);
    const readWithParent =
      frame.readWithRow?.fetchIndex === this.fetchIndex ? frame.readWithRow.rows : undefined;
    const show = (found: Pages): Promise<void> | undefined => {
      const frames = this.#views.map(() => newFrame(run, found.rows, found.types));
      frame.fetched[this.fetchIndex] = { ...found, groupIndexes, requested, frames } satisfies FetchedPages;
      return startAll(this.#views, (view, index) => fetchRows(view, frames[index] as Frame));
    };
    const cached = cachedPages(run, requested.request, () => keys?.texts ?? ['']);
    if (cached) return show(cached);
    const knownTotals = this.#storedTotalsIn(frame, groupIndexes, requested);
    if (readWithParent && (knownTotals || !this.#showsCount))
      return show(this.#pages(requested, keys, { readWithParent, knownTotals }));
    return this.#read(requested, keys, { knownTotals, readWithParent }, run).then(show);
  }

  /** The totals from the counts that the parents store, by group. Undefined if the list has a filter, or the parents have no count. */
  #storedTotalsIn({ rows }: Frame, at: Int32Array, { request }: RequestedPage): Total[] | undefined {
    const read = this.#storedCount;
    if (!read || !isAlways(request.filter)) return undefined;
    const totals: Total[] = [];
    rows.forEach((row, index) => {
      totals[at[index] ?? 0] = { count: Number(read(row)), isExact: true };
    });
    return totals;
  }

  async #read(
    requested: RequestedPage,
    keys: DistinctKeys | undefined,
    { knownTotals, readWithParent }: AlreadyRead,
    run: Run,
  ): Promise<Pages> {
    const parameterized = requested.parameterized(run.cached);
    const values = { ...parameterized.values, ...(keys && { keys: keys.array }) };
    const isCounted = this.#showsCount && !knownTotals;
    const [page, counted] = await Promise.all([
      this.#showsRows && !readWithParent
        ? this.#readPage(requested, parameterized, keys, values, run)
        : undefined,
      isCounted
        ? readTotals(this.#statements, requested.parameterizedTotal(run.cached), keys, run)
        : knownTotals,
    ]);
    return page
      ? { ...page, totals: counted ?? [] }
      : this.#pages(requested, keys, { readWithParent, knownTotals: counted });
  }

  async #readPage(
    requested: RequestedPage,
    parameterized: ParameterizedPage,
    keys: DistinctKeys | undefined,
    values: Values,
    run: Run,
  ): Promise<PagedRows> {
    const columns = this.columns.selected;
    const indexUse = this.#statements.indexUse(parameterized);
    if (!servesParents(indexUse, keys?.count ?? 1))
      return boundedRows(
        { statements: this.#statements, columns, indexUse },
        requested,
        parameterized,
        keys,
        run,
      );
    const read = await run.rows(this.#statements.page(parameterized, columns, run), values);
    // The ordinal of the parent is the last column.
    return pagesOf(read, requested.request, {
      count: keys?.count ?? 1,
      ordinal: keys && columns.length,
    });
  }

  #pages(
    requested: RequestedPage,
    keys: DistinctKeys | undefined,
    { readWithParent, knownTotals = [] }: AlreadyRead,
  ): Pages {
    return {
      ...pagesOf(readWithParent, requested.request, { count: keys?.count ?? 1, ordinal: undefined }),
      totals: knownTotals,
    };
  }

  /**
   * The page for the statement that reads its single parent, whose frame then has it as `readWithRow`.
   * Undefined if no rows are needed, they may be cached, or they have to be read within bounds.
   */
  pageWithParent(run: Run): PageWithParent | undefined {
    const { key, list } = this.#options;
    if (key?.index === undefined || !this.#showsRows || isCachedTable(list.source.table)) return undefined;
    const parameterized = this.#requestedPage(run).parameterized(run.cached);
    if (!this.#statements.indexUse(parameterized).isServed) return undefined;
    return { key: key.index, columns: this.columns.selected, parameterized, fetchIndex: this.fetchIndex };
  }

  /** The page that the arguments of this run request. */
  #requestedPage(run: Run): RequestedPage {
    if (this.#fixed) return this.#fixed;
    const { list, args, fixed } = this.#options;
    const requested = new RequestedPage(pageRequest(list, args(run)), { showsMore: this.#showsMore, fixed });
    if (fixed) this.#fixed = requested;
    return requested;
  }
}

/** The rows of a page that the statement of their parent has read, and the counts, if they are known already. */
interface AlreadyRead {
  readonly readWithParent: TextRows | undefined;
  readonly knownTotals: readonly Total[] | undefined;
}

export interface PageWithParent {
  /** The index of the parent's column that the rows refer to. */
  readonly key: number;
  readonly columns: readonly ReadColumn[];
  readonly parameterized: ParameterizedPage;
  readonly fetchIndex: number;
}

/** The rows of one page for each parent, and the number of rows on all pages. */
export interface Pages extends PagedRows {
  totals: readonly Total[];
}

/** Writes a field of a page or of one of its rows. `index` is the index of the page's group, or of the row. */
export type WriteFromPages = (out: Sink, pages: FetchedPages, index: number) => void;

export interface PageField {
  readonly responseName: string;
  readonly write: WriteFromPages;
  /** The plan of the rows and its view, if the field lists the rows themselves. */
  readonly rows?: PageRows;
}

/** A selection on the rows of a page: its frame is that of the view. */
export interface PageRows {
  readonly plan: ObjectPlan;
  readonly view: number;
}

/** Writes an object whose fields all belong to the same page, or to the same row. */
export function pageObject(fields: readonly PageField[]): WriteFromPages {
  const names = fieldNames(fields.map(({ responseName }) => responseName));
  return (out, pages, index) => {
    out.beginObject();
    for (let nth = 0; nth < fields.length; nth += 1) {
      out.name(names[nth] as FieldName);
      (fields[nth] as PageField).write(out, pages, index);
    }
    out.endObject();
  };
}

/** Writes a list with one item for each row of a page. */
export function pageList(each: WriteFromPages): WriteFromPages {
  return (out, pages, group) => writeList(out, pages, pages.start[group] ?? 0, pages.end[group] ?? 0, each);
}

/** The field of a connection. */
export function connectionField(
  responseName: string,
  fetchIndex: number,
  fields: readonly PageField[],
): Field {
  const page = pageObject(fields);
  const pagesIn = (frame: Frame) => frame.fetched[fetchIndex] as FetchedPages;
  const groupOf = (frame: Frame, row: number) => pagesIn(frame).groupIndexes[row] ?? 0;
  const below = fields.map(({ responseName: name, write, rows }): Field => {
    return {
      responseName: name,
      write: (out, frame, row) => write(out, pagesIn(frame), groupOf(frame, row)),
      ...(rows && {
        below: {
          plan: rows.plan,
          fields: rows.plan.fields,
          frame: (frame) => pagesIn(frame).frames[rows.view] as Frame,
          from: (frame, row) => pagesIn(frame).start[groupOf(frame, row)] ?? 0,
          to: (frame, row) => pagesIn(frame).end[groupOf(frame, row)] ?? 0,
        },
      }),
    };
  });
  return {
    responseName,
    write: (out, frame, row) => page(out, pagesIn(frame), groupOf(frame, row)),
    // The fields of a page are found by its parent row.
    below: {
      plan: undefined,
      fields: below,
      frame: (frame) => frame,
      from: (_frame, row) => row,
      to: (_frame, row) => row + 1,
    },
  };
}
