import { limits } from '../../model/limits.ts';
import type { CommentFieldsFragment } from '../operations.generated.ts';
import { boolean, id, richText, type Shape, shape, text, timestamp, url } from '../shape.ts';

/** The specification's Comment. */
export const comment: Shape<CommentFieldsFragment> = shape(
  'Comment',
  {
    id: id('comment', 'id'),
    parentCommentId: id('comment', 'parentCommentId', { ifNull: '' }),
    authorUserAccountId: id('user', 'authorUserAccountId'),
    authorDisplayName: text(limits.name, 'author.displayName'),
    authorAvatarUrl: url('author.avatarUrl', { ifNull: '' }),
    parentAuthorDisplayName: text(limits.name, 'parentAuthorDisplayName', { ifNull: '' }),
    body: richText('body'),
    canManage: boolean('canManage'),
    isEdited: boolean('isEdited'),
    createdUtc: timestamp('createdUtc'),
    updatedUtc: timestamp('updatedUtc'),
  },
  'revision',
);
