import type { IssueRow } from '../db/issues.ts';
import { updateComment, type WrittenComment, createComment, deleteComment } from '../resolvers/comments.ts';
import { mutation } from './builder/mutation.ts';
import { builder } from './builder/builder.ts';
import { Comment } from './comments.ts';
import { expectedIssueKey, issueKey } from './issue-key.ts';
import { Issue } from './issues.ts';
import { naming } from './builder/naming.ts';
import { expectedRevision } from './builder/revisions.ts';

const CommentCreateInput = builder.inputType('CommentCreateInput', {
  description: 'The comment to write.',
  fields: (t) => ({
    issueKey: issueKey(t),
    parentCommentId: t.id({
      extensions: naming('id', 'comment'),
      description: 'The comment to reply to. It must be on the same issue.',
    }),
    body: t.string({
      required: true,
      description: 'The body as plain text, 1 to 50,000 characters, not only white space.',
    }),
  }),
});

const CommentUpdateInput = builder.inputType('CommentUpdateInput', {
  description: 'The comment to update, and its new body.',
  fields: (t) => ({
    id: t.id({
      required: true,
      extensions: naming('id', 'comment'),
      description: 'The id of the comment (`comment_…`).',
    }),
    issueKey: expectedIssueKey(t),
    expectedRevision: expectedRevision(t),
    body: t.string({
      required: true,
      description: 'The new body as plain text, 1 to 50,000 characters, not only white space.',
    }),
  }),
});

const CommentDeleteInput = builder.inputType('CommentDeleteInput', {
  description: 'The comment to delete.',
  fields: (t) => ({
    id: t.id({
      required: true,
      extensions: naming('id', 'comment'),
      description: 'The id of the comment (`comment_…`).',
    }),
    issueKey: expectedIssueKey(t),
    expectedRevision: expectedRevision(t),
  }),
});

function commentPayload(name: string, description: string) {
  return builder.objectRef<WrittenComment>(name).implement({
    description,
    scope: 'inherited',
    fields: (t) => ({
      comment: t.expose('comment', { type: Comment.ref, description: 'The comment, after the change.' }),
      issue: t.expose('issue', { type: Issue.ref, description: 'The issue, after the change.' }),
    }),
  });
}

const CommentCreatePayload = commentPayload('CommentCreatePayload', 'The result of writing the comment.');
const CommentUpdatePayload = commentPayload('CommentUpdatePayload', 'The result of the update.');

const CommentDeletePayload = builder
  .objectRef<{ id: string; issue: IssueRow }>('CommentDeletePayload')
  .implement({
    description: 'The result of the deletion.',
    scope: 'inherited',
    fields: (t) => ({
      deletedCommentId: t.idOf('comment', 'id', {
        description: 'The id that the comment had.',
      }),
      issue: t.expose('issue', { type: Issue.ref, description: 'The issue, after the change.' }),
    }),
  });

mutation('commentCreate', CommentCreateInput, CommentCreatePayload, createComment, {
  description: 'Writes a comment on an issue and subscribes the viewer to it. Guests may comment too.',
  scope: 'issues:write',
  extensions: { storesKey: true },
  events: ['issue-comment.created.v1'],
});

mutation('commentUpdate', CommentUpdateInput, CommentUpdatePayload, updateComment, {
  description: 'Changes the body of a comment. Its author, owners and admins may.',
  scope: 'issues:write',
  events: ['issue-comment.updated.v1'],
});

mutation('commentDelete', CommentDeleteInput, CommentDeletePayload, deleteComment, {
  description: 'Deletes a comment. Its replies remain. Its author, owners and admins may.',
  scope: 'issues:write',
  events: ['issue-comment.deleted.v1'],
});
