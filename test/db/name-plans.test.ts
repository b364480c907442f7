import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { predicateSql } from '../../src/db/query/conditions/predicate.ts';
import { untyped } from '../../src/db/query/any-tables.ts';
import type { TenantDb } from '../../src/db/tables/tenant-tables.ts';
import { planOfExplain, type Plan } from '../support/plans.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';

const rows = 5_000;
const names = Array.from({ length: 250 }, (_, index) => `area of the product ${1 + index * 19}`);

let copy: TestDatabase;
let db: TenantDb;
beforeAll(async () => {
  copy = await copyTemplate('demo');
  const { unscoped } = copy.database;
  const { id } = await unscoped.selectFrom('workspace').select('id').executeTakeFirstOrThrow();
  db = copy.database.of(id);
  await sql`
    insert into user_account (id) select md5(n::text)::uuid from generate_series(1, ${rows}::int) n`.execute(
    unscoped,
  );
  await sql`
    insert into member (workspace_id, id, user_account_id, display_name, display_name_fold, email_address, email_address_fold,
      principal_kind, role, status)
    select ${id}::uuid, md5(n::text)::uuid, md5(n::text)::uuid, name, name, name, name, 1, 3, 2
    from generate_series(1, ${rows}::int) n, concat('area of the product ', n) name`.execute(unscoped);
  await sql`
    insert into label (workspace_id, id, name, name_fold)
    select ${id}::uuid, md5(n::text)::uuid, name, name
    from generate_series(1, ${rows}::int) n, concat('area of the product ', n) name`.execute(unscoped);
  await sql`vacuum analyze member, label`.execute(unscoped);
});
afterAll(() => copy.drop());

it('only the texts of issues, which are never compared by equality, have an index of trigrams', async () => {
  const { rows: found } = await sql<{ name: string }>`
    select indexname as name from pg_indexes
    where schemaname = 'public' and indexdef like '%gin_trgm_ops%'`.execute(copy.database.unscoped);
  expect(found.map(({ name }) => name)).toEqual(['issue_text_by_words']);
});

const columns = [
  ['label', 'nameFold'],
  ['member', 'displayNameFold'],
  ['member', 'emailAddressFold'],
] as const;

it.each(columns)('a list of names reads few pages of %s by %s', async (table, column) => {
  const query = untyped(db)
    .selectFrom(`${table} as r0`)
    .select('r0.id')
    .where(predicateSql({ column, in: names }, 'r0'));
  const { sql: text, parameters } = query.compile();
  const connection = await copy.database.connect();
  const plan: PlanWithBuffers | undefined = await planOfExplain(
    connection,
    `explain (analyze, buffers, format json) ${text}`,
    parameters,
  );
  connection.release();
  expect(plan?.['Actual Rows']).toBe(names.length);
  // An index finds each name in three or four pages.
  expect(plan?.['Shared Hit Blocks']).toBeLessThan(5 * names.length);
});

interface PlanWithBuffers extends Plan {
  'Shared Hit Blocks'?: number;
}
