import { type Expression, type QueryCreator, sql, type SqlBool } from 'kysely';
import { issueColumns } from '../../model/issue-columns.ts';
import type { IssueName, IssueRow } from '../issues.ts';
import { PreparedSelect, StatementsByForm } from '../query/prepared-select.ts';
import type { StatementTarget } from '../engine/statement-target.ts';
import { typedSlot } from '../statements/slots.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';
import { followUps } from './follow-ups.ts';
import { logPart, type WriteEvent } from './change-log.ts';
import {
  requestedPart,
  type RequestFilter,
  requestedValues,
  updateLockedIssues,
  feedPart,
  followersPart,
  lockedPart,
} from './issue-parts.ts';
import {
  areKeyed,
  isFree,
  keptKeysPart,
  type KeyedItem,
  keyParts,
  keyValues,
  refusedEntries,
} from './kept-keys.ts';
import {
  columnsOf,
  withParts,
  type Part,
  type Parts,
  partsOf,
  recordset,
  type WrittenTables,
} from './write-parts.ts';

/** What the statement of new comments depends on. Comments of the same form are written by the same statement. */
interface CommentForm {
  named: 'key' | 'id';
  /** Whether they reply to a comment, all to the same one. */
  reply: boolean;
  /**
   * Whether the statement waits for an issue that another transaction has locked. Otherwise it leaves the issue out.
   */
  wait: boolean;
  /** Whether any of them has an Idempotency-Key. */
  keyed: boolean;
}

/** A new comment, with the name of its author and the id of its entry in the feed and the log. */
export interface NewComment extends KeyedItem {
  issue: IssueName;
  id: string;
  author: string;
  name: string;
  body: string;
  entry: string;
  /** The id of the request. */
  request: string;
}

const newCommentColumns = {
  issue: 'int',
  ordinal: 'int',
  later: 'int',
  id: 'uuid',
  author: 'uuid',
  name: 'text',
  body: 'text',
  entry: 'uuid',
  request: 'text',
} as const;

/** The issue as its new comments left it, and the comment that they reply to, with its author. */
export type CreatedComment = IssueRow & {
  ordinal: number;
  parentCommentId: string | null;
  parentAuthorUserAccountId: string | null;
};

/**
 * Writes comments on issues, in their order, with everything that follows from them, by one statement. Returns the
 * issue of each comment, in the order of the comments; undefined if the issue or the parent comment does not exist, if
 * the issue is locked and the form does not wait, or if another request uses or has used the Idempotency-Key.
 */
export async function createComments(
  target: StatementTarget,
  form: Omit<CommentForm, 'keyed'>,
  comments: readonly NewComment[],
  event: WriteEvent,
  parentId: string | undefined,
): Promise<(CreatedComment | undefined)[]> {
  const issues = [...Map.groupBy(comments, ({ issue }) => JSON.stringify(issue)).values()];
  const ordinals = new Map(issues.flatMap((group, index) => group.map(({ id }) => [id, index + 1])));
  const newComments = issues.flatMap((group, index) =>
    group.map(({ issue: _, key: __, ...comment }, nth) => ({
      ...comment,
      issue: index + 1,
      ordinal: nth + 1,
      later: group.length - nth - 1,
    })),
  );
  const changes = issues.flatMap(([first, ...others]) =>
    first ? [{ issue: first.issue, comments: others.length + 1 }] : [],
  );
  const rows = await statements.send(
    target,
    { ...form, keyed: areKeyed(comments) },
    {
      ...keyValues(comments),
      ...requestedValues(changes),
      ...event,
      newComments: JSON.stringify(newComments),
      parentId,
    },
  );
  // An issue has a row if any of its comments was written, so the entries of refused comments are returned separately.
  const refused = new Set(rows[0]?.refused?.split(' '));
  const byOrdinal = new Map(rows.map(({ refused: _, ...row }) => [row.ordinal, row]));
  return comments.map(({ id, entry }) =>
    refused.has(entry) ? undefined : byOrdinal.get(ordinals.get(id) ?? 0),
  );
}

/** With keys, each row also has the entries of all comments that were refused; null if none was. */
type CommentRow = CreatedComment & { refused?: string | null };

const statements = new StatementsByForm<CommentForm, CommentRow>(
  (db, form) =>
    new PreparedSelect<CommentRow>(commentCreation(db, form), [
      ...issueColumns,
      ...commentColumns,
      ...(form.keyed ? (['refused'] as const) : []),
    ]),
);

const commentColumns = ['ordinal', 'parentCommentId', 'parentAuthorUserAccountId'] as const;

function commentCreation(db: TenantDb, { named, reply, wait, keyed }: CommentForm) {
  const parts = partsOf(db);
  const parentColumn = (column: 'id' | 'authorUserAccountId') =>
    reply
      ? sql<string | null>`(${parts.selectFrom('parent').select(column)})`
      : sql<string | null>`null::uuid`;
  const parentName = parts.selectFrom('parent').select('displayName');
  const text = reply ? sql`' replied to ' || (${parentName})` : sql`' commented'`;
  const entry = {
    id: sql.ref('newComments.entry'),
    actor: sql.ref('newComments.author'),
    later: sql.ref('newComments.later'),
  };
  const feedEntry = { ...entry, text: sql`${sql.ref('newComments.name')} || ${text}` };
  const logEntry = {
    ...entry,
    request: sql.ref('newComments.request'),
    subject: sql.ref('newComments.id'),
    at: sql.ref('changed.lastActivityUtc'),
  };
  const returned = (from: QueryCreator<WrittenTables>) =>
    from
      .selectFrom('changed')
      .select(issueColumns.map((column) => `changed.${column}` as const))
      .select('changed.ordinal')
      .select(parentColumn('id').as('parentCommentId'))
      .select(parentColumn('authorUserAccountId').as('parentAuthorUserAccountId'));
  const all = withParts(db, [
    ...(keyed ? keyParts(parts) : []),
    ['newComments', newComments(parts, keyed)],
    requestedPart(parts, named, [], keyed ? commentsOf(parts) : undefined),
    lockedPart(parts, { named, wait }, []),
    reply ? ['parent', parentOf(parts)] : undefined,
    ['changed', updateCommentedIssues(parts, reply)],
    ['written', insertComments(parts, parentColumn)],
    feedPart(parts, feedEntry, (selections) => issuesWithComments(parts).select(selections)),
    logPart(parts, logEntry, (selections) =>
      issuesWithComments(parts).select(selections).orderBy('changed.ordinal').orderBy('newComments.ordinal'),
    ),
    // The authors of comments follow their issue from then on.
    followersPart(parts, issuesWithComments(parts).select(['changed.id', 'newComments.author'])),
    ...followUps.flatMap((followUp) =>
      followUp(db, { kind: 'activity', columns: ['commentCount', 'lastCommentUtc'] }),
    ),
    ...(keyed ? keptComments(parts, returned(parts)) : []),
  ]);
  if (!keyed) return returned(all);
  return all
    .selectFrom('shown')
    .select([...issueColumns, ...commentColumns])
    .select(refusedEntries(parts).as('refused'));
}

/** The parts that store the Idempotency-Keys of new comments, each with the issue and the id of the comment. */
function keptComments(parts: Parts, shown: Part[1]): Part[] {
  const keys = keptKeysPart(
    parts,
    (selections) =>
      parts
        .selectFrom('shown')
        .innerJoin('newComments', 'newComments.issue', 'shown.ordinal')
        .innerJoin('requestKeys', (join) => join.on('requestKeys.entry', '=', sql.ref('newComments.entry')))
        .select(selections),
    sql`jsonb_build_object('comment_id', new_comments.id)`,
  );
  return [['shown', shown], keys];
}

/** The new comments. With Idempotency-Keys, only those that may be written, with new ordinals. */
function newComments(parts: Parts, keyed: boolean) {
  const rows = recordset<NewComment & { ordinal: number }, 'one'>('newComments', 'one', newCommentColumns);
  if (!keyed) return parts.selectFrom(rows).selectAll();
  const { ordinal: _, later: __, ...others } = newCommentColumns;
  const ordinal = sql`row_number() over (partition by one.issue order by one.ordinal)`;
  return parts
    .selectFrom(rows)
    .select(Object.keys(others).map((name) => sql.ref(`one.${name}`).as(name)))
    .select(sql<number>`${ordinal}::int`.as('ordinal'))
    .select(sql<number>`(count(*) over (partition by one.issue) - ${ordinal})::int`.as('later'))
    .where(isFree);
}

/** Restricts `requested` to issues with comments that may be written, and counts these comments. */
function commentsOf(parts: Parts): RequestFilter {
  const ofIssue = parts
    .selectFrom('newComments')
    .where('newComments.issue', '=', sql.ref<number>('one.ordinal'));
  const comments = sql<number>`(${ofIssue.select(sql<number>`count(*)::int`.as('count'))})`;
  return { where: sql<SqlBool>`${comments} > 0`, comments };
}

function parentOf(parts: Parts) {
  return parts
    .selectFrom('comment')
    .innerJoin('member', 'member.userAccountId', 'comment.authorUserAccountId')
    .select(['comment.id', 'comment.authorUserAccountId', 'member.displayName'])
    .where('comment.issueId', '=', parts.selectFrom('locked').select('id'))
    .where('comment.id', '=', typedSlot('parentId', 'uuid'))
    .where('comment.deletedUtc', 'is', null);
}

/** The issue with its new comments, unless they reply to a comment that does not exist. */
function updateCommentedIssues(parts: Parts, reply: boolean) {
  const columns = {
    commentCount: sql<number>`issue.comment_count + locked.comments`,
    lastCommentUtc: sql.ref<Date>('locked.at'),
  };
  const update = updateLockedIssues(parts, 'activity', columns, {
    entries: sql.ref<number>('locked.comments'),
  });
  return reply ? update.where((eb) => eb.exists(parts.selectFrom('parent').select('id'))) : update;
}

function insertComments(
  parts: Parts,
  parentColumn: (column: 'id' | 'authorUserAccountId') => Expression<string | null>,
) {
  const { columns, selections } = columnsOf<'comment'>({
    id: sql.ref('newComments.id'),
    issueId: sql.ref('changed.id'),
    parentCommentId: parentColumn('id'),
    parentAuthorUserAccountId: parentColumn('authorUserAccountId'),
    authorUserAccountId: sql.ref('newComments.author'),
    body: sql.ref('newComments.body'),
    createdUtc: sql.ref('changed.lastActivityUtc'),
    updatedUtc: sql.ref('changed.lastActivityUtc'),
  });
  return parts
    .insertInto('comment')
    .columns(columns)
    .expression(issuesWithComments(parts).select(selections));
}

/** The changed issues with their new comments. */
function issuesWithComments(parts: Parts) {
  return parts.selectFrom('changed').innerJoin('newComments', 'newComments.issue', 'changed.ordinal');
}
