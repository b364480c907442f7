import {
  defaultTrendGroups,
  firstDay,
  maxPeriods,
  maxStatsDimensions,
  maxStatsGroups,
  maxTrendGroups,
} from '../../model/statistics-limits.ts';
import { dayMs } from '../../model/times.ts';
import { anyOf, equals } from '../comparators.ts';
import { issueFilter, issueFilters } from '../issue-filters.ts';
import {
  type IssueStatsGroup,
  StatsDocument,
  StatsFlowDocument,
  StatsTrendDocument,
  type TrendPeriodLength,
} from '../operations.generated.ts';
import { many, withDefault } from '../params.ts';
import { route } from '../route.ts';
import { issueFlowPeriod, issueGroup, issueTrendPeriod } from '../shapes/stats.ts';
import { tableFormat, tableOf } from '../table-reply.ts';
import { teamFilters, teamNames, teamVariables, unknownTeamViolations } from '../team-filters.ts';
import { date, integer, oneOf, text } from '../values.ts';

const groups: Readonly<Record<string, IssueStatsGroup>> = {
  status: 'STATUS',
  status_category: 'STATUS_CATEGORY',
  team: 'TEAM',
  project: 'PROJECT',
  delivery: 'DELIVERY',
  assignee: 'ASSIGNEE',
  priority: 'PRIORITY',
  label: 'LABEL',
};
const groupBy = many(oneOf<IssueStatsGroup>(groups, 'A column to group by.'), maxStatsDimensions);

const defaultDays = 90;

const periods = {
  every: withDefault(
    'week',
    oneOf<TrendPeriodLength>(
      { day: 'DAY', week: 'WEEK', month: 'MONTH' },
      `How long a period is; a week begins on Monday. There may be at most ${maxPeriods} periods.`,
    ),
  ),
  from: date(`The first day; by default ${defaultDays} days before the last.`),
  to: date('The last day; by default today, in UTC, or `from` if that is later.'),
  time_zone: withDefault(
    'UTC',
    text('The IANA time zone of the days, such as Europe/Berlin.', { minLength: 1 }),
  ),
};

/** The days of the parameters, or the last three months. */
function days({ from, to }: { from: string | undefined; to: string | undefined }) {
  const today = dateOf(Date.now());
  const last = to ?? (from !== undefined && from > today ? from : today);
  const first = Math.max(Date.parse(`${last}T00:00:00Z`) - defaultDays * dayMs, Date.parse(firstDay));
  return { from: from ?? dateOf(first), to: last };
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

const restNames = { ...teamNames, groupBy: 'group_by', first: 'first', timeZone: 'time_zone' } as const;

/** GET /v1/stats */
export const stats = route({
  method: 'GET',
  path: '/v1/stats',
  scope: 'issues:read',
  summary: 'Counts issues and sums their estimates, by groups; the largest groups come first.',
  parameters: {
    group_by: groupBy,
    first: withDefault(
      '100',
      integer('The maximum number of groups.', { minimum: 1, maximum: maxStatsGroups }),
    ),
    ...tableFormat,
    ...issueFilters,
  },
  operation: StatsDocument,
  variables: (p) => ({
    groupBy: p.group_by ?? [],
    first: p.first,
    filter: issueFilter(p),
    ...teamVariables(p),
  }),
  check: unknownTeamViolations,
  pick: ({ issueStats }) => ({ rows: issueStats }),
  reply: tableOf(issueGroup, { maxRows: maxStatsGroups, history: false }),
  restNames,
});

/** The limit is that of docs/limits.md, "Cost". */
const manyPeriods = 'Many periods of many groups are refused as `query_too_complex`.';

/** GET /v1/stats/trend */
export const statsTrend = route({
  method: 'GET',
  path: '/v1/stats/trend',
  scope: 'issues:read',
  summary: 'Counts the issues that were created, started and closed in each period, and how long they took.',
  parameters: {
    ...periods,
    group_by: groupBy,
    first: withDefault(
      String(defaultTrendGroups),
      integer(`The maximum number of groups: those with the most events. ${manyPeriods}`, {
        minimum: 1,
        maximum: maxTrendGroups,
      }),
    ),
    ...tableFormat,
    ...issueFilters,
  },
  operation: StatsTrendDocument,
  variables: (p) => ({
    every: p.every,
    ...days(p),
    timeZone: p.time_zone,
    groupBy: p.group_by ?? [],
    first: p.first,
    filter: issueFilter(p),
    ...teamVariables(p),
  }),
  check: unknownTeamViolations,
  pick: ({ issueTrend: { historySinceUtc, periods: rows } }) => ({ historySinceUtc, rows }),
  reply: tableOf(issueTrendPeriod, { maxRows: maxPeriods * maxTrendGroups, history: true }),
  restNames,
});

/** GET /v1/stats/flow */
export const statsFlow = route({
  method: 'GET',
  path: '/v1/stats/flow',
  scope: 'issues:read',
  summary: 'Counts the issues in each category of statuses at the end of each period, up to the present one.',
  parameters: { ...periods, ...tableFormat, ...teamFilters('Issues') },
  operation: StatsFlowDocument,
  variables: (p) => ({
    every: p.every,
    ...days(p),
    timeZone: p.time_zone,
    team: { code: equals(p.team_code), id: anyOf(p.team_id) },
    ...teamVariables(p),
  }),
  check: unknownTeamViolations,
  pick: ({ issueFlow: { historySinceUtc, periods: rows } }) => ({ historySinceUtc, rows }),
  reply: tableOf(issueFlowPeriod, { maxRows: maxPeriods, history: true }),
  restNames: { ...teamNames, timeZone: 'time_zone' },
});
