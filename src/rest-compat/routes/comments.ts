import { limits } from '../../model/limits.ts';
import { bodyOf, required } from '../body.ts';
import { equals } from '../comparators.ts';
import {
  CommentCreateDocument,
  CommentDeleteDocument,
  CommentDocument,
  type CommentOrderField,
  CommentsDocument,
  CommentUpdateDocument,
} from '../operations.generated.ts';
import { direction, ifMatch, page, pathId, sortBy } from '../params.ts';
import { createdAt, item, list, noContent } from '../replies.ts';
import { route } from '../route.ts';
import { comment } from '../shapes/comments.ts';
import { id, text } from '../values.ts';
import { issueKey } from './issue-key.ts';

const commentId = pathId('comment', 'comment', 'The id of the comment.');
const commentBody = text('The text of the comment, as plain text.', {
  minLength: 1,
  maxLength: limits.comment,
});

/** GET /v1/issues/{issueKey}/comments */
export const comments = route({
  method: 'GET',
  path: '/v1/issues/{issueKey}/comments',
  scope: 'issues:read',
  summary: 'Lists the comments of an issue, including replies.',
  parameters: {
    issueKey,
    ...page,
    parent_comment_id: id('comment', 'Replies to this comment.'),
    sort: sortBy<CommentOrderField>('created', { created: 'CREATED' }),
    direction,
  },
  operation: CommentsDocument,
  variables: (p) => ({
    key: p.issueKey,
    first: p.page_size,
    after: p.cursor,
    filter: { parentCommentId: equals(p.parent_comment_id) },
    orderBy: { field: p.sort, direction: p.direction },
  }),
  pick: 'issue.comments',
  reply: list(comment),
});

/** GET /v1/issues/{issueKey}/comments/{commentId} */
export const commentById = route({
  method: 'GET',
  path: '/v1/issues/{issueKey}/comments/{commentId}',
  scope: 'issues:read',
  summary: 'Reads a comment of an issue.',
  parameters: { issueKey, commentId },
  operation: CommentDocument,
  variables: (p) => ({ key: p.issueKey, id: p.commentId }),
  pick: 'issue.comments.nodes.0',
  reply: item(comment),
});

/** POST /v1/issues/{issueKey}/comments */
export const commentCreate = route({
  method: 'POST',
  path: '/v1/issues/{issueKey}/comments',
  scope: 'issues:write',
  summary: 'Creates a comment on an issue, or a reply to a comment.',
  parameters: { issueKey },
  body: bodyOf({
    parentCommentId: id('comment', 'The comment of the same issue that this one replies to.'),
    body: required(commentBody),
  }),
  operation: CommentCreateDocument,
  variables: ({ issueKey }, fields) => ({ input: { issueKey, ...fields } }),
  pick: 'commentCreate.comment',
  reply: createdAt(comment, { path: '/v1/issues/{issueKey}/comments/{commentId}', parameterValuePath: 'id' }),
});

/** PATCH /v1/issues/{issueKey}/comments/{commentId} */
export const commentUpdate = route({
  method: 'PATCH',
  path: '/v1/issues/{issueKey}/comments/{commentId}',
  scope: 'issues:write',
  summary: 'Changes the text of a comment. Only its author, owners and admins may do so.',
  parameters: { issueKey, commentId, ...ifMatch },
  body: bodyOf({ body: required(commentBody) }),
  operation: CommentUpdateDocument,
  variables: (p, { body }) => ({
    input: { issueKey: p.issueKey, id: p.commentId, expectedRevision: p['If-Match'], body },
  }),
  pick: 'commentUpdate.comment',
  reply: item(comment),
});

/** DELETE /v1/issues/{issueKey}/comments/{commentId} */
export const commentDelete = route({
  method: 'DELETE',
  path: '/v1/issues/{issueKey}/comments/{commentId}',
  scope: 'issues:write',
  summary: 'Deletes a comment. Its replies stay. Only its author, owners and admins may do so.',
  parameters: { issueKey, commentId, ...ifMatch },
  operation: CommentDeleteDocument,
  variables: (p) => ({
    input: { issueKey: p.issueKey, id: p.commentId, expectedRevision: p['If-Match'] },
  }),
  pick: 'commentDelete',
  reply: noContent(),
});
