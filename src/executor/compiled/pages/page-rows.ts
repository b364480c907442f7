import type { TextRows } from '../../../db/engine/borrowed-connection.ts';
import type { IndexUse } from '../../../db/query/walks/index-use.ts';
import type { ReadColumn } from '../../../db/query/query-base.ts';
import { uuidArray } from '../../../db/statements/uuid-array.ts';
import type { Order, Position } from '../../../db/query/walks/walk.ts';
import { type PageRead, readBoundedPages } from '../../../db/reads/bounded-pages.ts';
import type { PageRequest } from '../../../db/reads/pages.ts';
import { naturalAt, textAt, type TextRow } from '../../../db/wire/wire-row.ts';
import type { DistinctKeys } from '../run/distinct-keys.ts';
import type { Groups, Row } from '../run/frame.ts';
import type { Run } from '../run/run.ts';
import { isoTime } from '../writing/iso-times.ts';
import type { ParameterizedPage, RequestedPage, WalkStatements } from './walks.ts';

/** The rows of one page for each parent, in one array. */
export interface PagedRows extends Omit<Groups, 'groupIndexes'> {
  rows: readonly Row[];
  /** Whether there are more rows in the direction of the walk, by group. */
  more: boolean[];
  /** The stops of pages that ended early, by group. */
  stops?: readonly (Position | undefined)[];
  types: readonly number[];
}

/**
 * Splits the rows, which are in the order of the parents, into pages in the order of the list. If one row more
 * than the limit was read, there are more.
 */
export function pagesOf(
  page: TextRows | undefined,
  { limit, backward }: PageRequest,
  { count, ordinal }: { count: number; ordinal: number | undefined },
): PagedRows {
  const types = page?.types ?? [];
  const read = page?.rows ?? [];
  const start = new Int32Array(count);
  const end = new Int32Array(count);
  const more: boolean[] = [];
  const ordinalOf = (row: TextRow) => (ordinal === undefined ? 1 : naturalAt(row, ordinal));
  let next = 0;
  for (let group = 0; group < count; group += 1) {
    const first = next;
    while (next < read.length && ordinalOf(read[next] as TextRow) === group + 1) next += 1;
    start[group] = first;
    end[group] = Math.min(next, first + limit);
    more.push(next - first > limit);
  }
  // Most pages need no change of their rows.
  if (!backward && !more.includes(true)) return { rows: read, start, end, more, types };
  const rows: Row[] = [];
  for (let group = 0; group < count; group += 1) {
    const from = start[group] as number;
    const to = end[group] as number;
    start[group] = rows.length;
    for (let index = from; index < to; index += 1)
      rows.push(read[backward ? from + to - 1 - index : index] as Row);
    end[group] = rows.length;
  }
  return { rows, start, end, more, types };
}

/** The statements of a list whose pages are read within bounds, and the columns that they select. */
interface BoundedRead {
  readonly statements: WalkStatements;
  readonly columns: readonly ReadColumn[];
  readonly indexUse: IndexUse;
}

/** Reads the page of each parent within the bounds of the run. */
export async function boundedRows(
  { statements, columns, indexUse }: BoundedRead,
  { request }: RequestedPage,
  parameterized: ParameterizedPage,
  keys: DistinctKeys | undefined,
  run: Run,
): Promise<PagedRows> {
  const count = keys?.count ?? 1;
  let types: readonly number[] = [];
  const wanted = { parents: count, rows: parameterized.rows };
  const pages = await readBoundedPages<TextRow>(indexUse, run.context.bounds, wanted, {
    step: async (step, open) => {
      const among =
        keys &&
        (open.length === count ? keys.array : uuidArray(open.map((index) => keys.texts[index] ?? '')));
      const statement = statements.step(parameterized, step, columns, run);
      const read = await run.rows(statement, {
        ...parameterized.values,
        ...(among !== undefined && { keys: among }),
      });
      types = read.types;
      return pageReads(read.rows, request.order, {
        parents: open.length,
        stop: columns.length,
        ordinal: keys && columns.length + 2,
      });
    },
    probe: async (probed, sample) => {
      const planned = { walk: parameterized.walk, indexUse };
      const statement = statements.probe(parameterized.form, planned, probed, sample, run);
      const { rows } = await run.texts(statement, parameterized.values);
      return probed.map((_, index) => Number(rows[0]?.[index]));
    },
  });
  return toPagedRows(pages, request, types);
}

/** Groups the rows of a step by their parents. A stop with the ordinal 0 applies to all parents. */
function pageReads(
  rows: readonly TextRow[],
  order: Order,
  { parents, stop, ordinal }: { parents: number; stop: number; ordinal: number | undefined },
): PageRead<TextRow>[] {
  const found = Array.from({ length: parents }, (): TextRow[] => []);
  const stops: (Position | undefined)[] = [];
  let commonStop: Position | undefined;
  for (const row of rows) {
    const group = (ordinal === undefined ? 1 : naturalAt(row, ordinal)) - 1;
    const id = textAt(row, stop + 1);
    if (id === null) {
      found[group]?.push(row);
      continue;
    }
    const text = textAt(row, stop);
    const position = { value: text === null ? null : orderValue(order, text), id };
    if (group < 0) commonStop = position;
    else stops[group] = position;
  }
  return found.map((each, group) => ({ rows: each, stop: stops[group] ?? commonStop }));
}

function toPagedRows(
  pages: readonly PageRead<TextRow>[],
  { limit, backward }: PageRequest,
  types: readonly number[],
): PagedRows {
  const rows: Row[] = [];
  const start = new Int32Array(pages.length);
  const end = new Int32Array(pages.length);
  const more: boolean[] = [];
  const stops: (Position | undefined)[] = [];
  pages.forEach((page, group) => {
    const isLonger = page.rows.length > limit;
    const shown = isLonger ? page.rows.slice(0, limit) : page.rows;
    start[group] = rows.length;
    rows.push(...(backward ? shown.toReversed() : shown));
    end[group] = rows.length;
    more.push(isLonger || page.stop !== undefined);
    stops.push(isLonger ? undefined : page.stop);
  });
  return { rows, start, end, more, stops, types };
}

export function orderValue({ kind }: Order, text: string): string | number {
  if (kind === 'int') return Number(text);
  return kind === 'time' ? isoTime(text) : text;
}
