import { type FlowRow, selectIssueFlow } from '../../db/reads/statistics/issue-flow.ts';
import { statusCategory } from '../../model/codes.ts';
import type { Predicate } from '../../db/query/conditions/predicate.ts';
import { type Context, signedIn } from '../context.ts';
import { Violations } from '../errors.ts';
import { type FilterFields, filterPredicate } from '../filters.ts';
import { refuseStatistics } from '../issues/issue-stats.ts';
import { type Period, type PeriodsInput, periodsOf } from './periods.ts';

type Category = keyof typeof statusCategory;
const categories = Object.keys(statusCategory) as Category[];

export type FlowPeriod = Pick<Period, 'startsOn' | 'endsOn'> & Record<Category, number>;

export interface IssueFlow {
  historySinceUtc: Date | null;
  periods: FlowPeriod[];
}

/** The number of stages that may be counted instead of one issue, because stages are read from an index alone. */
const flowStages = 4;

interface IssueFlowInput extends PeriodsInput {
  team?: Record<string, unknown> | null;
}

/** How many issues of the teams there were in each category at the end of each period that has begun. */
export async function issueFlow(
  ctx: Context,
  teams: { where: Predicate; fields: FilterFields },
  input: IssueFlowInput,
): Promise<IssueFlow> {
  const { db, now, bounds } = signedIn(ctx);
  const violations = new Violations();
  const filter = filterPredicate(teams.fields, input.team ?? {}, violations, 'team');
  const periods = periodsOf(input, violations).filter(({ startUtc }) => startUtc <= now);
  const most = bounds.statistics * flowStages;
  const rows =
    (await selectIssueFlow(db, { all: [teams.where, filter] }, periods, most)) ??
    refuseStatistics(
      `Issues have changed more than ${most} times since the first of these periods. Choose a later day for 'from'.`,
    );
  return {
    historySinceUtc: rows[0]?.historySinceUtc ?? null,
    periods: periods.map(({ startsOn, endsOn }, index) => ({
      startsOn,
      endsOn,
      ...numbersAt(rows, index + 1),
    })),
  };
}

/**
 * The current numbers, without the issues that entered a category after the end of the period, and with those that left
 * it.
 */
function numbersAt(rows: readonly FlowRow[], number: number): Record<Category, number> {
  const numbers = categories.map((name) => [name, 0] as const);
  const at = Object.fromEntries(numbers) as Record<Category, number>;
  for (const { what, place, category, count } of rows) {
    const name = categories.find((known) => statusCategory[known] === category) ?? 'open';
    if (what === 'now') at[name] += count;
    else if (what === 'came' && place >= number) at[name] -= count;
    else if (what === 'went' && place >= number) at[name] += count;
  }
  return at;
}
