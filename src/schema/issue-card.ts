import { Delivery } from './deliveries.ts';
import type { EntityFieldBuilder } from './builder/entity.ts';
import { Priority } from './builder/enums.ts';
import { Member } from './members.ts';
import { Project } from './projects.ts';
import { IssueStatus } from './statuses.ts';
import { Team } from './teams.ts';

/** The fields of an issue that stand on its own row, and the single things that it refers to. */
export function issueCard(t: EntityFieldBuilder<'issue'>) {
  return {
    number: t.exposeInt('number', {
      description: 'Its number within the team: gapless and never used twice.',
    }),
    title: t.exposeString('title', { description: 'What it is about, 1 to 255 characters.' }),
    description: t.exposeString('description', {
      description: 'The whole of it, as plain text; empty when nothing is said.',
    }),
    teamId: t.idOf('team', 'teamId', { description: 'The team that owns it.' }),
    team: t.reference(Team, 'teamId', { description: 'The team that owns it.' }),
    reporterUserAccountId: t.idOf('user', 'reporterUserAccountId', {
      description: 'The account that reported it.',
    }),
    reporter: t.reference(Member, 'reporterUserAccountId', {
      by: 'userAccountId',
      description: 'The member who reported it.',
    }),
    statusId: t.idOf('status', 'statusId', { description: 'The status that it is in.' }),
    status: t.reference(IssueStatus, 'statusId', { description: 'The status that it is in.' }),
    priority: t.expose('priority', { type: Priority, description: 'How urgent it is.' }),
    primaryAssigneeUserAccountId: t.idOf('user', 'primaryAssigneeUserAccountId', {
      nullable: true,
      description: 'The account that answers for it.',
    }),
    primaryAssignee: t.reference(Member, 'primaryAssigneeUserAccountId', {
      by: 'userAccountId',
      nullable: true,
      description: 'The member who answers for it.',
    }),
    projectId: t.idOf('project', 'projectId', {
      nullable: true,
      description: 'The project that it belongs to.',
    }),
    project: t.reference(Project, 'projectId', {
      nullable: true,
      description: 'The project that it belongs to.',
    }),
    deliveryId: t.idOf('delivery', 'deliveryId', {
      nullable: true,
      description: 'The delivery that it is planned for.',
    }),
    delivery: t.reference(Delivery, 'deliveryId', {
      nullable: true,
      description: 'The delivery that it is planned for.',
    }),
    commentCount: t.exposeInt('commentCount', { description: 'The number of its comments.' }),
    subIssueCount: t.exposeInt('subIssueCount', { description: 'The number of its sub-issues.' }),
    linkCount: t.exposeInt('linkCount', { description: 'The number of its links.' }),
    estimateValue: t.exposeInt('estimateValue', {
      nullable: true,
      description: 'How much work it is, in the points of the team.',
    }),
    dueDate: t.expose('dueDate', {
      type: 'Date',
      nullable: true,
      description: 'The day by which it is to be done.',
    }),
    createdUtc: t.expose('createdUtc', { type: 'DateTime', description: 'When it was made.' }),
    updatedUtc: t.expose('updatedUtc', {
      type: 'DateTime',
      description: 'When it was last updated; comments, links and messages do not count.',
    }),
    lastActivityUtc: t.expose('lastActivityUtc', {
      type: 'DateTime',
      nullable: true,
      description: 'The time of the newest entry of its feed; null right after creation.',
    }),
    lastCommentUtc: t.expose('lastCommentUtc', {
      type: 'DateTime',
      nullable: true,
      description: 'The time of its newest living comment.',
    }),
    closedUtc: t.expose('closedUtc', {
      type: 'DateTime',
      nullable: true,
      description: 'When it came to a terminal status; null when it is in none.',
    }),
    revision: t.exposeInt('revision', {
      description:
        'Counts its changes: what optimistic locking compares. Comments, links, attachments, sub-issues and messages do not count.',
    }),
  };
}
