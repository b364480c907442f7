import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Compilable, sql } from 'kysely';
import { longLogsQuery } from '../../src/db/changes.ts';
import { always, type Predicate } from '../../src/db/query/conditions/predicate.ts';
import { changePageQuery } from '../../src/db/reads/change-pages.ts';
import type { TenantDb } from '../../src/db/tables/tenant-tables.ts';
import { planOf, rowsReadBy } from '../support/plans.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';
import { numberAllChanges } from './logged.ts';

const length = 30_000;
const scan = 50;

let testDatabase: TestDatabase;
let db: TenantDb;
let start: number;

beforeAll(async () => {
  testDatabase = await copyTemplate('demo');
  const { unscoped } = testDatabase.database;
  const { id } = await unscoped.selectFrom('workspace').select('id').executeTakeFirstOrThrow();
  db = testDatabase.database.of(id);
  await numberAllChanges(testDatabase.database);
  const head = await db.selectFrom('changeHead').select('position').executeTakeFirstOrThrow();
  start = head.position;
  const last = await db
    .selectFrom('change')
    .selectAll()
    .where('position', '=', start)
    .executeTakeFirstOrThrow();
  await sql`insert into change (workspace_id, position, id, sort_order, event_type, occurred_utc, issue_id, subject_id, fields, origin, tag)
    select workspace_id, position + n, gen_random_uuid(), n, event_type, occurred_utc, issue_id, subject_id, fields, origin, tag
    from change, generate_series(1, ${length}::int) n where workspace_id = ${id} and position = ${last.position}`.execute(
    unscoped,
  );
  await db
    .updateTable('changeHead')
    .set({ position: start + length })
    .execute();
  // Now PostgreSQL knows how long the log is, and chooses the plans of a long log.
  await sql`analyze change, change_head`.execute(unscoped);
});
afterAll(() => testDatabase.drop());

const conditions: readonly (readonly [string, Predicate])[] = [
  ['all changes', always],
  ['changes of a type', { column: 'eventType', is: 'eq', value: 'issue.created.v1' }],
  ['changes that do not exist', { column: 'eventType', is: 'eq', value: 'nothing' }],
];

it.each(conditions)('a page of %s reads no more of a long log than it may examine', async (_name, where) => {
  for (const after of [null, start, start + length / 2, start + length - 10, start + length]) {
    // The changes that are examined, and the first and the last of the log.
    const maxRows = scan + 2;
    const query = changePageQuery(db, { after, where, limit: 10, scan });
    expect(await changesRead(query)).toBeLessThanOrEqual(maxRows);
  }
});

it('the search for old changes reads at most two of each workspace', async () => {
  const query = longLogsQuery(testDatabase.database.unscoped, new Date(0), length * 10);
  expect(await changesRead(query)).toBeLessThanOrEqual(2);
});

async function changesRead(query: Compilable): Promise<number> {
  const connection = await testDatabase.database.connect();
  const plan = await planOf(connection, query);
  connection.release();
  return rowsReadBy(plan, 'change');
}
