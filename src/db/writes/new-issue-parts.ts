import { type AliasedRawBuilder, sql } from 'kysely';
import { typedSlot } from '../statements/slots.ts';
import type { Parts } from './write-parts.ts';

// The parts that insert what belongs to new issues. Each reads parallel arrays: of issues, and of one value for each.

export function insertAssignees(parts: Parts) {
  const people = unnestSlots<{ issue: string; id: string; position: number }, 'person'>('person', {
    issue: ['assigneeIssues', 'uuid[]'],
    id: ['assignees', 'uuid[]'],
    position: ['positions', 'int[]'],
  });
  return parts
    .insertInto('issueAssignee')
    .columns(['issueId', 'userAccountId', 'position'])
    .expression(
      parts
        .selectFrom('changed')
        .innerJoin(people, 'person.issue', 'changed.id')
        .select(['changed.id', 'person.id as userAccountId', 'person.position']),
    );
}

export function insertLabels(parts: Parts) {
  const labels = unnestSlots<{ issue: string; id: string }, 'one'>('one', {
    issue: ['labelIssues', 'uuid[]'],
    id: ['labels', 'uuid[]'],
  });
  return parts
    .insertInto('issueLabel')
    .columns(['issueId', 'labelId'])
    .expression(
      parts
        .selectFrom('changed')
        .innerJoin(labels, 'one.issue', 'changed.id')
        .select(['changed.id', 'one.id as labelId']),
    );
}

export function insertRoleAssignments(parts: Parts) {
  const roles = unnestSlots<{ issue: string; role: string; id: string }, 'one'>('one', {
    issue: ['roleIssues', 'uuid[]'],
    role: ['roles', 'text[]'],
    id: ['holders', 'uuid[]'],
  });
  return parts
    .insertInto('issueRoleAssignment')
    .columns(['issueId', 'role', 'userAccountId'])
    .expression(
      parts
        .selectFrom('changed')
        .innerJoin(roles, 'one.issue', 'changed.id')
        .select(['changed.id', 'one.role', 'one.id as userAccountId']),
    )
    .onConflict((conflict) => conflict.doNothing());
}

export function selectFollowers(parts: Parts) {
  const people = unnestSlots<{ issue: string; id: string }, 'person'>('person', {
    issue: ['followerIssues', 'uuid[]'],
    id: ['followers', 'uuid[]'],
  });
  return parts
    .selectFrom('changed')
    .innerJoin(people, 'person.issue', 'changed.id')
    .select(['changed.id', 'person.id as userAccountId']);
}

/** The rows of parallel arrays. Each column is a slot with the type of its array. */
function unnestSlots<Row, Alias extends string>(
  alias: Alias,
  columns: { readonly [Name in keyof Row]: readonly [slot: string, type: string] },
): AliasedRawBuilder<Row, Alias> {
  const names = Object.keys(columns);
  const arrays = Object.values<readonly [string, string]>(columns).map(([name, type]) =>
    typedSlot(name, type),
  );
  return sql<Row>`unnest(${sql.join(arrays)})`.as<Alias>(sql.raw(`${alias}(${names.join(', ')})`));
}
