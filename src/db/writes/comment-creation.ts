import { sql } from 'kysely';
import { issueColumns } from '../../model/issue-columns.ts';
import type { IssueName, IssueRow } from '../issues.ts';
import { PreparedSelect, type Sending, StatementsByShape } from '../query/prepared.ts';
import { typed } from '../query/slots.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';
import { followUps } from './follow-ups.ts';
import { logged, type WriteEvent } from './change-log.ts';
import { asked, askedValues, changed, enteredInFeed, followedBy, locked } from './issue-parts.ts';
import { columnsOf, composed, type Parts, partsOf, recordset } from './write-parts.ts';

/** What new comments are made of. New comments of one shape share a statement. */
export interface CommentShape {
  named: 'key' | 'id';
  /** Do they reply to a comment, all to the same one. */
  reply: boolean;
  /** Do they wait for an issue that another transaction has locked; otherwise it is left out. */
  wait: boolean;
}

/** A new comment, with the name of its author and the id of its entry in the feed. */
export interface NewComment {
  issue: IssueName;
  id: string;
  author: string;
  name: string;
  body: string;
  entry: string;
  /** The id of the request that asks for it. */
  request: string;
}

const newCommentColumns = {
  issue: 'int',
  place: 'int',
  later: 'int',
  id: 'uuid',
  author: 'uuid',
  name: 'text',
  body: 'text',
  entry: 'uuid',
  request: 'text',
} as const;

/** The issue as its new comments left it, and the author of the comment that they reply to. */
export type CommentCreated = IssueRow & { place: number; parentAuthorUserAccountId: string | null };

/**
 * Writes comments on issues, in their order, with everything that follows from them, by one statement. Gives the issue
 * in the place of each comment, or undefined where the issue or the comment to reply to is not there, or where the issue
 * is locked and the shape does not wait.
 */
export async function createComments(
  sending: Sending,
  shape: CommentShape,
  comments: readonly NewComment[],
  event: WriteEvent,
  parentId: string | undefined,
): Promise<(CommentCreated | undefined)[]> {
  const issues = [...Map.groupBy(comments, ({ issue }) => JSON.stringify(issue)).values()];
  const places = new Map(issues.flatMap((group, index) => group.map(({ id }) => [id, index + 1])));
  const newComments = issues.flatMap((group, index) =>
    group.map(({ issue: _, ...comment }, place) => ({
      ...comment,
      issue: index + 1,
      place: place + 1,
      later: group.length - place - 1,
    })),
  );
  const toIssues = issues.flatMap(([first, ...others]) =>
    first ? [{ issue: first.issue, comments: others.length + 1 }] : [],
  );
  const rows = await statements.send(sending, shape, {
    ...askedValues(toIssues),
    ...event,
    newComments: JSON.stringify(newComments),
    parentId,
  });
  const byPlace = new Map(rows.map((row) => [row.place, row]));
  return comments.map(({ id }) => byPlace.get(places.get(id) ?? 0));
}

const statements = new StatementsByShape<CommentShape, CommentCreated>(
  (db, shape) =>
    new PreparedSelect<CommentCreated>(commentCreation(db, shape), [
      ...issueColumns,
      'place',
      'parentAuthorUserAccountId',
    ]),
);

function commentCreation(db: TenantDb, { named, reply, wait }: CommentShape) {
  const parts = partsOf(db);
  const parentAuthor = reply
    ? parts.selectFrom('parent').select('authorUserAccountId')
    : sql<string | null>`null::uuid`;
  const parentName = parts.selectFrom('parent').select('displayName');
  const text = reply ? sql`' replied to ' || (${parentName})` : sql`' commented'`;
  const entry = {
    id: sql.ref('newComments.entry'),
    actor: sql.ref('newComments.author'),
    later: sql.ref('newComments.later'),
  };
  const inFeed = { ...entry, text: sql`${sql.ref('newComments.name')} || ${text}` };
  const inLog = {
    ...entry,
    request: sql.ref('newComments.request'),
    subject: sql.ref('newComments.id'),
    at: sql.ref('changed.lastActivityUtc'),
  };
  return composed(db, [
    ['newComments', newComments(parts)],
    asked(parts, named, []),
    locked(parts, { named, wait }, []),
    reply ? ['parent', parentOf(parts)] : undefined,
    ['changed', commentedOn(parts, reply)],
    ['written', written(parts, reply)],
    enteredInFeed(parts, inFeed, (selections) => commented(parts).select(selections)),
    logged(parts, inLog, (selections) =>
      commented(parts).select(selections).orderBy('changed.place').orderBy('newComments.place'),
    ),
    // The authors of comments follow their issue from then on.
    followedBy(parts, commented(parts).select(['changed.id', 'newComments.author'])),
    ...followUps.flatMap((followUp) =>
      followUp(db, { kind: 'activity', columns: ['commentCount', 'lastCommentUtc'] }),
    ),
  ])
    .selectFrom('changed')
    .select([...issueColumns, 'changed.place'])
    .select(sql<string | null>`(${parentAuthor})`.as('parentAuthorUserAccountId'));
}

function newComments(parts: Parts) {
  const rows = recordset<NewComment & { place: number }, 'one'>('newComments', 'one', newCommentColumns);
  return parts.selectFrom(rows).selectAll();
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

/** The issue with its new comments, unless they reply to a comment that is not there. */
function commentedOn(parts: Parts, reply: boolean) {
  const columns = {
    commentCount: sql<number>`issue.comment_count + locked.comments`,
    lastCommentUtc: sql.ref<Date>('locked.at'),
  };
  const update = changed(parts, 'activity', columns, sql.ref<number>('locked.comments'));
  return reply ? update.where((eb) => eb.exists(parts.selectFrom('parent').select('id'))) : update;
}

function written(parts: Parts, reply: boolean) {
  const ofParent = (column: 'id' | 'authorUserAccountId') =>
    reply ? sql`(${parts.selectFrom('parent').select(column)})` : sql`null::uuid`;
  const { columns, selections } = columnsOf<'comment'>({
    id: sql.ref('newComments.id'),
    issueId: sql.ref('changed.id'),
    parentCommentId: ofParent('id'),
    parentAuthorUserAccountId: ofParent('authorUserAccountId'),
    authorUserAccountId: sql.ref('newComments.author'),
    body: sql.ref('newComments.body'),
    createdUtc: sql.ref('changed.lastActivityUtc'),
    updatedUtc: sql.ref('changed.lastActivityUtc'),
  });
  return parts.insertInto('comment').columns(columns).expression(commented(parts).select(selections));
}

/** The changed issues with their new comments. */
function commented(parts: Parts) {
  return parts.selectFrom('changed').innerJoin('newComments', 'newComments.issue', 'changed.place');
}
