import type { StatsColumn } from '../../db/reads/issue-groups.ts';
import { type IssueStatsRow, selectIssueStats } from '../../db/reads/issue-stats.ts';
import type { Predicate } from '../../db/query/predicate.ts';
import { type Context, signedIn } from '../context.ts';
import { Violations } from '../errors.ts';
import { type FilterFields, filterPredicate } from '../filters.ts';

export const maxStatsDimensions = 3;
export const maxStatsGroups = 1000;

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
  const { db } = signedIn(ctx);
  const violations = new Violations();
  const columns = [...new Set(input.groupBy)];
  violations.that(
    columns.length <= maxStatsDimensions,
    'groupBy',
    `takes ${maxStatsDimensions} columns at most`,
  );
  const limit = input.first ?? maxStatsGroups;
  violations.that(limit >= 1 && limit <= maxStatsGroups, 'first', `must be from 1 to ${maxStatsGroups}`);
  const filter = filterPredicate(issues.fields, input.filter ?? {}, violations);
  violations.check('invalid_request');
  return selectIssueStats(db, { all: [issues.where, filter] }, columns, limit);
}
