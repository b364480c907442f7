import { type Kysely, sql } from 'kysely';
import { issueColumns, type IssueRow, nextNumber } from './issues.ts';
import { PreparedSelect, StatementsByShape } from './prepared.ts';
import type { Tables } from './tables.ts';
import { movedCounts } from './write-counts.ts';
import { slot, typed } from './slots.ts';
import { columnsOf, composed, followedBy, type Parts, partsOf } from './write-parts.ts';

/** Which of its sets a new issue has anything in. */
export interface IssueCreationShape {
  assignees: boolean;
  labels: boolean;
  roles: boolean;
  /** Is it in a delivery or a project. */
  counted: boolean;
}

/** Writes an issue with the next number of its team and all that goes with it, by one statement. */
export const issueCreations = new StatementsByShape<IssueCreationShape, IssueRow>(
  (db, shape) => new PreparedSelect<IssueRow>(issueCreation(db, shape), issueColumns),
);

function issueCreation(db: Kysely<Tables>, { assignees, labels, roles, counted }: IssueCreationShape) {
  const parts = partsOf(db);
  return composed(db, [
    ['numbered', numbered(parts)],
    ['changed', inserted(parts)],
    assignees ? ['assigned', assigned(parts)] : undefined,
    labels ? ['labelled', labelled(parts)] : undefined,
    roles ? ['given', given(parts)] : undefined,
    followedBy(parts),
    ...(counted ? movedCounts(db, 'new') : []),
  ])
    .selectFrom('changed')
    .select(issueColumns);
}

function numbered(parts: Parts) {
  return nextNumber(parts, slot('workspaceId'), slot('teamId')).returning((eb) => [
    'workspaceId',
    eb('nextIssueNumber', '-', 1).as('number'),
    sql<Date>`date_trunc('milliseconds', clock_timestamp())`.as('at'),
  ]);
}

function inserted(parts: Parts) {
  const { columns, selections } = columnsOf<'issue'>({
    workspaceId: sql.ref('numbered.workspaceId'),
    id: typed('id', 'uuid'),
    teamId: typed('teamId', 'uuid'),
    number: sql.ref('numbered.number'),
    title: typed('title', 'text'),
    titleFold: typed('titleFold', 'text'),
    description: typed('description', 'text'),
    reporterUserAccountId: typed('actor', 'uuid'),
    statusId: typed('statusId', 'uuid'),
    statusRank: typed('statusRank', 'int'),
    priority: typed('priority', 'smallint'),
    primaryAssigneeUserAccountId: typed('primaryAssignee', 'uuid'),
    projectId: typed('projectId', 'uuid'),
    deliveryId: typed('deliveryId', 'uuid'),
    estimateValue: typed('estimateValue', 'int'),
    dueDate: typed('dueDate', 'date'),
    createdUtc: sql.ref('numbered.at'),
    updatedUtc: sql.ref('numbered.at'),
  });
  return parts
    .insertInto('issue')
    .columns(columns)
    .expression(parts.selectFrom('numbered').select(selections))
    .returningAll();
}

function assigned(parts: Parts) {
  const people = sql<{ id: string; position: number }>`unnest(${typed('assignees', 'uuid[]')}, ${typed(
    'positions',
    'int[]',
  )})`;
  return parts
    .insertInto('issueAssignee')
    .columns(['workspaceId', 'issueId', 'userAccountId', 'position'])
    .expression(
      parts
        .selectFrom(['changed', people.as<'person'>(sql`person(id, position)`)])
        .select(['changed.workspaceId', 'changed.id', 'person.id as userAccountId', 'person.position']),
    );
}

function labelled(parts: Parts) {
  return parts
    .insertInto('issueLabel')
    .columns(['workspaceId', 'issueId', 'labelId'])
    .expression(
      parts
        .selectFrom('changed')
        .select(['workspaceId', 'id', sql<string>`unnest(${typed('labels', 'uuid[]')})`.as('labelId')]),
    );
}

function given(parts: Parts) {
  const roles = sql<{ role: string; id: string }>`unnest(${typed('roles', 'text[]')}, ${typed(
    'holders',
    'uuid[]',
  )})`;
  return parts
    .insertInto('issueRoleAssignment')
    .columns(['workspaceId', 'issueId', 'role', 'userAccountId'])
    .expression(
      parts
        .selectFrom(['changed', roles.as<'given'>(sql`given(role, id)`)])
        .select(['changed.workspaceId', 'changed.id', 'given.role', 'given.id as userAccountId']),
    )
    .onConflict((conflict) => conflict.doNothing());
}
