import { type AliasableExpression, type AliasedExpression, type Expression, type SqlBool, sql } from 'kysely';
import { columnTypes, jsonName, type SettableColumn } from '../../model/issue-columns.ts';
import { type IssueColumns, type IssueName, revised } from '../issues.ts';
import { typed } from '../query/slots.ts';
import type { Keyed } from './kept-keys.ts';
import { columnsOf, jsonRow, type Part, type Parts, recordset } from './write-parts.ts';

// The parts of every statement that writes to issues that exist: what is asked, the issues that it finds and locks, and
// the entries in their feeds.

/** What a write calls an issue by: its id, its key, or its number in a team. */
export type IssueNaming = keyof typeof nameColumns;

const nameColumns = {
  id: { id: 'uuid' },
  key: { teamCode: 'text', number: 'int' },
  number: { teamId: 'uuid', number: 'int' },
} as const;

/** How a write finds the issues that it is for. */
export interface IssueSearch {
  named: IssueNaming;
  /**
   * Does it wait for an issue that another transaction has locked. A write of several issues leaves such an issue out
   * instead: it waits for nobody, so it cannot be waiting for somebody who waits for it.
   */
  wait: boolean;
  /** Does it find deleted issues, too. */
  deleted?: boolean;
}

/** What a write asks for one issue. */
export interface AskedIssue extends Keyed {
  issue: IssueName | { teamId: string; number: number };
  /** The only revision that it is for; null for any. */
  expectedRevision?: number | null | undefined;
  /** When it happens; the database's clock says it where it is left out. */
  at?: Date | undefined;
  /** The columns to set, with their values. */
  set?: Partial<Record<SettableColumn, string | number | Date | readonly string[] | null>>;
  event?: IssueEvent;
  comments?: number;
}

/** What the log of changes, and the feed of the issue, say of a write. */
export interface IssueEvent {
  /** The id of the change, and of the entry in the feed. */
  id: string;
  /** The account that does it; null for the service itself. */
  actor: string | null;
  /** The id of the request that asks for it. */
  request?: string | undefined;
  /** The entry in the feed, where there is one. */
  text?: string;
  /** What the event is about, where that is not the issue. */
  subject?: string | undefined;
  /** The fields that the write sets. */
  fields?: readonly string[];
  /** Values before the write that are not in the issue's own columns, by the names of their fields. */
  previous?: Readonly<Record<string, unknown>>;
}

/** The value of the slot that `asked` reads. */
export function askedValues(issues: readonly AskedIssue[]): { asked: string } {
  const rows = issues.map(({ issue, expectedRevision, at, set, event = {}, comments }, index) => {
    const { id: entry, ...said }: Partial<IssueEvent> = event;
    return {
      place: index + 1,
      expected: expectedRevision,
      at,
      comments,
      entry,
      ...said,
      ...jsonRow({ ...issue, ...renamed(set) }),
    };
  });
  return { asked: JSON.stringify(rows) };
}

/** The name of a new value, which is in one row with the value that it replaces. */
function newName(column: string): string {
  return `new_${jsonName(column)}`;
}

function renamed(set: AskedIssue['set'] = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(set).map(([column, value]) => [newName(column), value]));
}

/** The new value of a column. */
export function newValue(column: SettableColumn): Expression<unknown> {
  return sql.ref(`locked.${newName(column)}`);
}

/** What a statement is asked to do for each issue, beside the columns that it sets. */
const askedColumns = [
  'place',
  'entry',
  'actor',
  'text',
  'request',
  'subject',
  'fields',
  'previous',
  'comments',
] as const;

/** Which issues a statement with Idempotency-Keys may write, and how many comments each of them gets. */
export interface AskedFilter {
  where: Expression<SqlBool>;
  comments?: AliasableExpression<number>;
}

/** What the statement is to do, with the columns that it sets. */
export function asked(
  parts: Parts,
  named: IssueNaming,
  columns: readonly SettableColumn[],
  filter?: AskedFilter,
): Part {
  const all = {
    place: 'int',
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
  const rows = parts.selectFrom(recordset<object, 'one'>('asked', 'one', all));
  if (!filter) return ['asked', rows.selectAll()];
  const { where, comments = sql.ref<number>('one.comments') } = filter;
  const names = Object.keys(all)
    .map(jsonName)
    .filter((name) => name !== 'comments');
  const selections = names.map((name) => sql.ref(`one.${name}`).as(name));
  return ['asked', rows.select([...selections, comments.as('comments')]).where(where)];
}

/** Finds issues by what they are called, at the revision that is expected where one is, and locks them. */
export function locked(
  parts: Parts,
  { named, wait, deleted = false }: IssueSearch,
  columns: readonly SettableColumn[],
): Part {
  const rows = parts
    .selectFrom('issue')
    .innerJoin('asked', (join) => {
      if (named === 'id') return join.on('issue.id', '=', sql.ref('asked.id'));
      const numbered = join.on('issue.number', '=', sql.ref('asked.number'));
      return named === 'number' ? numbered.on('issue.teamId', '=', sql.ref('asked.teamid')) : numbered;
    })
    .$if(named === 'key', (query) =>
      query.innerJoin('team', (join) =>
        join.onRef('team.id', '=', 'issue.teamId').on('team.code', '=', sql.ref('asked.teamcode')),
      ),
    )
    .selectAll('issue')
    .select(askedColumns.map((name) => `asked.${name}` as const))
    .select(columns.map((column) => sql.ref(`asked.${newName(column)}`).as(newName(column))))
    .select(sql<Date>`coalesce(asked.at, ${laterThanFeed})`.as('at'))
    .where(sql<SqlBool>`(asked.expected is null or issue.revision = asked.expected)`)
    .$if(!deleted, (query) => query.where('issue.deletedUtc', 'is', null))
    .forNoKeyUpdate('issue');
  return ['locked', wait ? rows : rows.skipLocked()];
}

// The time of the statement is older than its wait for the lock, and the clocks of two servers differ.
const laterThanFeed = sql<Date>`date_trunc('milliseconds', greatest(clock_timestamp(), issue.last_activity_utc))`;

/**
 * What a write means to an issue. `update`: the issue itself changes, and its feed says so. `activity`: something that
 * belongs to the issue changes, and the feed says so. `revision`: the issue changes without an entry in the feed.
 * `import`: nothing but the columns that the write sets, its revision and its feed among them. `columns`: the same, and
 * clients see no change, so the log does not tell of it.
 */
export type ChangeKind = 'update' | 'activity' | 'revision' | 'import' | 'columns';

/** Does the log of changes tell of it. */
export function isLogged(kind: ChangeKind): boolean {
  return kind !== 'columns';
}

export function isInFeed(kind: ChangeKind): boolean {
  return kind === 'update' || kind === 'activity';
}

const at = sql.ref<Date>('locked.at');

/** Changes the locked issues: the columns, and what the kind of change sets besides. */
export function changed(
  parts: Parts,
  kind: ChangeKind,
  columns: IssueColumns,
  entries: Expression<number> = sql.lit(1),
) {
  const set: IssueColumns = kind === 'update' || kind === 'revision' ? revised(columns) : columns;
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
    .returning(askedColumns.map((name) => `locked.${name}` as const));
}

/** An entry in the feed of a changed issue. */
interface FeedEntry {
  id: Expression<unknown>;
  actor: Expression<unknown>;
  text: Expression<unknown>;
  /** How many entries of the statement come after it in the same feed. */
  later?: Expression<unknown>;
}

/** Enters what happened in the feeds of changed issues: an entry for each of the rows that `from` selects. */
export function enteredInFeed(
  parts: Parts,
  { id, actor, text, later = sql.lit(0) }: FeedEntry,
  from: (selections: AliasedExpression<unknown, string>[]) => Expression<unknown>,
): Part {
  const { columns, selections } = columnsOf<'activity'>({
    issueId: sql.ref('changed.id'),
    sortOrder: sql`${sql.ref('changed.activity_count')} - ${later}`,
    id,
    eventType: typed('eventType', 'text'),
    actorUserAccountId: actor,
    occurredUtc: sql.ref('changed.last_activity_utc'),
    iconCss: typed('iconCss', 'text'),
    text,
  });
  return ['entered', parts.insertInto('activity').columns(columns).expression(from(selections))];
}

/** Lets people follow changed issues from now on: rows of an issue and an account. */
export function followedBy(parts: Parts, people: Expression<unknown>): Part {
  return [
    'followed',
    parts
      .insertInto('issueSubscription')
      .columns(['issueId', 'userAccountId'])
      .expression(people)
      .onConflict((conflict) => conflict.doNothing()),
  ];
}
