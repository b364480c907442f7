import { mayManage } from '../resolvers/writes/write-access.ts';
import { issueNotDeleted } from './activity.ts';
import { type Entity, entity } from './builder/entity.ts';
import { via } from './builder/references.ts';
import { Issue } from './issues.ts';
import { Member } from './members.ts';

export const Comment: Entity<'comment'> = entity('Comment', {
  table: 'comment',
  prefix: 'comment',
  singular: 'comment',
  plural: 'comments',
  description: 'A comment on an issue. It may reply to another comment.',
  scope: 'issues:read',
  fieldScope: ['issues:read', 'issues:write'],
  where: { column: 'deletedUtc', isNull: true },
  parentWhere: issueNotDeleted,
  orders: { CREATED: { column: 'createdUtc', kind: 'time', nullable: false } },
  defaultOrder: { field: 'CREATED', direction: 'asc' },
  filter: (f) => ({
    id: f.id('comment'),
    parentCommentId: f.id('comment', 'parentCommentId'),
    authorUserAccountId: f.id('user', 'authorUserAccountId'),
    author: f.reference(Member, 'authorUserAccountId', 'userAccountId'),
    createdUtc: f.time('createdUtc'),
    updatedUtc: f.time('updatedUtc'),
  }),
});

Comment.implement((t) => ({
  issueId: t.idOf('issue', 'issueId', { description: 'The issue that the comment is on.' }),
  issue: t.reference(Issue, 'issueId', {
    scope: 'issues:read',
    description: 'The issue that the comment is on.',
  }),
  parentCommentId: t.idOf('comment', 'parentCommentId', {
    nullable: true,
    description: 'The id of the comment that this one replies to, even if that comment is deleted.',
  }),
  parent: t.reference(Comment, 'parentCommentId', {
    nullable: true,
    scope: 'issues:read',
    description: 'The comment that this one replies to; null if that comment is deleted.',
  }),
  parentAuthorDisplayName: t.computed({
    type: 'String',
    nullable: true,
    columns: [],
    references: {
      author: via(Member, 'parentAuthorUserAccountId', ['displayName'], { by: 'userAccountId' }),
    },
    compute: (_comment, { author }) => author?.displayName,
    description:
      'The display name of the author of the comment that this one replies to, even if that comment is deleted.',
  }),
  authorUserAccountId: t.idOf('user', 'authorUserAccountId', { description: 'The account that wrote it.' }),
  author: t.reference(Member, 'authorUserAccountId', {
    by: 'userAccountId',
    description: 'The member who wrote it.',
  }),
  body: t.expose('body', { type: 'RichText', description: 'The body as rich text.' }),
  bodyText: t.exposeString('body', { description: 'The body as plain text.' }),
  canManage: t.computedForViewer({
    type: 'Boolean',
    columns: ['authorUserAccountId'],
    compute: ({ authorUserAccountId }, _references, { principal }) =>
      mayManage(principal, authorUserAccountId),
    description: 'Whether the viewer may change and delete the comment. Its author, owners and admins may.',
  }),
  isEdited: t.exposeBoolean('isEdited', {
    description: 'Whether the comment was changed after it was written.',
  }),
  createdUtc: t.expose('createdUtc', { type: 'DateTime', description: 'When it was written.' }),
  updatedUtc: t.expose('updatedUtc', { type: 'DateTime', description: 'When it was last changed.' }),
  revision: t.exposeInt('revision', {
    description: 'The number of changes so far, for optimistic locking (`expectedRevision`).',
  }),
  replies: t.children(Comment, { key: 'parentCommentId', description: 'The replies to this comment.' }),
}));
