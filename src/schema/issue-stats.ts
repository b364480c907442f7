import { maxStatsDimensions, maxStatsGroups } from '../model/statistics-limits.ts';
import type { IssueGroup, StatsColumn } from '../db/reads/statistics/issue-groups.ts';
import { issueStats } from '../resolvers/issues/issue-stats.ts';
import { builder } from './builder/builder.ts';
import { needsOfFilter } from './builder/lists.ts';
import { groupFields, IssueStatsGroup, possibleGroups } from './issue-groups.ts';
import { Issue } from './issues.ts';

/** The maximum number of groups that are returned. */
function rowsOfStats({ first, groupBy }: { first?: number | null; groupBy: readonly StatsColumn[] }): number {
  return Math.min(Math.max(first ?? maxStatsGroups, 1), maxStatsGroups, possibleGroups(groupBy));
}

const IssueStats = builder.objectRef<IssueGroup & { count: number; estimateSum: number }>('IssueStats');
IssueStats.implement({
  description: 'A group of issues with their number. Fields that were not grouped by are null.',
  scope: 'inherited',
  fields: (t) => ({
    ...groupFields(t),
    count: t.exposeInt('count', { description: 'The number of issues.' }),
    estimateSum: t.exposeInt('estimateSum', {
      description: 'The sum of the estimates of the issues, at most 2,147,483,647.',
    }),
  }),
});

builder.queryField('issueStats', (t) =>
  t.source({
    type: [IssueStats],
    scope: 'issues:read',
    extensions: { needsOfArguments: needsOfFilter(Issue), rows: rowsOfStats, readsLikePages: 4 },
    description: `The number of issues and the sum of their estimates, by groups. The largest groups come first; groups of equal size are ordered by the ids and codes that they are grouped by.`,
    args: {
      filter: t.arg({ type: Issue.filterInput(), description: 'The issues to count; all when omitted.' }),
      groupBy: t.arg({
        type: [IssueStatsGroup],
        required: true,
        description: `The fields to group by, at most ${maxStatsDimensions}. An empty list gives one total.`,
      }),
      first: t.arg.int({
        defaultValue: maxStatsGroups,
        description: `The number of groups to return, 1 to ${maxStatsGroups}; null means ${maxStatsGroups}.`,
      }),
    },
    load: (ctx, args) => issueStats(ctx, { where: Issue.where, fields: Issue.filterFields() }, args),
  }),
);
