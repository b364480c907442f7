import { type Kysely, sql } from 'kysely';
import { issueColumns, type IssueRow } from './issues.ts';
import { PreparedSelect, StatementsByShape, uuidArray, type Values } from './prepared.ts';
import type { Tables } from './tables.ts';
import { slot, typed } from './slots.ts';
import { columnsOf, composed, followedBy, lockedIssue, type Parts, partsOf } from './write-parts.ts';

/** What new comments are made of: how their issue is named, and whether they reply to another, the same one. */
export interface CommentShape {
  named: 'key' | 'id';
  reply: boolean;
}

/** The columns that new comments are given, with their types. */
const givenColumns = {
  id: 'uuid',
  place: 'int',
  author: 'uuid',
  name: 'text',
  body: 'text',
  entry: 'uuid',
} as const;

/** A new comment as it is given to its statement: with the name of its author, and the id of its entry in the feed. */
export type NewComment = Readonly<Record<Exclude<keyof typeof givenColumns, 'place'>, string>>;

/** The new comments on one issue as the statement takes them. */
export function commentValues(comments: readonly NewComment[]): Values {
  return {
    count: comments.length,
    given: JSON.stringify(comments.map((comment, place) => ({ ...comment, place }))),
    followers: uuidArray(new Set(comments.map(({ author }) => author))),
  };
}

/** The issue as it is then, and whom the comments reply to. No row: there is no such issue or comment to reply to. */
export type CommentCreated = IssueRow & { parentAuthorUserAccountId: string | null };

/** Writes comments on one issue, in their order, with all that goes with them, by one statement. */
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
  return composed(db, [
    ['given', given(parts)],
    lockedIssue(parts, named),
    reply ? ['parent', parentOf(parts)] : undefined,
    ['changed', changed(parts, reply)],
    ['written', written(parts, reply)],
    ['entered', entered(parts, reply)],
    followedBy(parts),
  ])
    .selectFrom('changed')
    .select(issueColumns)
    .select(sql<string | null>`(${parentAuthor})`.as('parentAuthorUserAccountId'));
}

const count = typed<number>('count', 'int');

function given(parts: Parts) {
  const definitions = Object.entries(givenColumns).map(([name, type]) => `"${name}" ${type}`);
  const ones = sql<NewComment & { place: number }>`json_to_recordset(${typed('given', 'json')})`;
  return parts.selectFrom(ones.as<'one'>(sql`one(${sql.raw(definitions.join(', '))})`)).selectAll();
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
      commentCount: eb('issue.commentCount', '+', count),
      activityCount: eb('issue.activityCount', '+', count),
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
    id: sql.ref('given.id'),
    issueId: sql.ref('changed.id'),
    parentCommentId: ofParent('id'),
    parentAuthorUserAccountId: ofParent('authorUserAccountId'),
    authorUserAccountId: sql.ref('given.author'),
    body: sql.ref('given.body'),
    createdUtc: sql.ref('changed.lastActivityUtc'),
    updatedUtc: sql.ref('changed.lastActivityUtc'),
  });
  return parts
    .insertInto('comment')
    .columns(columns)
    .expression(parts.selectFrom(['changed', 'given']).select(selections));
}

function entered(parts: Parts, reply: boolean) {
  const parentName = parts.selectFrom('parent').select('displayName');
  const deed = reply ? sql`' replied to ' || (${parentName})` : sql`' commented'`;
  const { columns, selections } = columnsOf<'activity'>({
    workspaceId: sql.ref('changed.workspaceId'),
    issueId: sql.ref('changed.id'),
    sortOrder: sql`${sql.ref('changed.activityCount')} - ${count} + 1 + ${sql.ref('given.place')}`,
    id: sql.ref('given.entry'),
    eventType: typed('eventType', 'text'),
    actorUserAccountId: sql.ref('given.author'),
    occurredUtc: sql.ref('changed.lastActivityUtc'),
    iconCss: typed('iconCss', 'text'),
    text: sql`${sql.ref('given.name')} || ${deed}`,
  });
  return parts
    .insertInto('activity')
    .columns(columns)
    .expression(parts.selectFrom(['changed', 'given']).select(selections));
}
