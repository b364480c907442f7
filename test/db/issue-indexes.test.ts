import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Compilable, sql } from 'kysely';
import type { Database } from '../../src/db/engine/engine.ts';
import { indexUseOf } from '../../src/db/query/walks/index-use.ts';
import { matchesOf } from '../../src/db/query/walks/matches.ts';
import { pageQuery } from '../../src/db/query/pages/page.ts';
import { always, type Predicate } from '../../src/db/query/conditions/predicate.ts';
import type { Order, Source, Walk } from '../../src/db/query/walks/walk.ts';
import type { TenantDb } from '../../src/db/tables/tenant-tables.ts';
import { planOfExplain, type Plan } from '../support/plans.ts';
import { copyTemplate } from '../support/templates.ts';

// Every comment and change updates the indexes of the largest table, so each of them must be needed.

let database: Database;
let db: TenantDb;
let drop: () => Promise<void>;
beforeAll(async () => {
  ({ database, drop } = await copyTemplate('demo'));
  const { id } = await database.unscoped.selectFrom('workspace').select('id').executeTakeFirstOrThrow();
  db = database.of(id);
});
afterAll(() => drop());

const id = '01890000-0000-7000-8000-000000000000';
const notDeleted: Source = { table: 'issue', where: { column: 'deletedUtc', isNull: true } };
const is = (column: string): Predicate => ({ column, is: 'eq', value: id });
const above = (column: string, value: number | Date): Predicate => ({ column, is: 'gte', value });

/** The first page in an order. */
const page = (column: string, kind: Order['kind'], nullable = false, filter: Predicate = always) =>
  pageQuery({ db, columns: ['id'] }, walkOf({ column, kind, nullable, direction: 'asc' }, filter), {
    exactly: 10,
  });

/** The rows that match a filter, in any order. */
const matches = (filter: Predicate) => {
  const walk = walkOf({ column: 'dueDate', kind: 'date', nullable: true, direction: 'asc' }, filter);
  const [candidate] = indexUseOf(walk).candidates;
  if (!candidate) throw new Error('No index finds such rows.');
  return matchesOf({ db, columns: ['id'] }, walk.source, candidate, 10).select('r0.id');
};

function walkOf(order: Order, filter: Predicate): Walk {
  return { source: notDeleted, filter, order, backward: false };
}

/** For each index of `issue`, a statement of the product that needs it. */
const needs: Readonly<Record<string, () => Compilable>> = {
  issue_pkey: () => db.selectFrom('issue').select('title').where('id', '=', id),
  issue_workspace_id_team_id_number_key: () => page('number', 'int', false, is('teamId')),
  issue_by_number: () => page('number', 'int'),
  issue_by_created_with_estimate: () => page('createdUtc', 'time'),
  issue_by_updated: () => page('updatedUtc', 'time'),
  issue_by_priority: () => page('priorityRank', 'int'),
  issue_by_status: () => page('statusRank', 'int'),
  issue_by_title: () => page('titleFold', 'text'),
  issue_by_due_date: () => page('dueDate', 'date', true),
  issue_by_last_activity: () => page('lastActivityUtc', 'time', true),
  issue_by_started: () => page('startedUtc', 'time', true),
  issue_by_closed: () => matches(above('closedUtc', new Date(0))),
  issue_by_estimate: () => matches(above('estimateValue', 8)),
  issue_by_last_comment: () => matches(above('lastCommentUtc', new Date(0))),
  issue_by_team_and_created: () => page('createdUtc', 'time', false, is('teamId')),
  issue_by_team_and_updated: () => page('updatedUtc', 'time', false, is('teamId')),
  issue_by_team_and_priority: () => page('priorityRank', 'int', false, is('teamId')),
  issue_by_team_and_status: () => page('statusRank', 'int', false, is('teamId')),
  issue_by_status_id: () => page('createdUtc', 'time', false, is('statusId')),
  issue_by_reporter: () => page('createdUtc', 'time', false, is('reporterUserAccountId')),
  issue_by_project: () => page('createdUtc', 'time', false, is('projectId')),
  issue_by_delivery: () => page('createdUtc', 'time', false, is('deliveryId')),
  issue_by_primary_assignee: () => page('createdUtc', 'time', false, is('primaryAssigneeUserAccountId')),
  issue_by_parent: () => page('createdUtc', 'time', false, is('parentIssueId')),
  // PostgreSQL looks for sub-issues of an issue that is removed for good, even for deleted ones.
  issue_of_parent: () => db.selectFrom('issue').select('id').where('parentIssueId', '=', id),
  // A restored issue gets those sub-issues back that it had when it was deleted.
  issue_by_deleted_parent: () => db.selectFrom('issue').select('id').where('deletedParentIssueId', '=', id),
  // The janitor removes those that were deleted long ago.
  issue_deleted: () =>
    database.unscoped
      .selectFrom('issue')
      .select('id')
      .where('deletedUtc', '<', new Date(0))
      .orderBy('deletedUtc')
      .limit(20),
};

it('each index has a statement that needs it', async () => {
  const { rows } = await sql<{ name: string }>`
    select indexname as name from pg_indexes where tablename = 'issue' and schemaname = 'public'`.execute(
    database.unscoped,
  );
  expect(rows.map(({ name }) => name).toSorted()).toEqual(Object.keys(needs).toSorted());
});

it.each(Object.entries(needs))('the statement for %s uses that index', async (name, statement) => {
  expect(await indexesIn(statement())).toContain(name);
});

/** The indexes in the plan of a statement, for a table that is too large to be read as a whole. */
async function indexesIn(statement: Compilable): Promise<string[]> {
  const { sql: text, parameters } = statement.compile();
  const connection = await database.connect();
  try {
    await connection.query('begin; set local enable_seqscan = off; set local enable_sort = off', []);
    const found: string[] = [];
    const visit = (plan: Plan | undefined) => {
      if (plan?.['Index Name'] !== undefined) found.push(plan['Index Name']);
      plan?.Plans?.forEach(visit);
    };
    visit(await planOfExplain(connection, `explain (format json) ${text}`, parameters));
    return found;
  } finally {
    await connection.query('rollback', []);
    connection.release();
  }
}
