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
  description: 'What issues can be counted by.',
  values: {
    STATUS: { value: 'statusId', description: 'By status.' },
    STATUS_CATEGORY: { value: 'statusCategory', description: 'By the category of their status.' },
    TEAM: { value: 'teamId', description: 'By team.' },
    PROJECT: { value: 'projectId', description: 'By project; those without one together.' },
    DELIVERY: { value: 'deliveryId', description: 'By delivery; those without one together.' },
    ASSIGNEE: {
      value: 'primaryAssigneeUserAccountId',
      description: 'By primary assignee; those without one together.',
    },
    PRIORITY: { value: 'priority', description: 'By priority.' },
    LABEL: {
      value: 'labelId',
      description: 'By label: an issue counts under each of its labels; those without one together.',
    },
  } as const satisfies Record<string, { value: StatsColumn; description: string }>,
});

/** How many groups there can be by one column, where the schema says it. */
const knownSizes: Partial<Record<StatsColumn, number>> = {
  priority: Object.keys(priority).length,
  statusCategory: Object.keys(statusCategory).length,
};

/** How many groups come back at most. */
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
  description: 'How many issues there are of one kind. What was not grouped by is null.',
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
    label: t.reference(Label, 'labelId', { nullable: true, description: 'A label of theirs.' }),
    count: t.exposeInt('count', { description: 'The number of issues.' }),
    estimateSum: t.exposeInt('estimateSum', {
      description: 'The sum of their estimates, 2,147,483,647 at most.',
    }),
  }),
});

builder.queryField('issueStats', (t) =>
  t.source({
    type: [IssueStats],
    scope: 'issues:read',
    extensions: { scopeOfArguments: filterScopes(Issue), rows: rowsOfStats },
    description: `Counts and sums of estimates for dashboards, in one statement: the largest groups first, those of equal size in the order of the ids and codes they are grouped by.`,
    args: {
      filter: t.arg({ type: Issue.filterInput(), description: 'Which issues; all when left out.' }),
      groupBy: t.arg({
        type: [IssueStatsGroup],
        required: true,
        description: `What to count by, ${maxStatsDimensions} at most; nothing gives one total.`,
      }),
      first: t.arg.int({
        defaultValue: maxStatsGroups,
        description: `How many groups, 1 to ${maxStatsGroups}; ${maxStatsGroups} when null.`,
      }),
    },
    load: (ctx, args) => issueStats(ctx, { where: Issue.where, fields: Issue.filterFields() }, args),
  }),
);
