import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { always, type Predicate } from '../../src/db/query/conditions/predicate.ts';
import { type ChangeRow, selectChangePage } from '../../src/db/reads/change-pages.ts';
import type { TenantDb } from '../../src/db/tables/tenant-tables.ts';
import { changeTest } from '../../src/resolvers/changes/change-filter.ts';
import { Violations } from '../../src/resolvers/errors.ts';
import { filterPredicate } from '../../src/resolvers/filters.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import '../../src/schema/index.ts';
import { Change } from '../../src/schema/changes.ts';
import { importWorld, bead, type ImportWorld } from '../cli/import-world.ts';
import { copyTemplate, type TestDatabase } from '../support/templates.ts';
import { numberAllChanges } from './logged.ts';

let testDatabase: TestDatabase;
let world: ImportWorld;
let db: TenantDb;
let allChanges: ChangeRow[];

const read = async (where: Predicate) =>
  (await selectChangePage(db, { after: 0, where, limit: 1_000, scan: 5_000 })).rows;

beforeAll(async () => {
  testDatabase = await copyTemplate('migrated');
  world = await importWorld(testDatabase.database, 'Filters');
  world.write('a.jsonl', [bead('a', { labels: ['new'], assignee: 'Somebody New' }), bead('b'), bead('c')]);
  await world.beads('a.jsonl');
  world.write('a.jsonl', [bead('a', { title: 'Another title' }), bead('b'), bead('c')]);
  await world.beads('a.jsonl');
  await numberAllChanges(testDatabase.database);
  db = testDatabase.database.of(world.workspaceId);
  // So that some changes have an actor and others have none.
  await db
    .updateTable('change')
    .set({ actorUserAccountId: world.workspaceId, origin: 1 })
    .where('position', '<=', 3)
    .execute();
  allChanges = await read(always);
});
afterAll(async () => {
  world.remove();
  await testDatabase.drop();
});

/** Conditions on each column with each comparator, whose values occur in some of the changes. */
function conditions(): Record<string, unknown>[] {
  const [first] = allChanges;
  const issue = encodeId('issue', allChanges.find(({ issueId }) => issueId)?.issueId ?? '');
  const team = encodeId('team', allChanges.find(({ teamId }) => teamId)?.teamId ?? '');
  const actor = encodeId('user', first?.actorUserAccountId ?? '');
  const time = first?.occurredUtc;
  return [
    {},
    ...['eq', 'neq', 'contains', 'startsWith'].flatMap((comparator) =>
      ['Issue.created.v1', 'issue', 'CREATED', '%', '_', ''].map((value) => ({
        eventType: { [comparator]: value },
      })),
    ),
    ...['in', 'nin'].flatMap((comparator) =>
      [[], ['label.created.v1'], ['nothing', 'ISSUE.updated.v1']].map((value) => ({
        eventType: { [comparator]: value },
      })),
    ),
    ...[{ issueId: issue }, { teamId: team }, { actorUserAccountId: actor }].flatMap((condition) =>
      Object.entries(condition).flatMap(([field, id]) => [
        { [field]: { eq: id } },
        { [field]: { neq: id } },
        { [field]: { in: [id] } },
        { [field]: { nin: [id] } },
        { [field]: { isNull: true } },
        { [field]: { isNull: false } },
      ]),
    ),
    ...['eq', 'lt', 'lte', 'gt', 'gte'].map((comparator) => ({ occurredUtc: { [comparator]: time } })),
    { origin: { eq: 1 } },
    { origin: { neq: 1 } },
    { origin: { in: [2, 3] } },
  ];
}

it('a filter matches the same changes in memory as in SQL', async () => {
  const single = conditions();
  const filters = [
    ...single.flatMap((condition) => [condition, { not: condition }]),
    ...single.flatMap((condition, index) => {
      const other = single[(index * 7 + 3) % single.length] ?? {};
      return [
        { and: [condition, { not: other }] },
        { or: [condition, other] },
        { not: { or: [condition, other] } },
        { ...condition, ...other },
      ];
    }),
  ];
  const matchCounts = new Set<number>();
  for (const filter of filters) {
    const violations = new Violations();
    const predicate = filterPredicate(Change.filterFields(), filter, violations);
    violations.throwIfAny();
    const matches = changeTest(predicate);
    const expected = (await read(predicate)).map(({ position }) => position);
    expect([filter, matches && allChanges.filter(matches).map(({ position }) => position)]).toEqual([
      filter,
      expected,
    ]);
    matchCounts.add(expected.length);
  }
  expect(allChanges.length).toBeGreaterThan(8);
  expect(matchCounts.size).toBeGreaterThan(5);
});
