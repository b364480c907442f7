import type { StatsColumn } from '../db/reads/issue-stats.ts';
import { priority, statusCategory } from '../model/codes.ts';
import { issueStats, maxStatsDimensions, maxStatsGroups } from '../resolvers/issues/issue-stats.ts';
import { builder } from './builder/builder.ts';
import { Delivery } from './deliveries.ts';
import { Priority, StatusCategory } from './builder/enums.ts';
import { Issue } from './issues.ts';
import { Label } from './labels.ts';
import { filterScopes } from './builder/lists.ts';
import { Member } from './members.ts';
import { Project } from './projects.ts';
import { IssueStatus } from './statuses.ts';
import { Team } from './teams.ts';

const IssueStatsGroup = builder.enumType('IssueStatsGroup', {
  description: 'The fields that issues can be grouped by.',
  values: {
    STATUS: { value: 'statusId', description: 'By status.' },
    STATUS_CATEGORY: { value: 'statusCategory', description: 'By the category of their status.' },
    TEAM: { value: 'teamId', description: 'By team.' },
    PROJECT: { value: 'projectId', description: 'By project. Issues without a project form one group.' },
    DELIVERY: { value: 'deliveryId', description: 'By delivery. Issues without a delivery form one group.' },
    ASSIGNEE: {
      value: 'primaryAssigneeUserAccountId',
      description: 'By primary assignee. Issues without one form one group.',
    },
    PRIORITY: { value: 'priority', description: 'By priority.' },
    LABEL: {
      value: 'labelId',
      description:
        'By label. An issue counts under each of its labels; issues without a label form one group.',
    },
  } as const satisfies Record<string, { value: StatsColumn; description: string }>,
});

/** The number of possible groups of one column, for columns with a code table. */
const knownSizes: Partial<Record<StatsColumn, number>> = {
  priority: Object.keys(priority).length,
  statusCategory: Object.keys(statusCategory).length,
};

/** The maximum number of groups that are returned. */
function rowsOfStats({ first, groupBy }: { first?: number | null; groupBy: readonly StatsColumn[] }): number {
  let groups = 1;
  for (const column of new Set(groupBy)) groups *= knownSizes[column] ?? Infinity;
  return Math.min(Math.max(first ?? maxStatsGroups, 1), maxStatsGroups, groups);
}

interface Stats {
  statusId: string | null;
  statusCategory: number | null;
  teamId: string | null;
  projectId: string | null;
  deliveryId: string | null;
  primaryAssigneeUserAccountId: string | null;
  priority: number | null;
  labelId: string | null;
  count: number;
  estimateSum: number;
}

const IssueStats = builder.objectRef<Stats>('IssueStats');
IssueStats.implement({
  description: 'A group of issues with their number. Fields that were not grouped by are null.',
  fields: (t) => ({
    status: t.reference(IssueStatus, 'statusId', { nullable: true, description: 'Their status.' }),
    statusCategory: t.expose('statusCategory', {
      type: StatusCategory,
      nullable: true,
      description: 'The category of their status.',
    }),
    team: t.reference(Team, 'teamId', { nullable: true, description: 'Their team.' }),
    project: t.reference(Project, 'projectId', { nullable: true, description: 'Their project.' }),
    delivery: t.reference(Delivery, 'deliveryId', { nullable: true, description: 'Their delivery.' }),
    assignee: t.reference(Member, 'primaryAssigneeUserAccountId', {
      by: 'userAccountId',
      nullable: true,
      description: 'Their primary assignee.',
    }),
    priority: t.expose('priority', { type: Priority, nullable: true, description: 'Their priority.' }),
    label: t.reference(Label, 'labelId', { nullable: true, description: 'The label.' }),
    count: t.exposeInt('count', { description: 'The number of issues.' }),
    estimateSum: t.exposeInt('estimateSum', {
      description: 'The sum of their estimates, at most 2,147,483,647.',
    }),
  }),
});

builder.queryField('issueStats', (t) =>
  t.source({
    type: [IssueStats],
    scope: 'issues:read',
    extensions: { scopeOfArguments: filterScopes(Issue), rows: rowsOfStats },
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
