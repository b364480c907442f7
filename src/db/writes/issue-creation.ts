import { type Expression, sql } from 'kysely';
import { type Beside, besideColumns } from './issue-beside.ts';
import {
  type CounterColumn,
  inserted as insertedTypes,
  type InsertedColumn,
  issueColumns,
  jsonName,
} from '../../model/issue-columns.ts';
import { type IssueRow, nextNumber } from '../issues.ts';
import { PreparedSelect, StatementsByShape, uuidArray, type Values } from '../query/prepared.ts';
import { movedCounts } from './write-counts.ts';
import { typed } from '../query/slots.ts';
import { columnsOf, composed, followedBy, type Parts, partsOf } from './write-parts.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';

/** Which of their sets new issues have anything in. */
export interface IssueCreationShape {
  assignees: boolean;
  labels: boolean;
  roles: boolean;
  /** Is any in a delivery or a project. */
  counted: boolean;
  /** What it tells of besides. */
  beside: readonly 'deliveryCount'[];
  /** In several teams, those of which whose numbers nobody else has locked. */
  several: boolean;
}

/** A new issue as it is given to its statement. */
export interface NewIssue {
  columns: Readonly<
    Record<Exclude<InsertedColumn, 'labelIds' | 'assigneeUserAccountIds'>, string | number | null>
  >;
  /** In their order. */
  assignees: readonly { userAccountId: string; position: number }[];
  labels: readonly string[];
  roles: readonly { role: string; userAccountId: string }[];
  followers: readonly string[];
}

/** The issue as it is then. */
export type IssueCreated = IssueRow & Beside;

/** Writes issues with the next numbers of their teams, in their order, and all that goes with them, by one statement. */
export const issueCreations = new StatementsByShape<IssueCreationShape, IssueCreated>(
  (db, shape) =>
    new PreparedSelect<IssueCreated>(issueCreation(db, shape), [...issueColumns, ...shape.beside]),
);

/** The new issues of a team. */
export interface NewIssues {
  teamId: string;
  issues: readonly NewIssue[];
}

/** New issues as the statement takes them. */
export function creationValues(teams: readonly NewIssues[]): Values {
  const issues = teams.flatMap((team) => team.issues);
  const rowsOf = <Item>(items: (issue: NewIssue) => readonly Item[]) =>
    issues.flatMap((issue) => items(issue).map((item) => ({ issue: String(issue.columns.id), item })));
  const assignees = rowsOf((issue) => issue.assignees);
  const labels = rowsOf((issue) => issue.labels);
  const roles = rowsOf((issue) => issue.roles);
  const followers = rowsOf((issue) => issue.followers);
  const ofIssues = (rows: readonly { issue: string }[]) => uuidArray(rows.map(({ issue }) => issue));
  return {
    teams: uuidArray(teams.map(({ teamId }) => teamId)),
    counts: teams.map((team) => team.issues.length),
    given: JSON.stringify(
      teams.flatMap((team, index) =>
        team.issues.map((issue, place) => ({ ...jsonRow(issue), team: index + 1, place })),
      ),
    ),
    assigned: ofIssues(assignees),
    assignees: uuidArray(assignees.map(({ item }) => item.userAccountId)),
    positions: assignees.map(({ item }) => item.position),
    labelled: ofIssues(labels),
    labels: uuidArray(labels.map(({ item }) => item)),
    played: ofIssues(roles),
    roles: roles.map(({ item }) => item.role),
    holders: uuidArray(roles.map(({ item }) => item.userAccountId)),
    followed: ofIssues(followers),
    followers: uuidArray(followers.map(({ item }) => item)),
  };
}

const names = Object.keys(insertedTypes).map(
  (column) => [column as InsertedColumn, jsonName(column)] as const,
);

function jsonRow({ columns, labels, assignees }: NewIssue): Record<string, unknown> {
  const values: Record<InsertedColumn, unknown> = {
    ...columns,
    labelIds: labels.toSorted(),
    assigneeUserAccountIds: assignees.map(({ userAccountId }) => userAccountId),
  };
  return Object.fromEntries(names.map(([column, name]) => [name, values[column]]));
}

function issueCreation(
  db: TenantDb,
  { assignees, labels, roles, counted, beside, several }: IssueCreationShape,
) {
  const parts = partsOf(db);
  return composed(db, [
    several ? ['free', freeCounters(parts)] : undefined,
    ['numbered', several ? numberedInTeams(parts) : numbered(parts)],
    ['changed', inserted(parts)],
    assignees ? ['assigned', assigned(parts)] : undefined,
    labels ? ['labelled', labelled(parts)] : undefined,
    roles ? ['given', given(parts)] : undefined,
    followedBy(parts, followers(parts)),
    ...(counted ? movedCounts(db, 'new') : []),
  ])
    .selectFrom('changed')
    .select(issueColumns)
    .select(besideColumns(parts, beside, { counts: counted }));
}

const counts = typed<readonly number[]>('counts', 'int[]');
const numberedAt = sql<Date>`date_trunc('milliseconds', clock_timestamp())`.as('at');

/** The next numbers of the first team, which may not have given any yet. */
function numbered(parts: Parts) {
  const count = sql<number>`(${counts})[1]`;
  return nextNumber(parts, sql<string>`(${typed('teams', 'uuid[]')})[1]`, count).returning([
    'teamId',
    sql<number>`next_issue_number - ${count}`.as('number'),
    sql<number>`1`.as('place'),
    numberedAt,
  ]);
}

/** The counters that nobody else has locked: who writes in several teams waits for none of them. */
function freeCounters(parts: Parts) {
  const asked = sql<{
    id: string;
    count: number;
    place: number;
  }>`unnest(${typed('teams', 'uuid[]')}, ${counts}) with ordinality`;
  return parts
    .selectFrom('teamCounter')
    .innerJoin(asked.as<'asked'>(sql`asked(id, count, place)`), 'asked.id', 'teamCounter.teamId')
    .select(['asked.id', 'asked.count', sql<number>`asked.place::int`.as('place')])
    .forNoKeyUpdate('teamCounter')
    .skipLocked();
}

function numberedInTeams(parts: Parts) {
  return parts
    .updateTable('teamCounter')
    .from('free')
    .set((eb) => ({ nextIssueNumber: eb('teamCounter.nextIssueNumber', '+', eb.ref('free.count')) }))
    .whereRef('teamCounter.teamId', '=', 'free.id')
    .returning([
      'teamCounter.teamId',
      sql<number>`next_issue_number - free.count`.as('number'),
      'free.place',
      numberedAt,
    ]);
}

function inserted(parts: Parts) {
  const counted: Record<CounterColumn, Expression<unknown>> = {
    teamId: sql.ref('numbered.teamId'),
    number: sql`${sql.ref('numbered.number')} + ${sql.ref('one.place')}`,
    createdUtc: sql.ref('numbered.at'),
    updatedUtc: sql.ref('numbered.at'),
  };
  const own = names.map(([column, name]) => [column, sql.ref(`one.${name}`)] as const);
  const { columns, selections } = columnsOf<'issue'>({ ...counted, ...Object.fromEntries(own) });
  const types = { team: 'int', place: 'int', ...insertedTypes };
  const definitions = Object.entries(types).map(([name, type]) => `"${jsonName(name)}" ${type}`);
  const ones = sql<{ id: string; team: number }>`json_to_recordset(${typed('given', 'json')})`;
  return parts
    .insertInto('issue')
    .columns(columns)
    .expression(
      parts
        .selectFrom('numbered')
        .innerJoin(ones.as<'one'>(sql`one(${sql.raw(definitions.join(', '))})`), 'one.team', 'numbered.place')
        .select(selections),
    )
    .returningAll();
}

function assigned(parts: Parts) {
  const people = sql<{ issue: string; id: string; position: number }>`unnest(${typed(
    'assigned',
    'uuid[]',
  )}, ${typed('assignees', 'uuid[]')}, ${typed('positions', 'int[]')})`;
  return parts
    .insertInto('issueAssignee')
    .columns(['issueId', 'userAccountId', 'position'])
    .expression(
      parts
        .selectFrom('changed')
        .innerJoin(people.as<'person'>(sql`person(issue, id, position)`), 'person.issue', 'changed.id')
        .select(['changed.id', 'person.id as userAccountId', 'person.position']),
    );
}

function labelled(parts: Parts) {
  const labels = sql<{ issue: string; id: string }>`unnest(${typed('labelled', 'uuid[]')}, ${typed(
    'labels',
    'uuid[]',
  )})`;
  return parts
    .insertInto('issueLabel')
    .columns(['issueId', 'labelId'])
    .expression(
      parts
        .selectFrom('changed')
        .innerJoin(labels.as<'one'>(sql`one(issue, id)`), 'one.issue', 'changed.id')
        .select(['changed.id', 'one.id as labelId']),
    );
}

function given(parts: Parts) {
  const roles = sql<{ issue: string; role: string; id: string }>`unnest(${typed('played', 'uuid[]')}, ${typed(
    'roles',
    'text[]',
  )}, ${typed('holders', 'uuid[]')})`;
  return parts
    .insertInto('issueRoleAssignment')
    .columns(['issueId', 'role', 'userAccountId'])
    .expression(
      parts
        .selectFrom('changed')
        .innerJoin(roles.as<'given'>(sql`given(issue, role, id)`), 'given.issue', 'changed.id')
        .select(['changed.id', 'given.role', 'given.id as userAccountId']),
    )
    .onConflict((conflict) => conflict.doNothing());
}

function followers(parts: Parts) {
  const people = sql<{ issue: string; id: string }>`unnest(${typed('followed', 'uuid[]')}, ${typed(
    'followers',
    'uuid[]',
  )})`;
  return parts
    .selectFrom('changed')
    .innerJoin(people.as<'person'>(sql`person(issue, id)`), 'person.issue', 'changed.id')
    .select(['changed.id', 'person.id as userAccountId']);
}
