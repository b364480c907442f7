import { limits } from '../../schema/builder/limits.ts';
import type { CommentFieldsFragment } from '../operations.generated.ts';
import { boolean, id, richText, type Shape, shape, text, timestamp, url } from '../shape.ts';

/** The specification's Comment. */
export const comment: Shape<CommentFieldsFragment> = shape(
  'Comment',
  {
    id: id('comment', (comment) => comment.id),
    parentCommentId: id('comment', (comment) => comment.parentCommentId ?? ''),
    authorUserAccountId: id('user', (comment) => comment.authorUserAccountId),
    authorDisplayName: text(limits.name, (comment) => comment.author.displayName),
    authorAvatarUrl: url((comment) => comment.author.avatarUrl ?? ''),
    parentAuthorDisplayName: text(limits.name, (comment) => comment.parentAuthorDisplayName ?? ''),
    body: richText((comment) => comment.body),
    canManage: boolean((comment) => comment.canManage),
    isEdited: boolean((comment) => comment.isEdited),
    createdUtc: timestamp((comment) => comment.createdUtc),
    updatedUtc: timestamp((comment) => comment.updatedUtc),
  },
  (comment) => comment.revision,
);
