import type { Predicate } from '../db/query/predicate.ts';
import { type Entity, entity } from './builder/entity.ts';
import { Issue } from './issues.ts';
import { Member } from './members.ts';

/** What hangs on an issue is gone with it. */
export const livingIssue: Predicate = {
  column: 'issueId',
  references: 'issue',
  by: 'id',
  where: { column: 'deletedUtc', isNull: true },
};

export const ActivityEntry: Entity<'activity'> = entity('ActivityEntry', {
  table: 'activity',
  prefix: 'activity',
  singular: 'activity entry',
  plural: 'activity entries',
  description: 'Something that happened to an issue.',
  scope: 'issues:read',
  within: livingIssue,
  orders: { SORT_ORDER: { column: 'sortOrder', kind: 'int', nullable: false } },
  defaultOrder: { field: 'SORT_ORDER', direction: 'asc' },
  filter: (f) => ({
    id: f.id('activity'),
    eventType: f.text('eventType', 'lower'),
    actorUserAccountId: f.id('user', 'actorUserAccountId'),
    occurredUtc: f.time('occurredUtc'),
  }),
});

ActivityEntry.implement((t) => ({
  issueId: t.idOf('issue', 'issueId', { description: 'The issue that it happened to.' }),
  issue: t.reference(Issue, 'issueId', { description: 'The issue that it happened to.' }),
  eventType: t.exposeString('eventType', {
    description: 'What kind of event it is, such as `issue.updated.v1`.',
  }),
  actorUserAccountId: t.idOf('user', 'actorUserAccountId', { description: 'The account that did it.' }),
  actor: t.reference(Member, 'actorUserAccountId', {
    by: 'userAccountId',
    description: 'The member who did it.',
  }),
  occurredUtc: t.expose('occurredUtc', { type: 'DateTime', description: 'When it happened.' }),
  sortOrder: t.exposeInt('sortOrder', { description: 'Its place in the feed: gapless from 1.' }),
  iconCss: t.exposeString('iconCss', { description: 'The CSS class of its icon; empty when none.' }),
  text: t.exposeString('text', { description: 'The event in a line that people read.' }),
}));
