import { indexUseOf, servesParents } from '../query/walks/index-use.ts';
import type { AnyRow } from '../query/any-tables.ts';
import { stepQuery } from '../query/pages/bounded-page.ts';
import { pageQuery, pagesQuery } from '../query/pages/page.ts';
import { withPrefixRanges } from '../query/conditions/prefix-range.ts';
import { probeQuery } from '../query/walks/candidate-probe.ts';
import type { ReadBounds } from '../query/read-bounds.ts';
import type { Position, Walk } from '../query/walks/walk.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';
import { type PageRead, readBoundedPages } from './bounded-pages.ts';

export interface PageRequest extends Walk {
  /** The maximum number of rows on the page. One more is read to find out whether there is another page. */
  limit: number;
}

export interface Page {
  rows: AnyRow[];
  /** Whether there are more rows in the direction of the page. */
  hasMore: boolean;
  /** Set if the page ended early: the position of the last row that was examined. */
  stop?: Position | undefined;
}

/** Reads a page of the workspace's rows. */
export async function selectPage(db: TenantDb, request: PageRequest, bounds: ReadBounds): Promise<Page> {
  const [page] = await readPages(db, request, bounds);
  return page ?? { rows: [], hasMore: false };
}

/** Reads a page for each parent. Parents without rows get an empty page. */
export async function selectPages(
  db: TenantDb,
  request: PageRequest,
  parents: readonly string[],
  bounds: ReadBounds,
): Promise<Map<string, Page>> {
  const pages = await readPages(db, request, bounds, parents);
  return new Map(parents.map((parent, index) => [parent, pages[index] ?? { rows: [], hasMore: false }]));
}

async function readPages(
  db: TenantDb,
  request: PageRequest,
  bounds: ReadBounds,
  parents?: readonly string[],
): Promise<Page[]> {
  const walk = { ...request, filter: withPrefixRanges(request.filter, request.source.table) };
  const indexUse = indexUseOf(walk);
  const size = { rows: request.limit + 1 };
  if (servesParents(indexUse, parents?.length ?? 1)) {
    const query = parents ? pagesQuery({ db }, walk, size, parents) : pageQuery({ db }, walk, size);
    return pagesOf(await query.execute(), parents?.length ?? 1).map((read) => toPage(read, request));
  }
  const wanted = { parents: parents?.length ?? 1, rows: size.rows };
  const pages = await readBoundedPages<AnyRow>(indexUse, bounds, wanted, {
    step: async (step, open) => {
      const keys = parents && open.flatMap((index) => parents[index] ?? []);
      const rows = await stepQuery({ db }, { walk, indexUse }, size, step, keys).execute();
      return pagesOf(rows, open.length);
    },
    probe: async (probed, sample) => {
      const counts = await probeQuery({ db }, { walk, indexUse }, probed, sample).executeTakeFirst();
      return probed.map((_, index) => Number(counts?.[`count${index}`]));
    },
  });
  return pages.map((read) => toPage(read, request));
}

/** Groups rows by their parents. A stop with the ordinal 0 applies to all pages. */
function pagesOf(rows: readonly AnyRow[], parents: number): PageRead<AnyRow>[] {
  const byOrdinal = Map.groupBy(rows, ({ parentOrdinal }) => Number(parentOrdinal ?? 1));
  const stopOf = (ordinal: number) => byOrdinal.get(ordinal)?.find(({ stopId }) => (stopId ?? null) !== null);
  const ofAll = stopOf(0);
  return Array.from({ length: parents }, (_, index) => {
    const stop = stopOf(index + 1) ?? ofAll;
    const found = byOrdinal.get(index + 1) ?? [];
    return {
      rows: found.filter(({ stopId }) => (stopId ?? null) === null).map(withoutExtras),
      stop: stop && { value: positionValue(stop.stopValue), id: String(stop.stopId) },
    };
  });
}

/** The row without the columns that a bounded statement adds. */
function withoutExtras({
  parentOrdinal: _parent,
  stopId: _id,
  stopValue: _value,
  found: _found,
  ...columns
}: AnyRow): AnyRow {
  return columns;
}

function positionValue(value: unknown): string | number | null {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}

function toPage({ rows, stop }: PageRead<AnyRow>, { limit, backward }: PageRequest): Page {
  const isFull = rows.length > limit;
  const page = rows.slice(0, limit);
  return {
    rows: backward ? page.reverse() : page,
    hasMore: isFull || stop !== undefined,
    stop: isFull ? undefined : stop,
  };
}
