import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Comparable, Predicate } from '../../src/db/query/conditions/predicate.ts';
import { untyped } from '../../src/db/query/any-tables.ts';
import { selectMatchingIds } from '../../src/db/reads/matching-ids.ts';
import type { TenantDb } from '../../src/db/tables/tenant-tables.ts';
import { ReferenceMemory } from '../../src/reference/memory.ts';
import type { FilterField, FilterFields } from '../../src/resolvers/filters.ts';
import { conditionsOf, issuesInMemory, matchingIn } from '../../src/resolvers/issues/issues-in-memory.ts';
import '../../src/schema/index.ts';
import { Issue } from '../../src/schema/issues.ts';
import { Random } from '../support/random.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';

const filters = 400;

let testDatabase: TestDatabase;
let memory: ReferenceMemory;
let db: TenantDb;
let workspaceId: string;
const rows = new Map<string, Record<string, unknown>[]>();

beforeAll(async () => {
  testDatabase = await copyTemplate('demo');
  memory = new ReferenceMemory(testDatabase.database, {});
  ({ id: workspaceId } = await testDatabase.database.unscoped
    .selectFrom('workspace as w')
    .select('w.id')
    .orderBy(
      (eb) =>
        eb
          .selectFrom('issue as i')
          .whereRef('i.workspaceId', '=', 'w.id')
          .select(({ fn }) => fn.countAll().as('n')),
      'desc',
    )
    .executeTakeFirstOrThrow());
  db = testDatabase.database.of(workspaceId);
});
afterAll(async () => {
  await memory.close();
  await testDatabase.drop();
});

async function rowsOf(table: string): Promise<Record<string, unknown>[]> {
  const cached = rows.get(table) ?? (await untyped(db).selectFrom(`${table} as r0`).selectAll().execute());
  rows.set(table, cached);
  return cached;
}

/** A predicate as `filters.ts` makes it from the filter of a type with this table, with values that occur in its rows. */
async function filterOf(
  random: Random,
  table: string,
  fields: FilterFields,
  depth: number,
): Promise<Predicate> {
  const conditions: Predicate[] = [];
  for (const [, field] of random.sample(Object.entries(fields), random.integer(1, 2)))
    conditions.push(await conditionOf(random, table, field, depth));
  if (depth > 0 && random.chance(0.5)) {
    const inner = () => filterOf(random, table, fields, depth - 1);
    conditions.push(random.chance(0.5) ? { not: await inner() } : { any: [await inner(), await inner()] });
  }
  return { all: conditions };
}

async function conditionOf(
  random: Random,
  table: string,
  field: FilterField,
  depth: number,
): Promise<Predicate> {
  if (field.kind === 'reference' || field.kind === 'through') {
    const { target } = field;
    const filter = await filterOf(random, target.table, target.filter(), depth - 1);
    const where = random.chance(0.1) ? target.where : { all: [target.where, filter] };
    if (field.kind === 'reference')
      return { column: field.column, references: target.table, by: target.by, where };
    const some: Predicate = { through: field.through, own: field.own, where };
    return random.chance(0.5) ? some : { not: some };
  }
  const { column } = field;
  if (random.chance(0.15)) return { column, isNull: random.chance(0.5) };
  const value = async () => {
    const found = random.find(await rowsOf(table))?.[column] as Comparable | null | undefined;
    return found ?? undefined;
  };
  const values = [await value(), await value()].filter((each) => each !== undefined);
  const [first] = values;
  if (first === undefined || random.chance(0.3)) return { column, in: values };
  if (field.kind === 'id') return { column, is: 'eq', value: first };
  if (field.kind === 'text')
    return {
      column,
      is: random.pick(['eq', 'contains', 'startsWith']),
      value: String(first).slice(0, random.integer(1, 12)),
    };
  return { column, is: random.pick(['eq', 'lt', 'lte', 'gt', 'gte']), value: first };
}

it('a filter of issues matches the same issues in memory as in SQL', async () => {
  const random = new Random('filters of issues');
  const ids = (await rowsOf('issue')).map(({ id }) => String(id));
  const reference = { renewed: () => memory.renewed(workspaceId) };
  const issues = await issuesInMemory(
    { connect: () => testDatabase.database.connect(), reference },
    workspaceId,
    ids,
  );
  let judgedCount = 0;
  const sizes = new Set<number>();
  for (let n = 0; n < filters; n += 1) {
    const filter = await filterOf(random, 'issue', Issue.filterFields(), 2);
    const matches = matchingIn(issues, conditionsOf(filter));
    if (!matches) continue;
    judgedCount += 1;
    const expected = await selectMatchingIds(db, 'issue', filter, ids);
    expect([filter, [...matches].toSorted()]).toEqual([filter, [...expected].toSorted()]);
    sizes.add(matches.size);
  }
  // Memory cannot evaluate filters by other issues that it does not hold, nor comparisons of the order of texts.
  expect(judgedCount).toBeGreaterThan(filters / 2);
  expect(sizes.size).toBeGreaterThan(20);
});
