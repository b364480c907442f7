import { type FlowRow, selectIssueFlow } from '../../db/reads/statistics/issue-flow.ts';
import { statusCategory } from '../../model/codes.ts';
import type { Predicate } from '../../db/query/conditions/predicate.ts';
import { type Context, requireSignedIn } from '../context.ts';
import { Violations } from '../errors.ts';
import { type FilterFields, filterPredicate } from '../filters.ts';
import { refuseStatistics } from '../issues/issue-stats.ts';
import { type Period, type PeriodsInput, periodsInSlice } from './periods.ts';

type Category = keyof typeof statusCategory;
const categories = Object.keys(statusCategory) as Category[];
const categoryNames = new Map<number | null, Category>(
  categories.map((name) => [statusCategory[name], name]),
);

export type FlowPeriod = Pick<Period, 'startsOn' | 'endsOn'> & Record<Category, number>;

export interface IssueFlow {
  historySinceUtc: Date | null;
  periods: FlowPeriod[];
}

/** The number of stages that may be counted instead of one issue, because stages are read from an index alone. */
const stagesPerIssue = 4;

interface IssueFlowInput extends PeriodsInput {
  team?: Record<string, unknown> | null;
}

/** How many issues of the teams there were in each category at the end of each period that has begun. */
export async function issueFlow(
  ctx: Context,
  teams: { where: Predicate; fields: FilterFields },
  input: IssueFlowInput,
): Promise<IssueFlow> {
  const { db, now, bounds } = requireSignedIn(ctx);
  const violations = new Violations();
  const filter = filterPredicate(teams.fields, input.team ?? {}, violations, 'team');
  const all = await periodsInSlice(input, violations);
  const periods = all.filter(({ startUtc }) => startUtc <= now);
  const maxStages = bounds.statistics * stagesPerIssue;
  const rows =
    (await selectIssueFlow(db, { all: [teams.where, filter] }, periods, maxStages)) ??
    refuseStatistics(
      `Issues have changed more than ${maxStages} times since the first of these periods. Choose a later day for 'from', or ask for fewer statistics in one operation.`,
    );
  return {
    historySinceUtc: rows[0]?.historySinceUtc ?? null,
    periods: countsAtEnds(rows, periods),
  };
}

/**
 * The numbers at the end of each period. They follow from the current ones, backward: at an end, the issues that
 * entered a category later were not yet in it, and those that left it later still were.
 */
function countsAtEnds(
  rows: readonly FlowRow[],
  periods: readonly Pick<Period, 'startsOn' | 'endsOn'>[],
): FlowPeriod[] {
  const counts = noIssues();
  const changes = periods.map(noIssues);
  for (const { measure, endedPeriods, category, count } of rows) {
    const name = categoryNames.get(category) ?? 'open';
    if (measure === 'current') counts[name] += count;
    // What happened before the end of the first period affects none of the results.
    const change = changes[endedPeriods - 1];
    if (change && measure === 'entered') change[name] -= count;
    if (change && measure === 'left') change[name] += count;
  }
  const flow: FlowPeriod[] = [];
  for (const [index, { startsOn, endsOn }] of [...periods.entries()].reverse()) {
    for (const name of categories) counts[name] += changes[index]?.[name] ?? 0;
    flow.push({ startsOn, endsOn, ...counts });
  }
  return flow.reverse();
}

function noIssues(): Record<Category, number> {
  return Object.fromEntries(categories.map((name) => [name, 0])) as Record<Category, number>;
}
