import { maxInt32 } from '../model/int32.ts';
import { Delivery } from './deliveries.ts';
import type { EntityFieldBuilder } from './builder/entity.ts';
import { storedOutputs } from './issue-fields.ts';
import { Member } from './members.ts';
import { Project } from './projects.ts';
import { IssueStatus } from './statuses.ts';
import { Team } from './teams.ts';

/** The fields of an issue that come from its own row, and the single objects that it refers to. */
export function issueRowFields(t: EntityFieldBuilder<'issue'>) {
  return {
    ...storedOutputs(t),
    number: t.exposeInt('number', {
      description: 'Its number within the team. Numbers have no gaps and are never reused.',
    }),
    teamId: t.idOf('team', 'teamId', { description: 'The team that the issue belongs to.' }),
    team: t.reference(Team, 'teamId', { description: 'The team that the issue belongs to.' }),
    reporterUserAccountId: t.idOf('user', 'reporterUserAccountId', {
      description: 'The account that reported the issue.',
    }),
    reporter: t.reference(Member, 'reporterUserAccountId', {
      by: 'userAccountId',
      description: 'The member who reported the issue.',
    }),
    status: t.reference(IssueStatus, 'statusId', { description: 'The status of the issue.' }),
    primaryAssigneeUserAccountId: t.idOf('user', 'primaryAssigneeUserAccountId', {
      nullable: true,
      description: 'The account of the primary assignee; null if there is none.',
    }),
    primaryAssignee: t.reference(Member, 'primaryAssigneeUserAccountId', {
      by: 'userAccountId',
      nullable: true,
      description: 'The primary assignee; null if there is none.',
    }),
    project: t.reference(Project, 'projectId', {
      nullable: true,
      description: 'The project that the issue belongs to.',
    }),
    delivery: t.reference(Delivery, 'deliveryId', {
      nullable: true,
      description: 'The delivery that the issue is planned for.',
    }),
    commentCount: t.exposeInt('commentCount', { description: 'The number of its comments.' }),
    subIssueCount: t.exposeInt('subIssueCount', { description: 'The number of its sub-issues.' }),
    linkCount: t.exposeInt('linkCount', { description: 'The number of its links.' }),
    createdUtc: t.expose('createdUtc', { type: 'DateTime', description: 'When it was created.' }),
    updatedUtc: t.expose('updatedUtc', {
      type: 'DateTime',
      description: 'When it was last updated; comments, links and messages do not count.',
    }),
    lastActivityUtc: t.expose('lastActivityUtc', {
      type: 'DateTime',
      nullable: true,
      description:
        'The time of the newest entry in the activity feed; null for an issue that was just created.',
    }),
    lastCommentUtc: t.expose('lastCommentUtc', {
      type: 'DateTime',
      nullable: true,
      description: 'The time of the newest comment that is not deleted; null if there is none.',
    }),
    startedUtc: t.expose('startedUtc', {
      type: 'DateTime',
      nullable: true,
      description:
        'When the issue first was in an active status; null if it never was, or if that was before its history is known.',
    }),
    closedUtc: t.expose('closedUtc', {
      type: 'DateTime',
      nullable: true,
      description: 'When the issue entered a terminal status; null while its status is not terminal.',
    }),
    cycleTimeSeconds: t.computed({
      type: 'Int',
      nullable: true,
      columns: ['startedUtc', 'closedUtc'],
      compute: ({ startedUtc, closedUtc }) => secondsBetween(startedUtc, closedUtc),
      description: 'The whole seconds from `startedUtc` to `closedUtc`; null while one of them is null.',
    }),
    leadTimeSeconds: t.computed({
      type: 'Int',
      nullable: true,
      columns: ['createdUtc', 'closedUtc'],
      compute: ({ createdUtc, closedUtc }) => secondsBetween(createdUtc, closedUtc),
      description: 'The whole seconds from `createdUtc` to `closedUtc`; null while the issue is not closed.',
    }),
    revision: t.exposeInt('revision', {
      description:
        'The number of changes so far, for optimistic locking (`expectedRevision`). Comments, links, attachments, sub-issues and agent messages do not change it.',
    }),
  };
}

/** Whole seconds; 0 where an imported issue was closed before it began. */
function secondsBetween(since: Date | null, until: Date | null): number | null {
  if (!since || !until) return null;
  return Math.min(Math.max(Math.floor((until.getTime() - since.getTime()) / 1_000), 0), maxInt32);
}
