import { countStepQuery } from '../query/totals/bounded-count.ts';
import type { PlannedWalk } from '../query/walks/index-use.ts';
import { withPrefixRanges } from '../query/conditions/prefix-range.ts';
import type { Predicate } from '../query/conditions/predicate.ts';
import { probeQuery } from '../query/walks/candidate-probe.ts';
import type { ReadBounds } from '../query/read-bounds.ts';
import { tallyFor } from '../query/totals/tallies.ts';
import { countsQuery, totalQuery, totalStrategy } from '../query/totals/totals.ts';
import type { ChildSource, Source } from '../query/walks/walk.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';
import { countWithinBounds, type Total, type TotalSender } from './bounded-totals.ts';

/** Counts all children of each parent that match the filter, with one statement. */
export async function selectCounts(
  db: TenantDb,
  source: ChildSource,
  filter: Predicate,
  parents: readonly string[],
): Promise<Map<string, number>> {
  const counted = await countsQuery({ db }, source, filter, parents).execute();
  return new Map(counted.map(({ parentKey, count }) => [parentKey, count]));
}

/** The number of rows on all pages of the workspace's rows. */
export async function selectTotal(
  db: TenantDb,
  source: Source,
  filter: Predicate,
  bounds: ReadBounds,
): Promise<Total> {
  const [total] = await readTotals(db, source, filter, bounds);
  return total ?? none;
}

/** The number of rows on all pages of the children of each parent, in the order of the parents. */
export async function selectTotals(
  db: TenantDb,
  source: ChildSource,
  filter: Predicate,
  bounds: ReadBounds,
  parents: readonly string[],
): Promise<readonly Total[]> {
  return readTotals(db, source, filter, bounds, parents);
}

const none: Total = { count: 0, isExact: true };

async function readTotals(
  db: TenantDb,
  source: Source,
  unranged: Predicate,
  bounds: ReadBounds,
  parents?: readonly string[],
): Promise<readonly Total[]> {
  const filter = withPrefixRanges(unranged, source.table);
  const strategy = totalStrategy(source, filter, tallyFor(source, filter));
  if (strategy.by !== 'bounds') {
    const rows: { parentKey?: string; count: number }[] = await totalQuery(
      { db },
      source,
      strategy,
      parents,
    ).execute();
    if (!parents) return rows.map(({ count }) => ({ count, isExact: true }));
    const counts = new Map(rows.map(({ parentKey, count }) => [parentKey, count]));
    return parents.map((parent) => ({ count: counts.get(parent) ?? 0, isExact: true }));
  }
  const { planned } = strategy;
  return countWithinBounds(planned.indexUse, bounds, parents?.length ?? 1, totalSender(db, planned, parents));
}

/** Sends the statements of the total of a list, or of the lists of the parents. */
export function totalSender(db: TenantDb, planned: PlannedWalk, parents?: readonly string[]): TotalSender {
  return {
    count: async (step, open) => {
      const keys = parents && open.flatMap((index) => parents[index] ?? []);
      const rows = await countStepQuery({ db }, planned, step, keys).execute();
      const totals = open.map(() => none);
      for (const { count, isBound, parentOrdinal } of rows)
        totals[Number(parentOrdinal ?? 1) - 1] = { count: Number(count), isExact: isBound === null };
      return totals;
    },
    probe: async (probed, sample) => {
      const counts = await probeQuery({ db }, planned, probed, sample).executeTakeFirst();
      return probed.map((_, index) => Number(counts?.[`count${index}`]));
    },
  };
}
