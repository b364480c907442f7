import type { IssueRow } from '../db/issues.ts';
import { changeComment, type CommentWritten, createComment, deleteComment } from '../resolvers/comments.ts';
import { mutation } from './builder/mutation.ts';
import { builder } from './builder/builder.ts';
import { Comment } from './comments.ts';
import { Issue } from './issues.ts';
import { naming } from './builder/naming.ts';
import { expectedRevision } from './builder/revisions.ts';

const issueKeyGuard = 'The issue that it must be on, by its key or id; any when left out.';

const CommentCreateInput = builder.inputType('CommentCreateInput', {
  description: 'A comment to be written.',
  fields: (t) => ({
    issueKey: t.string({
      required: true,
      extensions: naming('key', 'issue'),
      description: 'The key of the issue, in any case; its id is taken too.',
    }),
    parentCommentId: t.id({
      extensions: naming('id', 'comment'),
      description: 'The comment of the same issue that it replies to.',
    }),
    body: t.string({
      required: true,
      description: 'What it says, as plain text of 1 to 50,000 characters, not white space alone.',
    }),
  }),
});

const CommentUpdateInput = builder.inputType('CommentUpdateInput', {
  description: 'A change to a comment.',
  fields: (t) => ({
    id: t.id({
      required: true,
      extensions: naming('id', 'comment'),
      description: 'The id of the comment (`comment_…`).',
    }),
    issueKey: t.string({ extensions: naming('key', 'issue'), description: issueKeyGuard }),
    expectedRevision: expectedRevision(t),
    body: t.string({
      required: true,
      description: 'What it is to say, as plain text of 1 to 50,000 characters, not white space alone.',
    }),
  }),
});

const CommentDeleteInput = builder.inputType('CommentDeleteInput', {
  description: 'The comment to be deleted.',
  fields: (t) => ({
    id: t.id({
      required: true,
      extensions: naming('id', 'comment'),
      description: 'The id of the comment (`comment_…`).',
    }),
    issueKey: t.string({ extensions: naming('key', 'issue'), description: issueKeyGuard }),
    expectedRevision: expectedRevision(t),
  }),
});

function commentPayload(name: string, description: string) {
  return builder.objectRef<CommentWritten>(name).implement({
    description,
    fields: (t) => ({
      comment: t.expose('comment', { type: Comment.ref, description: 'The comment as it is now.' }),
      issue: t.expose('issue', { type: Issue.ref, description: 'Its issue as it is now.' }),
    }),
  });
}

const CommentCreatePayload = commentPayload('CommentCreatePayload', 'The comment that was written.');
const CommentUpdatePayload = commentPayload('CommentUpdatePayload', 'The comment that was changed.');

const CommentDeletePayload = builder
  .objectRef<{ id: string; issue: IssueRow }>('CommentDeletePayload')
  .implement({
    description: 'What was deleted.',
    fields: (t) => ({
      deletedCommentId: t.idOf('comment', 'id', {
        description: 'The id of the comment, which names nothing any more.',
      }),
      issue: t.expose('issue', { type: Issue.ref, description: 'Its issue as it is now.' }),
    }),
  });

mutation('commentCreate', CommentCreateInput, CommentCreatePayload, createComment, {
  description: 'Writes a comment on an issue, which the viewer follows from then on. Guests may, too.',
});

mutation('commentUpdate', CommentUpdateInput, CommentUpdatePayload, changeComment, {
  description: 'Changes what a comment says. Its author, owners and admins may.',
});

mutation('commentDelete', CommentDeleteInput, CommentDeletePayload, deleteComment, {
  description: 'Deletes a comment; its replies stay. Its author, owners and admins may.',
});
