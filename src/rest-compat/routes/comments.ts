import { creation, required } from '../body.ts';
import { CommentCreateDocument, type CommentOrderField, CommentsDocument } from '../operations.generated.ts';
import { direction, key, page, withDefault } from '../params.ts';
import { created, list } from '../reply.ts';
import { route } from '../route.ts';
import { comment } from '../shapes/comments.ts';
import { id, oneOf, text } from '../values.ts';

const issueKey = key('issue', 'The key of the issue, in any case, such as ENG-42.');

/** GET /v1/issues/{issueKey}/comments */
export const comments = route({
  method: 'GET',
  path: '/v1/issues/{issueKey}/comments',
  scope: 'issues:read',
  summary: 'Lists the comments of an issue, replies included.',
  parameters: {
    issueKey,
    ...page,
    parent_comment_id: id('comment', 'Replies to this comment.'),
    sort: withDefault('created', oneOf<CommentOrderField>({ created: 'CREATED' }, 'What to sort by.')),
    direction,
  },
  operation: CommentsDocument,
  variables: (p) => ({
    key: p.issueKey,
    first: p.page_size,
    after: p.cursor,
    filter: { parentCommentId: p.parent_comment_id === undefined ? undefined : { eq: p.parent_comment_id } },
    orderBy: { field: p.sort, direction: p.direction },
  }),
  pick: (data) => data.issue?.comments,
  reply: list(comment),
});

/** POST /v1/issues/{issueKey}/comments */
export const commentCreate = route({
  method: 'POST',
  path: '/v1/issues/{issueKey}/comments',
  scope: 'issues:write',
  summary: 'Writes a comment on an issue, perhaps in reply to another.',
  parameters: { issueKey },
  body: creation({
    parentCommentId: id('comment', 'The comment of the same issue that it replies to.'),
    body: required(text('What it says, as plain text.', { minLength: 1, maxLength: 50_000 })),
  }),
  operation: CommentCreateDocument,
  variables: ({ issueKey }, fields) => ({ input: { issueKey, ...fields } }),
  pick: (data) => data.commentCreate.comment,
  reply: created(comment),
});
