import { sql } from 'kysely';
import { issueColumns } from '../../model/issue-columns.ts';
import type { IssueName, IssueRow } from '../issues.ts';
import { PreparedSelect, StatementsByShape, type Values } from '../query/prepared.ts';
import { typed } from '../query/slots.ts';
import {
  columnsOf,
  composed,
  followedBy,
  freeIssues,
  issueNames,
  lockedIssue,
  type Parts,
  partsOf,
} from './write-parts.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';

/** What new comments are made of: how their issues are named, and whether they reply to another, the same one. */
export interface CommentShape {
  named: 'key' | 'id';
  reply: boolean;
  /** On several issues, those of which that nobody else has locked. */
  several: boolean;
}

/** The columns that new comments are given, with their types. */
const givenColumns = {
  id: 'uuid',
  issue: 'int',
  place: 'int',
  author: 'uuid',
  name: 'text',
  body: 'text',
  entry: 'uuid',
} as const;

/** A new comment as it is given to its statement: with the name of its author, and the id of its entry in the feed. */
export type NewComment = Readonly<Record<Exclude<keyof typeof givenColumns, 'issue' | 'place'>, string>>;

/** A comment with the name of its issue. */
export interface NamedComment {
  name: IssueName;
  comment: NewComment;
}

/** The new comments as their statement takes them: those of each issue in a group, one after the other. */
export function commentValues(groups: readonly (readonly NamedComment[])[]): Values {
  const given = groups.flatMap((group, issue) =>
    group.map(({ comment }, place) => ({ ...comment, issue: issue + 1, place })),
  );
  return {
    ...issueNames(groups.flatMap((group) => group.slice(0, 1).map(({ name }) => name))),
    given: JSON.stringify(given),
    counts: groups.map((group) => group.length),
  };
}

/**
 * The issue as it is then, its place among those that were named (from 1), and whom the comments reply to. No row: there
 * is no such issue or comment to reply to, or it is locked while others go with it.
 */
export type CommentCreated = IssueRow & { place: number; parentAuthorUserAccountId: string | null };

/** Writes comments on issues, in their order, with all that goes with them, by one statement. */
export const commentCreations = new StatementsByShape<CommentShape, CommentCreated>(
  (db, shape) =>
    new PreparedSelect<CommentCreated>(commentCreation(db, shape), [
      ...issueColumns,
      'place',
      'parentAuthorUserAccountId',
    ]),
);

function commentCreation(db: TenantDb, { named, reply, several }: CommentShape) {
  const parts = partsOf(db);
  const parentAuthor = reply
    ? parts.selectFrom('parent').select('authorUserAccountId')
    : sql<string | null>`null::uuid`;
  return composed(db, [
    ['given', given(parts)],
    several ? freeIssues(parts, named) : lockedIssue(parts, named),
    reply ? ['parent', parentOf(parts)] : undefined,
    ['changed', changed(parts, { reply, several })],
    ['written', written(parts, reply)],
    ['entered', entered(parts, reply)],
    followedBy(parts, authors(parts)),
  ])
    .selectFrom('changed')
    .select([...issueColumns, 'changed.place'])
    .select(sql<string | null>`(${parentAuthor})`.as('parentAuthorUserAccountId'));
}

function given(parts: Parts) {
  const definitions = Object.entries(givenColumns).map(([name, type]) => `"${name}" ${type}`);
  const ones = sql<NewComment & { place: number }>`json_to_recordset(${typed('given', 'json')})`;
  return parts.selectFrom(ones.as<'one'>(sql`one(${sql.raw(definitions.join(', '))})`)).selectAll();
}

function parentOf(parts: Parts) {
  return parts
    .selectFrom('comment')
    .innerJoin('member', 'member.userAccountId', 'comment.authorUserAccountId')
    .select(['comment.id', 'comment.authorUserAccountId', 'member.displayName'])
    .where('comment.issueId', '=', parts.selectFrom('locked').select('id'))
    .where('comment.id', '=', typed('parentId', 'uuid'))
    .where('comment.deletedUtc', 'is', null);
}

function changed(parts: Parts, { reply, several }: Pick<CommentShape, 'reply' | 'several'>) {
  const place = several ? sql<number>`${sql.ref('locked.place')}` : sql<number>`1`;
  const count = sql<number>`(${typed('counts', 'int[]')})[${place}]`;
  const update = parts
    .updateTable('issue')
    .from('locked')
    .set((eb) => ({
      commentCount: eb('issue.commentCount', '+', count),
      activityCount: eb('issue.activityCount', '+', count),
      lastCommentUtc: eb.ref('locked.at'),
      lastActivityUtc: eb.ref('locked.at'),
    }))
    .whereRef('issue.id', '=', 'locked.id')
    .returningAll('issue')
    .returning([place.as('place'), count.as('count')]);
  return reply ? update.where((eb) => eb.exists(parts.selectFrom('parent').select('id'))) : update;
}

function written(parts: Parts, reply: boolean) {
  const ofParent = (column: 'id' | 'authorUserAccountId') =>
    reply ? sql`(${parts.selectFrom('parent').select(column)})` : sql`null::uuid`;
  const { columns, selections } = columnsOf<'comment'>({
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
    .expression(
      parts.selectFrom('changed').innerJoin('given', 'given.issue', 'changed.place').select(selections),
    );
}

function entered(parts: Parts, reply: boolean) {
  const parentName = parts.selectFrom('parent').select('displayName');
  const deed = reply ? sql`' replied to ' || (${parentName})` : sql`' commented'`;
  const { columns, selections } = columnsOf<'activity'>({
    issueId: sql.ref('changed.id'),
    sortOrder: sql`${sql.ref('changed.activityCount')} - ${sql.ref('changed.count')} + 1 + ${sql.ref('given.place')}`,
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
    .expression(
      parts.selectFrom('changed').innerJoin('given', 'given.issue', 'changed.place').select(selections),
    );
}

/** Who comments follows the issue from then on. */
function authors(parts: Parts) {
  return parts
    .selectFrom('changed')
    .innerJoin('given', 'given.issue', 'changed.place')
    .select(['changed.id', 'given.author']);
}
