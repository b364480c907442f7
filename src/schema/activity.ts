import type { Predicate } from '../db/query/conditions/predicate.ts';
import { type Entity, entity } from './builder/entity.ts';
import { Issue } from './issues.ts';
import { Member } from './members.ts';

/** The rows of a deleted issue, such as its comments, are not visible either. */
export const issueNotDeleted: Predicate = {
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
  description: 'An entry in the activity feed of an issue.',
  scope: 'issues:read',
  parentWhere: issueNotDeleted,
  orders: { SORT_ORDER: { column: 'sortOrder', kind: 'int', nullable: false, isUnique: true } },
  defaultOrder: { field: 'SORT_ORDER', direction: 'asc' },
  filter: (f) => ({
    id: f.id('activity'),
    eventType: f.text('eventType', 'lower'),
    actorUserAccountId: f.id('user', 'actorUserAccountId'),
    occurredUtc: f.time('occurredUtc'),
  }),
});

ActivityEntry.implement((t) => ({
  issueId: t.idOf('issue', 'issueId', { description: 'The issue that was acted on.' }),
  issue: t.reference(Issue, 'issueId', { description: 'The issue that was acted on.' }),
  eventType: t.exposeString('eventType', {
    description: 'The type of the event, such as `issue.updated.v1`.',
  }),
  actorUserAccountId: t.idOf('user', 'actorUserAccountId', { description: 'The account that did it.' }),
  actor: t.reference(Member, 'actorUserAccountId', {
    by: 'userAccountId',
    description: 'The member who did it.',
  }),
  occurredUtc: t.expose('occurredUtc', { type: 'DateTime', description: 'When it happened.' }),
  sortOrder: t.exposeInt('sortOrder', { description: 'Its position in the feed, from 1 without gaps.' }),
  iconCss: t.exposeString('iconCss', { description: 'The CSS class of its icon; empty if it has none.' }),
  text: t.exposeString('text', { description: 'The event as a line of text.' }),
}));
