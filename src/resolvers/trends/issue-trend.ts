import { defaultTrendGroups, maxTrendGroups } from '../../model/statistics-limits.ts';
import type { Predicate } from '../../db/query/conditions/predicate.ts';
import type { IssueGroup, StatsColumn } from '../../db/reads/statistics/issue-groups.ts';
import { selectIssueTrend, type TrendRow } from '../../db/reads/statistics/issue-trend.ts';
import { type Context, requireSignedIn } from '../context.ts';
import { Violations } from '../errors.ts';
import type { FilterFields } from '../filters.ts';
import { groupingOf, refuseStatistics } from '../issues/issue-stats.ts';
import { type Period, type PeriodsInput, periodsInSlice } from './periods.ts';

/** In seconds; null where no issue has such a time. */
export interface Percentiles {
  median: number | null;
  p85: number | null;
  p95: number | null;
}

/** The numbers of issues that were created, started and closed in a period, and how long they took. */
export type TrendCounts = Pick<TrendRow, (typeof counts)[number]> & {
  cycleTime: Percentiles;
  leadTime: Percentiles;
};

export type TrendPeriod = IssueGroup & Pick<Period, 'startsOn' | 'endsOn'> & TrendCounts;

export interface IssueTrend {
  historySinceUtc: Date | null;
  periods: TrendPeriod[];
}

const counts = [
  'created',
  'started',
  'closed',
  'createdEstimate',
  'startedEstimate',
  'closedEstimate',
] as const;

interface IssueTrendInput extends PeriodsInput {
  filter?: Record<string, unknown> | null;
  groupBy: readonly StatsColumn[];
  first?: number | null;
}

/** What happened to the issues that match the filter in each period: once for each group, the busiest first. */
export async function issueTrend(
  ctx: Context,
  issues: { where: Predicate; fields: FilterFields },
  input: IssueTrendInput,
): Promise<IssueTrend> {
  const { db, bounds } = requireSignedIn(ctx);
  const violations = new Violations();
  const sizes = { default: defaultTrendGroups, max: maxTrendGroups };
  const { filter, columns, limit } = groupingOf(issues.fields, input, sizes, violations);
  const periods = await periodsInSlice(input, violations);
  const choice = { where: issues.where, filter };
  const rows =
    (await selectIssueTrend(db, choice, { periods, columns, limit }, bounds.statistics)) ??
    refuseStatistics(
      `Too many issues were created, started or closed in these periods to count them, and the filter does not lead to few: at most ${bounds.statistics} may be read. Count fewer issues by 'filter', bring 'from' and 'to' closer together, or ask for fewer statistics in one operation.`,
    );
  const byGroup = Map.groupBy(
    rows.filter(({ period }) => period !== null),
    (row) => JSON.stringify(columns.map((column) => row[column])),
  );
  const groups = (columns.length === 0 ? [rows] : [...byGroup.values()]).map(
    (group) => new Map(group.map((row) => [row.period, row])),
  );
  return {
    historySinceUtc: rows[0]?.historySinceUtc ?? null,
    periods: periods.flatMap((period, index) =>
      groups.map((group) => trendPeriod(period, columns, group, index + 1)),
    ),
  };
}

function trendPeriod(
  { startsOn, endsOn }: Period,
  columns: readonly StatsColumn[],
  group: ReadonlyMap<TrendRow['period'], TrendRow>,
  number: number,
): TrendPeriod {
  const [first] = group.values();
  const row = group.get(number);
  const counted = counts.map((name) => [name, row?.[name] ?? 0] as const);
  return {
    startsOn,
    endsOn,
    ...ungrouped,
    ...Object.fromEntries(columns.map((column) => [column, first?.[column] ?? null])),
    // The entries have each name of `counts`, which the compiler cannot see.
    ...(Object.fromEntries(counted) as Pick<TrendRow, (typeof counts)[number]>),
    cycleTime: percentiles(row?.cycleTime),
    leadTime: percentiles(row?.leadTime),
  };
}

/** The values of the fields that the issues were not grouped by. */
const ungrouped: IssueGroup = {
  statusId: null,
  statusCategory: null,
  teamId: null,
  projectId: null,
  deliveryId: null,
  primaryAssigneeUserAccountId: null,
  priority: null,
  labelId: null,
};

function percentiles(seconds: readonly number[] | null | undefined): Percentiles {
  const [median = null, p85 = null, p95 = null] = seconds ?? [];
  return { median, p85, p95 };
}
