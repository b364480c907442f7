import { issueNotDeleted } from './activity.ts';
import { type Entity, entity } from './builder/entity.ts';
import { Issue } from './issues.ts';
import { Member } from './members.ts';

export const IssueLink: Entity<'issueLink'> = entity('IssueLink', {
  table: 'issueLink',
  prefix: 'link',
  singular: 'link',
  plural: 'links',
  description: 'A link from an issue to another page. An issue has at most one link to the same URL.',
  scope: 'issues:read',
  fieldScope: ['issues:read', 'issues:write'],
  where: { column: 'deletedUtc', isNull: true },
  parentWhere: issueNotDeleted,
  orders: { CREATED: { column: 'createdUtc', kind: 'time', nullable: false } },
  defaultOrder: { field: 'CREATED', direction: 'asc' },
  filter: (f) => ({ id: f.id('link'), createdUtc: f.time('createdUtc') }),
});

IssueLink.implement((t) => ({
  issueId: t.idOf('issue', 'issueId', { description: 'The issue of the link.' }),
  issue: t.reference(Issue, 'issueId', { scope: 'issues:read', description: 'The issue of the link.' }),
  url: t.expose('url', { type: 'URL', description: 'The URL that the link points to.' }),
  title: t.exposeString('title', { description: 'The title of the link.' }),
  createdUtc: t.expose('createdUtc', { type: 'DateTime', description: 'When it was added.' }),
  createdByUserAccountId: t.idOf('user', 'createdByUserAccountId', {
    description: 'The account that added it.',
  }),
  createdBy: t.reference(Member, 'createdByUserAccountId', {
    by: 'userAccountId',
    description: 'The member who added it.',
  }),
  revision: t.exposeInt('revision', {
    description: 'The number of changes so far, for optimistic locking (`expectedRevision`).',
  }),
}));
