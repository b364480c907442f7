import { type Kysely, sql } from 'kysely';
import { issueColumns, type IssueRow } from './issues.ts';
import { PreparedSelect, StatementsByShape } from './prepared.ts';
import type { Tables } from './tables.ts';
import { slot, typed } from './slots.ts';
import {
  columnsOf,
  composed,
  enteredInFeed,
  followedBy,
  lockedIssue,
  type Parts,
  partsOf,
} from './write-parts.ts';

/** What a new comment is made of: how its issue is named, and whether it replies to another. */
export interface CommentShape {
  named: 'key' | 'id';
  reply: boolean;
}

/** The issue as it is then, and whom the comment replies to. No row: there is no such issue or comment to reply to. */
export type CommentCreated = IssueRow & { parentAuthorUserAccountId: string | null };

/** Writes a comment with all that goes with it, by one statement. */
export const commentCreations = new StatementsByShape<CommentShape, CommentCreated>(
  (db, shape) =>
    new PreparedSelect<CommentCreated>(commentCreation(db, shape), [
      ...issueColumns,
      'parentAuthorUserAccountId',
    ]),
);

function commentCreation(db: Kysely<Tables>, { named, reply }: CommentShape) {
  const parts = partsOf(db);
  const parentAuthor = reply
    ? parts.selectFrom('parent').select('authorUserAccountId')
    : sql<string | null>`null::uuid`;
  const parentName = parts.selectFrom('parent').select('displayName');
  const deed = reply ? sql<string>`' replied to ' || (${parentName})` : sql<string>`' commented'`;
  return composed(db, [
    lockedIssue(parts, named),
    reply ? ['parent', parentOf(parts)] : undefined,
    ['changed', changed(parts, reply)],
    ['written', written(parts, reply)],
    enteredInFeed(parts, sql<string>`${typed('actorName', 'text')} || ${deed}`),
    followedBy(parts),
  ])
    .selectFrom('changed')
    .select(issueColumns)
    .select(sql<string | null>`(${parentAuthor})`.as('parentAuthorUserAccountId'));
}

function parentOf(parts: Parts) {
  return parts
    .selectFrom('comment')
    .innerJoin('member', (join) =>
      join
        .onRef('member.workspaceId', '=', 'comment.workspaceId')
        .onRef('member.userAccountId', '=', 'comment.authorUserAccountId'),
    )
    .select(['comment.id', 'comment.authorUserAccountId', 'member.displayName'])
    .where('comment.workspaceId', '=', slot('workspaceId'))
    .where('comment.issueId', '=', parts.selectFrom('locked').select('id'))
    .where('comment.id', '=', typed('parentId', 'uuid'))
    .where('comment.deletedUtc', 'is', null);
}

function changed(parts: Parts, reply: boolean) {
  const update = parts
    .updateTable('issue')
    .from('locked')
    .set((eb) => ({
      commentCount: eb('issue.commentCount', '+', 1),
      activityCount: eb('issue.activityCount', '+', 1),
      lastCommentUtc: eb.ref('locked.at'),
      lastActivityUtc: eb.ref('locked.at'),
    }))
    .where('issue.workspaceId', '=', slot('workspaceId'))
    .whereRef('issue.id', '=', 'locked.id')
    .returningAll('issue');
  return reply ? update.where((eb) => eb.exists(parts.selectFrom('parent').select('id'))) : update;
}

function written(parts: Parts, reply: boolean) {
  const ofParent = (column: 'id' | 'authorUserAccountId') =>
    reply ? sql`(${parts.selectFrom('parent').select(column)})` : sql`null::uuid`;
  const { columns, selections } = columnsOf<'comment'>({
    workspaceId: sql.ref('changed.workspaceId'),
    id: typed('commentId', 'uuid'),
    issueId: sql.ref('changed.id'),
    parentCommentId: ofParent('id'),
    parentAuthorUserAccountId: ofParent('authorUserAccountId'),
    authorUserAccountId: typed('actor', 'uuid'),
    body: typed('body', 'text'),
    createdUtc: sql.ref('changed.lastActivityUtc'),
    updatedUtc: sql.ref('changed.lastActivityUtc'),
  });
  return parts
    .insertInto('comment')
    .columns(columns)
    .expression(parts.selectFrom('changed').select(selections));
}
