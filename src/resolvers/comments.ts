import { type CreatedComment, createComments, type NewComment } from '../db/writes/comment-creation.ts';
import {
  selectComment,
  selectLastCommentUtc,
  selectParentComment,
  updateCommentRow,
} from '../db/comments.ts';
import type { IssueRow } from '../db/issues.ts';
import type { Row } from '../db/tables/tables.ts';
import type { Trx } from '../db/engine/transaction.ts';
import { activityActorOf, recordActivity, writeEvent } from './activity.ts';
import { type Context, type SignedIn, requireSignedIn } from './context.ts';
import { raise, Violations } from './errors.ts';
import { newUuid } from './ids.ts';
import { type LockedIssue, lockIssueOf } from './issues/issue-locks.ts';
import { raiseIssueGone, requireIssue, requireName } from './issues/issue-names.ts';
import { raiseNotFound } from './not-found.ts';
import { requireTransaction, earlierRow } from './writes/keyed-write.ts';
import { serialKeys } from './writes/serial-queue.ts';
import { requireResourceRevision, type RevisedResource } from './writes/revisions.ts';
import { mayManage } from './writes/write-access.ts';
import { write, writeItem } from './writes/write-transaction.ts';
import { limits } from '../model/limits.ts';
import { checkText, uuidOf } from './writes/write-rules.ts';

export interface CommentCreateInput {
  /** A key or an id. */
  issueKey: string;
  parentCommentId?: string | null;
  /** Plain text. */
  body: string;
}

/** A comment and its issue after the write. */
export interface WrittenComment {
  comment: Row<'comment'>;
  issue: IssueRow;
}

/** Writes a comment, which may be a reply, and subscribes its author to the issue. */
export async function createComment(ctx: Context, input: CommentCreateInput): Promise<WrittenComment> {
  const context = requireSignedIn(ctx);
  const earlier = earlierRow<CreatedComment & { commentId: string }>(ctx);
  if (earlier) return commentAndIssue(context, input.body, earlier, earlier.commentId);
  // The statement preloads no related rows of the issue, so the returned row cannot answer a selection of them.
  if (context.preloads) requireTransaction(context);
  const { principal } = context;
  const { workspaceId, userAccountId } = principal;
  const { issueKey, body } = input;
  const violations = new Violations();
  checkBody(violations, body);
  const parentId =
    input.parentCommentId == null
      ? undefined
      : uuidOf(violations, 'parentCommentId', 'comment', input.parentCommentId);
  violations.throwIfAny();
  const name = requireName(issueKey);
  const named = 'id' in name ? 'id' : 'key';
  const id = newUuid();
  const event = writeEvent('issue-comment.created.v1');
  const serialKey = serialKeys.issue(workspaceId, issueKey);
  const item = {
    issue: name,
    id,
    author: userAccountId,
    name: principal.displayName,
    body,
    entry: newUuid(),
    request: context.requestId,
  };
  const written = await writeItem<NewComment, CreatedComment>(context, {
    item,
    serialKey,
    // Comments that reply to different comments cannot share a statement.
    batchKey: parentId === undefined ? `comment ${named} ${workspaceId}` : undefined,
    send: (to, comments, wait) =>
      createComments(to, { named, reply: parentId !== undefined, wait }, comments, event, parentId),
  });
  if (!written) return write(context, serialKey, (trx) => raiseReason(trx, issueKey, parentId));
  return commentAndIssue(context, body, written, id);
}

/** The comment, and its issue as the statement returned it. */
function commentAndIssue(
  { principal: { workspaceId, userAccountId } }: SignedIn,
  body: string,
  { ordinal: _, parentCommentId, parentAuthorUserAccountId, ...issue }: CreatedComment,
  id: string,
): WrittenComment {
  // The newest feed entry is that of the comment, so both have the same time.
  const writtenUtc = issue.lastActivityUtc ?? raiseIssueGone();
  const comment = {
    workspaceId,
    id,
    issueId: issue.id,
    parentCommentId,
    parentAuthorUserAccountId,
    authorUserAccountId: userAccountId,
    body,
    isEdited: false,
    createdUtc: writtenUtc,
    updatedUtc: writtenUtc,
    deletedUtc: null,
    revision: 1,
  };
  return { comment, issue };
}

/** Throws the reason why the comment could not be written. */
async function raiseReason(trx: Trx, issueKey: string, parentId: string | undefined): Promise<never> {
  const { id: issueId } = await requireIssue(trx, issueKey);
  const parent = parentId && (await selectParentComment(trx, issueId, parentId));
  const violations = new Violations();
  violations.addUnless(!parentId || parent !== undefined, 'parentCommentId', 'does not belong to the issue');
  violations.throwIfAny();
  // The issue exists now, so it must have been restored since the attempt.
  return raiseIssueGone();
}

/** Changes the body of a comment, which only its author, owners and admins may do. */
export async function updateComment(
  ctx: Context,
  input: RevisedResource & { body: string },
): Promise<WrittenComment> {
  const context = requireSignedIn(ctx);
  const violations = new Violations();
  checkBody(violations, input.body);
  violations.throwIfAny();
  return write(context, undefined, (trx) =>
    changeLockedComment(trx, context, input, 'issue-comment.updated.v1', ({ resource, nowUtc }) => {
      const columns = { body: input.body, isEdited: true, updatedUtc: nowUtc };
      return updateCommentRow(trx, resource.id, columns);
    }),
  );
}

/** Deletes a comment, but not its replies. Only its author, owners and admins may do so. */
export async function deleteComment(
  ctx: Context,
  input: RevisedResource,
): Promise<{ id: string; issue: IssueRow }> {
  const context = requireSignedIn(ctx);
  const { comment, issue } = await write(context, undefined, (trx) =>
    changeLockedComment(trx, context, input, 'issue-comment.deleted.v1', ({ resource, nowUtc }) =>
      updateCommentRow(trx, resource.id, { deletedUtc: nowUtc }),
    ),
  );
  return { id: comment.id, issue };
}

const activities = {
  'issue-comment.updated.v1': { activityText: 'edited a comment', fields: ['body'] },
  'issue-comment.deleted.v1': { activityText: 'deleted a comment', fields: [] },
} as const;

/** Finds a comment that the principal may change, changes it while its issue is locked, and adds a feed entry. */
async function changeLockedComment(
  trx: Trx,
  context: SignedIn,
  name: RevisedResource,
  eventType: keyof typeof activities,
  change: (locked: LockedIssue & { resource: Row<'comment'> }) => Promise<Row<'comment'> | undefined>,
): Promise<WrittenComment> {
  const locked = await lockIssueOf(trx, 'comment', name, selectComment);
  if (!mayManage(context.principal, locked.resource.authorUserAccountId)) {
    raise('forbidden', 'Only its author, owners and admins may change or delete a comment.');
  }
  await requireResourceRevision(trx, 'comment', locked.resource, name.expectedRevision);
  // The comment was read before the lock, so it may have been deleted since.
  const comment = (await change(locked)) ?? raiseNotFound('comment');
  const columns = comment.deletedUtc
    ? {
        commentCount: locked.issue.commentCount - 1,
        lastCommentUtc: await selectLastCommentUtc(trx, comment.issueId),
      }
    : {};
  const activity = { eventType, ...activities[eventType], subject: comment.id };
  const issue = await recordActivity(
    trx,
    activityActorOf(context),
    comment.issueId,
    locked.nowUtc,
    activity,
    columns,
  );
  return { comment, issue: issue ?? raiseIssueGone() };
}

function checkBody(violations: Violations, body: string): void {
  checkText(violations, 'body', body, { min: 1, max: limits.comment });
}
