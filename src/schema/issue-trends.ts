import {
  defaultTrendGroups,
  maxPeriods,
  maxStatsDimensions,
  maxTrendGroups,
} from '../model/statistics-limits.ts';
import type { IssueGroup, StatsColumn } from '../db/reads/statistics/issue-groups.ts';
import { type FlowPeriod, type IssueFlow, issueFlow } from '../resolvers/trends/issue-flow.ts';
import {
  type IssueTrend,
  issueTrend,
  type Percentiles,
  type TrendCounts,
} from '../resolvers/trends/issue-trend.ts';
import { countPeriods, type PeriodsInput } from '../resolvers/trends/periods.ts';
import { builder } from './builder/builder.ts';
import { needsOfFilter } from './builder/lists.ts';
import { groupFields, IssueStatsGroup, possibleGroups } from './issue-groups.ts';
import { Issue } from './issues.ts';
import { Team } from './teams.ts';
import { historyField, periodArguments, periodFields } from './periods.ts';

/** The resolver refuses an input with more periods, so the cost need not exceed the maximum. */
function rowsOfFlow(input: PeriodsInput): number {
  return Math.min(countPeriods(input), maxPeriods);
}

function rowsOfTrend({
  first,
  groupBy,
  ...input
}: PeriodsInput & { first?: number | null; groupBy: readonly StatsColumn[] }): number {
  const limit = Math.min(Math.max(first ?? defaultTrendGroups, 1), maxTrendGroups);
  return rowsOfFlow(input) * Math.min(limit, possibleGroups(groupBy));
}

const DurationPercentiles = builder.objectRef<Percentiles>('DurationPercentiles');
DurationPercentiles.implement({
  description: 'How long it took, in whole seconds. All are null where no issue was counted.',
  scope: 'inherited',
  fields: (t) => ({
    median: t.exposeInt('median', {
      nullable: true,
      description: 'Half of the issues took at most this long.',
    }),
    p85: t.exposeInt('p85', { nullable: true, description: '85 of 100 issues took at most this long.' }),
    p95: t.exposeInt('p95', { nullable: true, description: '95 of 100 issues took at most this long.' }),
  }),
});

const IssueTrendPeriod = builder.objectRef<IssueGroup & TrendCounts & { startsOn: string; endsOn: string }>(
  'IssueTrendPeriod',
);
IssueTrendPeriod.implement({
  description:
    'What happened to the issues of a group in a period. Fields that were not grouped by are null.',
  scope: 'inherited',
  fields: (t) => ({
    ...periodFields(t),
    ...groupFields(t),
    created: t.exposeInt('created', { description: 'The number of issues that were created.' }),
    started: t.exposeInt('started', {
      description: 'The number of issues that were in an active status for the first time.',
    }),
    closed: t.exposeInt('closed', {
      description: 'The number of issues that were closed, and have not been reopened since.',
    }),
    createdEstimate: t.exposeInt('createdEstimate', {
      description: 'The sum of the estimates of those that were created, at most 2,147,483,647.',
    }),
    startedEstimate: t.exposeInt('startedEstimate', {
      description: 'The sum of the estimates of those that were started, at most 2,147,483,647.',
    }),
    closedEstimate: t.exposeInt('closedEstimate', {
      description: 'The sum of the estimates of those that were closed, at most 2,147,483,647.',
    }),
    cycleTime: t.expose('cycleTime', {
      type: DurationPercentiles,
      description: 'The times from start to closing of the issues that were closed.',
    }),
    leadTime: t.expose('leadTime', {
      type: DurationPercentiles,
      description: 'The times from creation to closing of the issues that were closed.',
    }),
  }),
});

const IssueTrendRef = builder.objectRef<IssueTrend>('IssueTrend');
IssueTrendRef.implement({
  description: 'What happened to issues, period by period.',
  scope: 'inherited',
  fields: (t) => ({
    ...historyField(t),
    periods: t.expose('periods', {
      type: [IssueTrendPeriod],
      description: `The periods in chronological order, including those without an event; each once for each group, the groups with the most events first. There are at most ${maxPeriods} periods.`,
    }),
  }),
});

builder.queryField('issueTrend', (t) =>
  t.source({
    type: IssueTrendRef,
    scope: 'issues:read',
    extensions: {
      needsOfArguments: needsOfFilter(Issue),
      rows: rowsOfTrend,
      periods: true,
      readsLikePages: 8,
    },
    description:
      'How many issues were created, started and closed in each period that contains one of the days, and how long those that were closed took. Issues count with the values that they have today. Deleted issues do not count.',
    args: {
      ...periodArguments(t.arg),
      filter: t.arg({ type: Issue.filterInput(), description: 'The issues to count; all when omitted.' }),
      groupBy: t.arg({
        type: [IssueStatsGroup],
        required: true,
        defaultValue: [],
        description: `The fields to group by, at most ${maxStatsDimensions}.`,
      }),
      first: t.arg.int({
        defaultValue: defaultTrendGroups,
        description: `The number of groups, those with the most events in all periods, 1 to ${maxTrendGroups}; null means ${defaultTrendGroups}.`,
      }),
    },
    load: (ctx, args) => issueTrend(ctx, { where: Issue.where, fields: Issue.filterFields() }, args),
  }),
);

const IssueFlowPeriod = builder.objectRef<FlowPeriod>('IssueFlowPeriod');
IssueFlowPeriod.implement({
  description: 'How many issues there were at the end of a period, or are now if it has not ended.',
  scope: 'inherited',
  fields: (t) => ({
    ...periodFields(t),
    backlog: t.exposeInt('backlog', {
      description: 'The number of issues in a status of the category backlog.',
    }),
    open: t.exposeInt('open', {
      description:
        'The number of issues in a status of the category open, including issues of which it is only known that they were not closed.',
    }),
    active: t.exposeInt('active', {
      description: 'The number of issues in a status of the category active.',
    }),
    completed: t.exposeInt('completed', {
      description: 'The number of issues in a status of the category completed.',
    }),
    canceled: t.exposeInt('canceled', {
      description: 'The number of issues in a status of the category canceled.',
    }),
  }),
});

const IssueFlowRef = builder.objectRef<IssueFlow>('IssueFlow');
IssueFlowRef.implement({
  description: 'How many issues there were in each category, period by period.',
  scope: 'inherited',
  fields: (t) => ({
    ...historyField(t),
    periods: t.expose('periods', {
      type: [IssueFlowPeriod],
      description: `The periods in chronological order, up to the present one; at most ${maxPeriods}.`,
    }),
  }),
});

builder.queryField('issueFlow', (t) =>
  t.source({
    type: IssueFlowRef,
    scope: 'issues:read',
    extensions: {
      needsOfArguments: ({ team }: { team?: Record<string, unknown> | null }) => Team.filterNeeds(team ?? {}),
      rows: rowsOfFlow,
      readsLikePages: 20,
      periods: true,
    },
    description:
      'How many issues were in each category of statuses at the end of each period that contains one of the days: a cumulative flow diagram. An issue counts until it is deleted.',
    args: {
      ...periodArguments(t.arg),
      team: t.arg({
        type: Team.filterInput(),
        description: 'The teams whose issues are counted; all when omitted.',
      }),
    },
    load: (ctx, args) => issueFlow(ctx, { where: Team.where, fields: Team.filterFields() }, args),
  }),
);
