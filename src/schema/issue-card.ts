import { Delivery } from './deliveries.ts';
import type { EntityFieldBuilder } from './builder/entity.ts';
import { storedOutputs } from './issue-fields.ts';
import { Member } from './members.ts';
import { Project } from './projects.ts';
import { IssueStatus } from './statuses.ts';
import { Team } from './teams.ts';

/** The fields of an issue that stand on its own row, and the single things that it refers to. */
export function issueCard(t: EntityFieldBuilder<'issue'>) {
  return {
    ...storedOutputs(t),
    number: t.exposeInt('number', {
      description: 'Its number within the team: gapless and never used twice.',
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
    status: t.reference(IssueStatus, 'statusId', { description: 'The status that it is in.' }),
    primaryAssigneeUserAccountId: t.idOf('user', 'primaryAssigneeUserAccountId', {
      nullable: true,
      description: 'The account that answers for it.',
    }),
    primaryAssignee: t.reference(Member, 'primaryAssigneeUserAccountId', {
      by: 'userAccountId',
      nullable: true,
      description: 'The member who answers for it.',
    }),
    project: t.reference(Project, 'projectId', {
      nullable: true,
      description: 'The project that it belongs to.',
    }),
    delivery: t.reference(Delivery, 'deliveryId', {
      nullable: true,
      description: 'The delivery that it is planned for.',
    }),
    commentCount: t.exposeInt('commentCount', { description: 'The number of its comments.' }),
    subIssueCount: t.exposeInt('subIssueCount', { description: 'The number of its sub-issues.' }),
    linkCount: t.exposeInt('linkCount', { description: 'The number of its links.' }),
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
