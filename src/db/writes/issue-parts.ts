import { type AliasableExpression, type AliasedExpression, type Expression, type SqlBool, sql } from 'kysely';
import { columnTypes, jsonName, type SettableColumn } from '../../model/issue-columns.ts';
import { type IssueColumns, type IssueName, withNextRevision } from '../issues.ts';
import type { Row } from '../tables/tables.ts';
import { typedSlot } from '../statements/slots.ts';
import type { KeyedItem } from './kept-keys.ts';
import { columnsOf, jsonRow, type Part, type Parts, recordset } from './write-parts.ts';

// The parts of every statement that writes to existing issues: the requested changes, the issues that it finds and
// locks, and the entries in their feeds.

/** How a write identifies an issue: by its id, its key, or its number in a team. */
type IssueNaming = keyof typeof nameColumns;

const nameColumns = {
  id: { id: 'uuid' },
  key: { teamCode: 'text', number: 'int' },
  number: { teamId: 'uuid', number: 'int' },
} as const;

/** How a write finds its issues. */
export interface IssueSearch {
  named: IssueNaming;
  /**
   * Whether it waits for an issue that another transaction has locked. A write of several issues does not wait, which
   * rules out deadlocks, and leaves such an issue out.
   */
  wait: boolean;
  /** Whether it also finds deleted issues. */
  deleted?: boolean;
}

/** A requested change of one issue: the columns to set, and how many comments it gets. */
export interface RequestedChange extends KeyedItem {
  issue: IssueName | { teamId: string; number: number };
  /** The revision that the issue must have; null for any. */
  expectedRevision?: number | null | undefined;
  /** The time of the write; by default the time of the database. */
  at?: Date | undefined;
  /** The columns to set, with their values. */
  set?: Partial<Record<SettableColumn, string | number | Date | readonly string[] | null>>;
  event?: LogEntry;
  comments?: number;
}

/** The entry of a write in the log of changes, and in the feed of the issue. */
export interface LogEntry {
  /** The id of the change, and of the entry in the feed. */
  id: string;
  /** The account of the actor; null for the service itself. */
  actor: string | null;
  /** The id of the request. */
  request?: string | undefined;
  /** The text of the entry in the feed, if there is one. */
  text?: string;
  /** The id of the object that the event is about, if that is not the issue. */
  subject?: string | undefined;
  /** The fields that the write sets. */
  fields?: readonly string[];
  /** Values before the write that are not stored in columns of the issue, by the names of their fields. */
  previous?: Readonly<Record<string, unknown>>;
}

/** The value of the slot that `requested` reads. */
export function requestedValues(issues: readonly RequestedChange[]): { requested: string } {
  const rows = issues.map(({ issue, expectedRevision, at, set, event = {}, comments }, index) => {
    const { id: entry, ...details }: Partial<LogEntry> = event;
    return {
      ordinal: index + 1,
      expected: expectedRevision,
      at,
      comments,
      entry,
      ...details,
      ...jsonRow({ ...issue, ...byNewName(set) }),
    };
  });
  return { requested: JSON.stringify(rows) };
}

/** The column name of a new value in `locked`, which also has the old value. */
function newName(column: string): string {
  return `new_${jsonName(column)}`;
}

function byNewName(set: RequestedChange['set'] = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(set).map(([column, value]) => [newName(column), value]));
}

/** The new value of a column. */
export function newValue(column: SettableColumn): Expression<unknown> {
  return sql.ref(`locked.${newName(column)}`);
}

/** A column of the table of issues. */
export type StoredColumn = keyof Row<'issue'>;

/**
 * The value of a column before the write, for parts that read `changed`, if `changed` returns it (`before`). A join of
 * `changed` with `locked` would be a nested loop over all pairs of rows, because PostgreSQL estimates that each has one.
 */
export function valueBefore(column: StoredColumn): Expression<unknown> {
  return sql.ref(`changed.${nameBefore(column)}`);
}

function nameBefore(column: StoredColumn): string {
  return `before_${jsonName(column)}`;
}

/** The columns of `requested` that are passed on to `locked` and `changed`, in addition to new values. */
const requestedColumns = [
  'ordinal',
  'entry',
  'actor',
  'text',
  'request',
  'subject',
  'fields',
  'previous',
  'comments',
] as const;

/** Restricts a statement with Idempotency-Keys to the issues that it may write, and counts the comments of each. */
export interface RequestFilter {
  where: Expression<SqlBool>;
  comments?: AliasableExpression<number>;
}

/** The part with the requested changes, including the new values of the columns. */
export function requestedPart(
  parts: Parts,
  named: IssueNaming,
  columns: readonly SettableColumn[],
  filter?: RequestFilter,
): Part {
  const all = {
    ordinal: 'int',
    expected: 'int',
    at: 'timestamptz',
    comments: 'int',
    entry: 'uuid',
    actor: 'uuid',
    text: 'text',
    request: 'text',
    subject: 'uuid',
    fields: 'text[]',
    previous: 'jsonb',
    ...nameColumns[named],
    ...Object.fromEntries(columns.map((column) => [newName(column), columnTypes[column]])),
  };
  const rows = parts.selectFrom(recordset<object, 'one'>('requested', 'one', all));
  if (!filter) return ['requested', rows.selectAll()];
  const { where, comments = sql.ref<number>('one.comments') } = filter;
  const names = Object.keys(all)
    .map(jsonName)
    .filter((name) => name !== 'comments');
  const selections = names.map((name) => sql.ref(`one.${name}`).as(name));
  return ['requested', rows.select([...selections, comments.as('comments')]).where(where)];
}

/**
 * The part that finds the issues, at the expected revision if there is one, and locks them. They are locked by a
 * subquery, because Citus writes the result of a CTE that locks rows in a format that it then fails to read.
 */
export function lockedPart(
  parts: Parts,
  { named, wait, deleted = false }: IssueSearch,
  columns: readonly SettableColumn[],
): Part {
  const rows = parts
    .selectFrom('issue')
    .innerJoin('requested', (join) => {
      if (named === 'id') return join.on('issue.id', '=', sql.ref('requested.id'));
      const numbered = join.on('issue.number', '=', sql.ref('requested.number'));
      return named === 'number' ? numbered.on('issue.teamId', '=', sql.ref('requested.teamid')) : numbered;
    })
    .$if(named === 'key', (query) =>
      query.innerJoin('team', (join) =>
        join.onRef('team.id', '=', 'issue.teamId').on('team.code', '=', sql.ref('requested.teamcode')),
      ),
    )
    .selectAll('issue')
    .select(requestedColumns.map((name) => `requested.${name}` as const))
    .select(columns.map((column) => sql.ref(`requested.${newName(column)}`).as(newName(column))))
    .select(sql<Date>`coalesce(requested.at, ${laterThanFeed})`.as('at'))
    .where(sql<SqlBool>`(requested.expected is null or issue.revision = requested.expected)`)
    .$if(!deleted, (query) => query.where('issue.deletedUtc', 'is', null))
    .forNoKeyUpdate('issue');
  return ['locked', parts.selectFrom((wait ? rows : rows.skipLocked()).as('found')).selectAll()];
}

// `now()` would be from before the wait for the lock, and the clocks of two servers differ.
const laterThanFeed = sql<Date>`date_trunc('milliseconds', greatest(clock_timestamp(), issue.last_activity_utc))`;

/**
 * The kind of a change of an issue. `update`: the issue itself changes, with an entry in its feed. `activity`:
 * something that belongs to the issue changes, with an entry in its feed. `revision`: the issue changes without an
 * entry in its feed. `import`: only the columns that the write sets change, which may include the revision. `columns`:
 * the same, but clients see no change, so it is not logged.
 */
export type ChangeKind = 'update' | 'activity' | 'revision' | 'import' | 'columns';

/** Whether such changes have an entry in the log of changes. */
export function isLogged(kind: ChangeKind): boolean {
  return kind !== 'columns';
}

export function isInFeed(kind: ChangeKind): boolean {
  return kind === 'update' || kind === 'activity';
}

const at = sql.ref<Date>('locked.at');

interface FurtherChange {
  /** How many entries each issue gets in its feed. */
  entries?: Expression<number>;
  /** The columns whose values before the write are returned, too (`valueBefore`). */
  before?: readonly StoredColumn[];
}

/** Changes the locked issues: the columns, and those that the kind of change also sets. */
export function updateLockedIssues(
  parts: Parts,
  kind: ChangeKind,
  columns: IssueColumns,
  { entries = sql.lit(1), before = [] }: FurtherChange = {},
) {
  const set: IssueColumns = kind === 'update' || kind === 'revision' ? withNextRevision(columns) : columns;
  return parts
    .updateTable('issue')
    .from('locked')
    .set({
      ...set,
      ...(kind === 'update' && { updatedUtc: at }),
      ...(isInFeed(kind) && {
        activityCount: sql<number>`issue.activity_count + ${entries}`,
        lastActivityUtc: at,
      }),
    })
    .whereRef('issue.id', '=', 'locked.id')
    .returningAll('issue')
    .returning([...requestedColumns, 'at' as const].map((name) => `locked.${name}` as const))
    .returning(before.map((column) => sql.ref(`locked.${column}`).as(nameBefore(column))));
}

/** An entry in the feed of a changed issue. */
interface FeedEntry {
  id: Expression<unknown>;
  actor: Expression<unknown>;
  text: Expression<unknown>;
  /** How many entries of the statement come after it in the same feed. */
  later?: Expression<unknown>;
}

/** The part that adds to the feeds of changed issues: an entry for each of the rows that `from` selects. */
export function feedPart(
  parts: Parts,
  { id, actor, text, later = sql.lit(0) }: FeedEntry,
  from: (selections: AliasedExpression<unknown, string>[]) => Expression<unknown>,
): Part {
  const { columns, selections } = columnsOf<'activity'>({
    issueId: sql.ref('changed.id'),
    sortOrder: sql`${sql.ref('changed.activityCount')} - ${later}`,
    id,
    eventType: typedSlot('eventType', 'text'),
    actorUserAccountId: actor,
    occurredUtc: sql.ref('changed.lastActivityUtc'),
    iconCss: typedSlot('iconCss', 'text'),
    text,
  });
  return ['entered', parts.insertInto('activity').columns(columns).expression(from(selections))];
}

/** The part that subscribes people to changed issues. Each row of `people` has an issue and an account. */
export function followersPart(parts: Parts, people: Expression<unknown>): Part {
  return [
    'followed',
    parts
      .insertInto('issueSubscription')
      .columns(['issueId', 'userAccountId'])
      .expression(people)
      .onConflict((conflict) => conflict.doNothing()),
  ];
}
