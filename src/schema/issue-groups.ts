import type { IssueGroup, StatsColumn } from '../db/reads/statistics/issue-groups.ts';
import { priority, statusCategory } from '../model/codes.ts';
import { builder, type Types } from './builder/builder.ts';
import { Priority, StatusCategory } from './builder/enums.ts';
import { Delivery } from './deliveries.ts';
import { Label } from './labels.ts';
import { Member } from './members.ts';
import { Project } from './projects.ts';
import { IssueStatus } from './statuses.ts';
import { Team } from './teams.ts';

export const IssueStatsGroup = builder.enumType('IssueStatsGroup', {
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

/** The maximum number of groups; infinite if a column has no code table. */
export function possibleGroups(groupBy: readonly StatsColumn[]): number {
  return [...new Set(groupBy)].reduce((groups, column) => groups * (knownSizes[column] ?? Infinity), 1);
}

/** The fields that identify a group. */
export function groupFields(t: PothosSchemaTypes.ObjectFieldBuilder<Types, IssueGroup>) {
  return {
    status: t.reference(IssueStatus, 'statusId', {
      nullable: true,
      description: 'The status of the issues.',
    }),
    statusCategory: t.expose('statusCategory', {
      type: StatusCategory,
      nullable: true,
      description: 'The category of the status of the issues.',
    }),
    team: t.reference(Team, 'teamId', { nullable: true, description: 'The team of the issues.' }),
    project: t.reference(Project, 'projectId', { nullable: true, description: 'The project of the issues.' }),
    delivery: t.reference(Delivery, 'deliveryId', {
      nullable: true,
      description: 'The delivery of the issues.',
    }),
    assignee: t.reference(Member, 'primaryAssigneeUserAccountId', {
      by: 'userAccountId',
      nullable: true,
      description: 'The primary assignee of the issues.',
    }),
    priority: t.expose('priority', {
      type: Priority,
      nullable: true,
      description: 'The priority of the issues.',
    }),
    label: t.reference(Label, 'labelId', { nullable: true, description: 'The label.' }),
  };
}
