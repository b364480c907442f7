import {
  insertComment,
  selectComment,
  selectLastCommentUtc,
  selectParentComment,
  updateComment,
} from '../db/comments.ts';
import { insertSubscriptions } from '../db/issue-sets.ts';
import type { IssueRow } from '../db/issues.ts';
import type { Row } from '../db/tables.ts';
import type { Trx } from '../db/transaction.ts';
import { recordActivity } from './activity.ts';
import { type Context, type Principal, signedIn } from './context.ts';
import { raise, Violations } from './errors.ts';
import { newUuid } from './ids.ts';
import { type LockedIssue, lockIssueOf, lockLivingIssue, thingIsGone } from './issue-locks.ts';
import { issueIsGone, requireIssue } from './issue-names.ts';
import { requireThingRevision, type RevisedThing } from './revisions.ts';
import { mayManage } from './write-access.ts';
import { turns, write } from './write-transaction.ts';
import { checkText, limits, uuidOf } from './write-rules.ts';

export interface CommentCreateInput {
  /** Or an id. */
  issueKey: string;
  parentCommentId?: string | null;
  /** Plain text. */
  body: string;
}

/** A comment and its issue, both as the write left them. */
export interface CommentWritten {
  comment: Row<'comment'>;
  issue: IssueRow;
}

/** Writes a comment, in reply to another where one is named. Who comments follows the issue from then on. */
export async function createComment(ctx: Context, input: CommentCreateInput): Promise<CommentWritten> {
  const context = signedIn(ctx);
  const { principal } = context;
  return write(context, turns.issue(principal.workspaceId, input.issueKey), (trx) =>
    insert(trx, principal, input),
  );
}

/** Changes what a comment says; its author, owners and admins may. */
export async function changeComment(
  ctx: Context,
  input: RevisedThing & { body: string },
): Promise<CommentWritten> {
  const context = signedIn(ctx);
  const { principal } = context;
  const violations = new Violations();
  checkBody(violations, input.body);
  violations.check();
  return write(context, undefined, (trx) =>
    manage(trx, principal, input, 'issue-comment.updated.v1', ({ thing, nowUtc }) => {
      const columns = { body: input.body, isEdited: true, updatedUtc: nowUtc };
      return updateComment(trx, principal.workspaceId, thing.id, columns);
    }),
  );
}

/** Deletes a comment; its replies stay. Its author, owners and admins may. */
export async function deleteComment(
  ctx: Context,
  input: RevisedThing,
): Promise<{ id: string; issue: IssueRow }> {
  const context = signedIn(ctx);
  const { principal } = context;
  const { comment, issue } = await write(context, undefined, (trx) =>
    manage(trx, principal, input, 'issue-comment.deleted.v1', ({ thing, nowUtc }) =>
      updateComment(trx, principal.workspaceId, thing.id, { deletedUtc: nowUtc }),
    ),
  );
  return { id: comment.id, issue };
}

async function insert(trx: Trx, principal: Principal, input: CommentCreateInput): Promise<CommentWritten> {
  const { workspaceId, userAccountId } = principal;
  const violations = new Violations();
  checkBody(violations, input.body);
  const parentId =
    input.parentCommentId == null
      ? undefined
      : uuidOf(violations, 'parentCommentId', 'comment', input.parentCommentId);
  violations.check();
  const { id: issueId } = await requireIssue(trx, workspaceId, input.issueKey);
  const { issue, nowUtc } = await lockLivingIssue(trx, workspaceId, issueId);
  const parent = parentId && (await selectParentComment(trx, workspaceId, issueId, parentId));
  violations.that(!parentId || parent !== undefined, 'parentCommentId', 'is no comment of the issue');
  violations.check();
  const deed = parent ? `replied to ${parent.authorDisplayName}` : 'commented';
  const columns = { commentCount: issue.commentCount + 1, lastCommentUtc: nowUtc };
  const happening = { eventType: 'issue-comment.created.v1', deed } as const;
  const [changed] = await recordActivity(trx, principal, [issueId], nowUtc, happening, columns);
  const comment = await insertComment(trx, {
    workspaceId,
    id: newUuid(nowUtc.getTime()),
    issueId,
    parentCommentId: parent ? parent.id : null,
    parentAuthorUserAccountId: parent ? parent.authorUserAccountId : null,
    authorUserAccountId: userAccountId,
    body: input.body,
    createdUtc: nowUtc,
    updatedUtc: nowUtc,
  });
  await insertSubscriptions(trx, [{ workspaceId, issueId, userAccountId }]);
  return { comment, issue: changed ?? issueIsGone() };
}

const deeds = {
  'issue-comment.updated.v1': 'edited a comment',
  'issue-comment.deleted.v1': 'deleted a comment',
} as const;

/** Finds a comment that the principal may manage, changes it under its issue's lock and enters that in the feed. */
async function manage(
  trx: Trx,
  principal: Principal,
  name: RevisedThing,
  eventType: keyof typeof deeds,
  change: (found: LockedIssue & { thing: Row<'comment'> }) => Promise<Row<'comment'> | undefined>,
): Promise<CommentWritten> {
  const { workspaceId } = principal;
  const found = await lockIssueOf(trx, workspaceId, 'comment', name, selectComment);
  if (!mayManage(principal, found.thing.authorUserAccountId)) {
    raise('forbidden', 'Only its author, owners and admins change or delete a comment.');
  }
  await requireThingRevision(trx, 'comment', found.thing, name.expectedRevision);
  // It was read before the lock, so somebody may have deleted it since.
  const comment = (await change(found)) ?? thingIsGone('comment');
  const columns = comment.deletedUtc
    ? {
        commentCount: found.issue.commentCount - 1,
        lastCommentUtc: await selectLastCommentUtc(trx, workspaceId, comment.issueId),
      }
    : {};
  const happening = { eventType, deed: deeds[eventType] };
  const [issue] = await recordActivity(trx, principal, [comment.issueId], found.nowUtc, happening, columns);
  return { comment, issue: issue ?? issueIsGone() };
}

function checkBody(violations: Violations, body: string): void {
  checkText(violations, 'body', body, { min: 1, max: limits.comment });
}
