import { type Expression, sql } from 'kysely';
import {
  columnTypes,
  type CounterColumn,
  type HistoryColumn,
  historyColumns,
  type InsertedColumn,
  insertedColumns,
  issueColumns,
  jsonName,
} from '../../model/issue-columns.ts';
import { changeOrigin } from '../../model/codes.ts';
import type { IssueRow } from '../issues.ts';
import { PreparedSelect, StatementsByForm } from '../query/prepared-select.ts';
import type { StatementTarget } from '../engine/statement-target.ts';
import { uuidArray } from '../statements/uuid-array.ts';
import type { Values } from '../statements/prepared.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';
import { followUps, type IssueWrite } from './follow-ups.ts';
import { logPart, type WriteEvent } from './change-log.ts';
import { type Preloaded, preloadedColumns } from './preloaded.ts';
import { inCategories } from './issue-counts.ts';
import { followersPart, type LogEntry } from './issue-parts.ts';
import { areKeyed, isFree, type KeyedItem, keptKeysByEntry, keyParts, keyValues } from './kept-keys.ts';
import { insertAssignees, selectFollowers, insertLabels, insertRoleAssignments } from './new-issue-parts.ts';
import { columnsOf, withParts, jsonRow, type Part, type Parts, partsOf, recordset } from './write-parts.ts';

/** What the statement of new issues depends on. New issues of the same form are written by the same statement. */
interface IssuesForm {
  /** Whether any of them has assignees, labels, or role assignments. */
  assignees: boolean;
  labels: boolean;
  roles: boolean;
  /** Whether any of them is in a delivery or a project. */
  inDeliveryOrProject: boolean;
  /** Whether they are imported with their own times and counts. */
  history: boolean;
  /** Whether any of them has an Idempotency-Key. */
  keyed: boolean;
}

interface IssueCreationForm extends IssuesForm {
  /** The tables whose rows of the issues are also returned by the statement, because the answer shows them. */
  preloads: readonly 'deliveryCount'[];
  /**
   * Whether the statement waits for a team whose counter another transaction has locked. A write to several teams does
   * not wait, and leaves such a team out.
   */
  wait: boolean;
}

type Value = string | number | Date | null;

/** A new issue of a team. */
export interface NewIssue extends KeyedItem {
  teamId: string;
  columns: Readonly<Record<Exclude<InsertedColumn, 'labelIds' | 'assigneeUserAccountIds'>, Value>>;
  /** The values of an imported issue that is created with its history. */
  history?: Readonly<Record<HistoryColumn, Value>>;
  event: Pick<LogEntry, 'id' | 'actor' | 'request'>;
  /** In their order. */
  assignees: readonly { userAccountId: string; position: number }[];
  labels: readonly string[];
  roles: readonly { role: string; userAccountId: string }[];
  followers: readonly string[];
}

export type CreatedIssue = IssueRow & Preloaded;

export function formOf(issues: readonly NewIssue[]): IssuesForm {
  return {
    assignees: issues.some(({ assignees }) => assignees.length > 0),
    labels: issues.some(({ labels }) => labels.length > 0),
    roles: issues.some(({ roles }) => roles.length > 0),
    inDeliveryOrProject: issues.some(
      ({ columns }) => columns.deliveryId !== null || columns.projectId !== null,
    ),
    history: issues.some(({ history }) => history !== undefined),
    keyed: areKeyed(issues),
  };
}

/**
 * Inserts issues with the next numbers of their teams, in their order, and everything that belongs to them, by one
 * statement. Returns a row for each, in their order; undefined for an issue whose team is locked while the form does
 * not wait.
 */
export async function createIssues(
  target: StatementTarget,
  form: IssueCreationForm,
  issues: readonly NewIssue[],
): Promise<(CreatedIssue | undefined)[]> {
  if (issues.length === 0) return [];
  const origin = form.history ? changeOrigin.import : changeOrigin.request;
  const event: WriteEvent = { eventType: 'issue.created.v1', origin };
  const rows = await statements.send(target, form, { ...creationValues(issues), ...event });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return issues.map(({ columns }) => byId.get(String(columns.id)));
}

const statements = new StatementsByForm<IssueCreationForm, CreatedIssue>(
  (db, form) =>
    new PreparedSelect<CreatedIssue>(issueCreation(db, form), [...issueColumns, ...form.preloads]),
);

function creationValues(issues: readonly NewIssue[]): Values {
  const teams = [...Map.groupBy(issues, ({ teamId }) => teamId)];
  const rowsOf = <Item>(items: (issue: NewIssue) => readonly Item[]) =>
    issues.flatMap((issue) => items(issue).map((item) => ({ issue: String(issue.columns.id), item })));
  const assignees = rowsOf((issue) => issue.assignees);
  const labels = rowsOf((issue) => issue.labels);
  const roles = rowsOf((issue) => issue.roles);
  const followers = rowsOf((issue) => issue.followers);
  const issuesOf = (rows: readonly { issue: string }[]) => uuidArray(rows.map(({ issue }) => issue));
  return {
    ...keyValues(issues.map(({ key, event }) => ({ key, entry: event.id }))),
    teams: JSON.stringify(
      teams.map(([id, { length }], index) => ({ id, count: length, ordinal: index + 1 })),
    ),
    newIssues: JSON.stringify(
      teams.flatMap(([, ofTeam], index) =>
        ofTeam.map((issue, ordinal) => ({ ...issueRow(issue), team: index + 1, ordinal })),
      ),
    ),
    assigneeIssues: issuesOf(assignees),
    assignees: uuidArray(assignees.map(({ item }) => item.userAccountId)),
    positions: assignees.map(({ item }) => item.position),
    labelIssues: issuesOf(labels),
    labels: uuidArray(labels.map(({ item }) => item)),
    roleIssues: issuesOf(roles),
    roles: roles.map(({ item }) => item.role),
    holders: uuidArray(roles.map(({ item }) => item.userAccountId)),
    followerIssues: issuesOf(followers),
    followers: uuidArray(followers.map(({ item }) => item)),
  };
}

function issueRow({ columns, history, labels, assignees, event }: NewIssue): Record<string, unknown> {
  const values: Record<InsertedColumn, unknown> = {
    ...columns,
    labelIds: labels.toSorted(),
    assigneeUserAccountIds: assignees.map(({ userAccountId }) => userAccountId),
  };
  const { id: entry, actor, request } = event;
  return jsonRow({ ...values, ...history, entry, actor, request });
}

function issueCreation(
  db: TenantDb,
  { assignees, labels, roles, inDeliveryOrProject, history, keyed, preloads, wait }: IssueCreationForm,
) {
  const parts = partsOf(db);
  const own = [...insertedColumns, ...(history ? historyColumns : [])];
  const write: IssueWrite = { kind: 'insert', inDeliveryOrProject, history };
  const shown = parts
    .selectFrom('changed')
    .innerJoin('newIssues as one', 'one.id', 'changed.id')
    .select(issueColumns.map((column) => `changed.${column}` as const))
    .select(preloadedColumns(parts, preloads, write));
  const all = withParts(db, [
    ...(keyed ? keyParts(parts) : []),
    ['newIssues', newIssues(parts, own, keyed)],
    ['teams', teams(parts, keyed)],
    ...(wait ? [['counters', counters(parts)] as const] : freeCounters(parts)),
    ['numbered', selectNumbers(parts)],
    ['changed', insertIssues(parts, own, history)],
    assignees ? ['newAssignees', insertAssignees(parts)] : undefined,
    labels ? ['newLabels', insertLabels(parts)] : undefined,
    roles ? ['newRoleAssignments', insertRoleAssignments(parts)] : undefined,
    followersPart(parts, selectFollowers(parts)),
    creationLogPart(parts),
    ...followUps.flatMap((followUp) => followUp(db, write)),
    ...(keyed ? keptKeysByEntry(parts, shown.select(sql.ref<string>('one.entry').as('entry'))) : []),
  ]);
  if (keyed) return all.selectFrom('shown').select([...issueColumns, ...preloads]);
  return all
    .selectFrom('changed')
    .select(issueColumns)
    .select(preloadedColumns(parts, preloads, write));
}

/** Teams and how many new issues each of them gets. */
function teams(parts: Parts, keyed: boolean) {
  const columns = { id: 'uuid', count: 'int', ordinal: 'int' };
  const all = parts.selectFrom(
    recordset<{ id: string; count: number; ordinal: number }, 'one'>('teams', 'one', columns),
  );
  if (!keyed) return all.selectAll();
  return all
    .innerJoin('newIssues', 'newIssues.team', 'one.ordinal')
    .select(['one.id', sql<number>`count(*)::int`.as('count'), 'one.ordinal'])
    .groupBy(['one.id', 'one.ordinal']);
}

/** Takes numbers from the counters of the teams, in the order of their ids; a new team has no counter yet. */
function counters(parts: Parts) {
  return parts
    .insertInto('teamCounter')
    .columns(['teamId', 'nextIssueNumber'])
    .expression(
      parts
        .selectFrom('teams')
        .select(['teams.id', sql<number>`1 + teams.count`.as('next')])
        .orderBy('teams.id'),
    )
    .onConflict((conflict) =>
      conflict.columns(['teamId']).doUpdateSet({
        nextIssueNumber: sql<number>`team_counter.next_issue_number + excluded.next_issue_number - 1`,
      }),
    )
    .returning(['teamCounter.teamId', 'teamCounter.nextIssueNumber as next']);
}

/**
 * Takes numbers from those counters that no other transaction has locked; by a subquery, as `locked` does for issues.
 */
function freeCounters(parts: Parts): Part[] {
  const free = parts
    .selectFrom('teamCounter')
    .innerJoin('teams', 'teams.id', 'teamCounter.teamId')
    .select(['teams.id', 'teams.count'])
    .forNoKeyUpdate('teamCounter')
    .skipLocked();
  const taken = parts
    .updateTable('teamCounter')
    .from('freeCounters')
    .set((eb) => ({ nextIssueNumber: eb('teamCounter.nextIssueNumber', '+', eb.ref('freeCounters.count')) }))
    .whereRef('teamCounter.teamId', '=', 'freeCounters.id')
    .returning(['teamCounter.teamId', 'teamCounter.nextIssueNumber as next']);
  return [
    ['freeCounters', parts.selectFrom(free.as('found')).selectAll()],
    ['counters', taken],
  ];
}

/**
 * The numbers, with the time at which they were taken: the counters are locked by then. `returning` of the counters
 * could contain it too, but a distributed database allows only immutable expressions there.
 */
function selectNumbers(parts: Parts) {
  return parts
    .selectFrom('counters')
    .innerJoin('teams', 'teams.id', 'counters.teamId')
    .select([
      'counters.teamId',
      'teams.ordinal',
      sql<Date>`date_trunc('milliseconds', clock_timestamp())`.as('at'),
      sql<number>`counters.next - teams.count`.as('number'),
    ]);
}

type OwnColumn = InsertedColumn | HistoryColumn;

/** The new issues. With Idempotency-Keys, only those that may be written, with new ordinals. */
function newIssues(parts: Parts, own: readonly OwnColumn[], keyed: boolean) {
  const columns = {
    team: 'int',
    ordinal: 'int',
    entry: 'uuid',
    actor: 'uuid',
    request: 'text',
    ...Object.fromEntries(own.map((column) => [column, columnTypes[column]])),
  };
  const rows = recordset<{ id: string; team: number; ordinal: number }, 'one'>('newIssues', 'one', columns);
  if (!keyed) return parts.selectFrom(rows).selectAll();
  const names = Object.keys(columns).map(jsonName);
  const ordinal = sql<number>`(row_number() over (partition by one.team order by one.ordinal) - 1)::int`;
  return parts
    .selectFrom(rows)
    .select(names.filter((name) => name !== 'ordinal').map((name) => sql.ref(`one.${name}`).as(name)))
    .select(ordinal.as('ordinal'))
    .where(isFree);
}

function insertIssues(parts: Parts, own: readonly OwnColumn[], history: boolean) {
  const counter: Record<CounterColumn, Expression<unknown>> = {
    teamId: sql.ref('numbered.teamId'),
    number: sql`numbered.number + one.ordinal`,
    createdUtc: sql.ref('numbered.at'),
    updatedUtc: sql.ref('numbered.at'),
  };
  const { columns, selections } = columnsOf<'issue'>({
    ...counter,
    ...Object.fromEntries(own.map((column) => [column, sql.ref(`one.${jsonName(column)}`)])),
    ...(!history && { startedUtc: startedAtOnce }),
  });
  return parts
    .insertInto('issue')
    .columns(columns)
    .expression(
      parts
        .selectFrom('numbered')
        .innerJoin('newIssues as one', 'one.team', 'numbered.ordinal')
        .select(selections),
    )
    .returningAll();
}

/** Logs the creation of each issue, in the order of their numbers. */
function creationLogPart(parts: Parts): Part {
  const entry = {
    id: sql.ref('one.entry'),
    actor: sql.ref('one.actor'),
    request: sql.ref('one.request'),
    subject: sql.ref('changed.id'),
    at: sql.ref('numbered.at'),
  };
  return logPart(parts, entry, (selections) =>
    parts
      .selectFrom('changed')
      .innerJoin('newIssues as one', 'one.id', 'changed.id')
      .innerJoin('numbered', 'numbered.teamId', 'changed.teamId')
      .select(selections)
      .orderBy('one.team')
      .orderBy('one.ordinal'),
  );
}

const newRank = sql.ref<number>(`one.${jsonName('statusRank')}`);
const startedAtOnce = sql`case when ${inCategories(newRank, 'active')} then numbered.at end`;
