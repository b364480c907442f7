import { maxStatsDimensions, maxStatsGroups } from '../../model/statistics-limits.ts';
import { wholeNumberRule } from '../../model/sentences.ts';
import type { StatsColumn } from '../../db/reads/statistics/issue-groups.ts';
import { type IssueStatsRow, selectIssueStats } from '../../db/reads/statistics/issue-stats.ts';
import type { Predicate } from '../../db/query/conditions/predicate.ts';
import { type Context, requireSignedIn } from '../context.ts';
import { AppError, Violations } from '../errors.ts';
import { type FilterFields, filterPredicate } from '../filters.ts';

/** Counts the issues that match the filter, grouped by up to three columns; gives the `first` largest groups. */
export async function issueStats(
  ctx: Context,
  issues: { where: Predicate; fields: FilterFields },
  input: {
    filter?: Record<string, unknown> | null;
    groupBy: readonly StatsColumn[];
    first?: number | null;
  },
): Promise<IssueStatsRow[]> {
  const { db, bounds } = requireSignedIn(ctx);
  const violations = new Violations();
  const sizes = { default: maxStatsGroups, max: maxStatsGroups };
  const { filter, columns, limit } = groupingOf(issues.fields, input, sizes, violations);
  violations.throwIfAny('invalid_request');
  const choice = { where: issues.where, filter };
  const maxIssues = bounds.statistics;
  const rows = await selectIssueStats(db, choice, columns, { limit, maxIssues });
  return (
    rows ??
    refuseStatistics(
      `These groups are counted issue by issue, and more than ${maxIssues} would have to be read. Count fewer issues by 'filter', or ask for fewer statistics in one operation; or group by STATUS, STATUS_CATEGORY and TEAM with one of PRIORITY, ASSIGNEE, LABEL, PROJECT and DELIVERY, and filter by these only, since their counts are stored.`,
    )
  );
}

/** Refuses statistics that would have to read too much. */
export function refuseStatistics(message: string): never {
  throw new AppError('query_too_complex', message);
}

/**
 * Reads the filter, the columns and the number of groups from the arguments. Adds a violation for each invalid
 * argument.
 */
export function groupingOf(
  fields: FilterFields,
  input: {
    filter?: Record<string, unknown> | null;
    groupBy: readonly StatsColumn[];
    first?: number | null;
  },
  sizes: { default: number; max: number },
  violations: Violations,
): { filter: Predicate; columns: StatsColumn[]; limit: number } {
  const columns = [...new Set(input.groupBy)];
  violations.addUnless(
    columns.length <= maxStatsDimensions,
    'groupBy',
    `takes ${maxStatsDimensions} columns at most`,
  );
  const limit = input.first ?? sizes.default;
  violations.addUnless(limit >= 1 && limit <= sizes.max, 'first', wholeNumberRule(1, sizes.max));
  const filter = filterPredicate(fields, input.filter ?? {}, violations);
  return { filter, columns, limit };
}
