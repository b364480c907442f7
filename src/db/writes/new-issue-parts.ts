import { sql } from 'kysely';
import { typedSlot } from '../statements/slots.ts';
import type { Parts } from './write-parts.ts';

// The parts that insert what belongs to new issues. Each reads parallel arrays: of issues, and of one value for each.

export function insertAssignees(parts: Parts) {
  const people = sql<{ issue: string; id: string; position: number }>`unnest(${typedSlot(
    'assigned',
    'uuid[]',
  )}, ${typedSlot('assignees', 'uuid[]')}, ${typedSlot('positions', 'int[]')})`;
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

export function insertLabels(parts: Parts) {
  const labels = sql<{ issue: string; id: string }>`unnest(${typedSlot('labelled', 'uuid[]')}, ${typedSlot(
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

export function insertRoleAssignments(parts: Parts) {
  const roles = sql<{
    issue: string;
    role: string;
    id: string;
  }>`unnest(${typedSlot('played', 'uuid[]')}, ${typedSlot(
    'roles',
    'text[]',
  )}, ${typedSlot('holders', 'uuid[]')})`;
  return parts
    .insertInto('issueRoleAssignment')
    .columns(['issueId', 'role', 'userAccountId'])
    .expression(
      parts
        .selectFrom('changed')
        .innerJoin(roles.as<'one'>(sql`one(issue, role, id)`), 'one.issue', 'changed.id')
        .select(['changed.id', 'one.role', 'one.id as userAccountId']),
    )
    .onConflict((conflict) => conflict.doNothing());
}

export function selectFollowers(parts: Parts) {
  const people = sql<{ issue: string; id: string }>`unnest(${typedSlot('followed', 'uuid[]')}, ${typedSlot(
    'followers',
    'uuid[]',
  )})`;
  return parts
    .selectFrom('changed')
    .innerJoin(people.as<'person'>(sql`person(issue, id)`), 'person.issue', 'changed.id')
    .select(['changed.id', 'person.id as userAccountId']);
}
