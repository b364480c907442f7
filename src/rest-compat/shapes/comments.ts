import type { CommentFieldsFragment } from '../operations.generated.ts';
import { boolean, richText, type Shape, shape, text, timestamp } from '../shape.ts';

/** The specification's Comment. */
export const comment: Shape<CommentFieldsFragment> = shape(
  'Comment',
  {
    id: text((comment) => comment.id),
    parentCommentId: text((comment) => comment.parentCommentId ?? ''),
    authorUserAccountId: text((comment) => comment.authorUserAccountId),
    authorDisplayName: text((comment) => comment.author.displayName),
    authorAvatarUrl: text((comment) => comment.author.avatarUrl ?? ''),
    parentAuthorDisplayName: text((comment) => comment.parentAuthorDisplayName ?? ''),
    body: richText((comment) => comment.body),
    canManage: boolean((comment) => comment.canManage),
    isEdited: boolean((comment) => comment.isEdited),
    createdUtc: timestamp((comment) => comment.createdUtc),
    updatedUtc: timestamp((comment) => comment.updatedUtc),
  },
  (comment) => comment.revision,
);
