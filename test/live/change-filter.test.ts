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
import { numberAll } from './logged.ts';

let test: TestDatabase;
let world: ImportWorld;
let db: TenantDb;
let all: ChangeRow[];

const read = async (where: Predicate) =>
  (await selectChangePage(db, { after: 0, where, limit: 1_000, scan: 5_000 })).rows;

beforeAll(async () => {
  test = await copyTemplate('migrated');
  world = await importWorld(test.database, 'Filters');
  world.write('a.jsonl', [bead('a', { labels: ['new'], assignee: 'Somebody New' }), bead('b'), bead('c')]);
  await world.beads('a.jsonl');
  world.write('a.jsonl', [bead('a', { title: 'Another title' }), bead('b'), bead('c')]);
  await world.beads('a.jsonl');
  await numberAll(test.database);
  db = test.database.of(world.workspaceId);
  // Some with an actor, and some without a team.
  await db
    .updateTable('change')
    .set({ actorUserAccountId: world.workspaceId, origin: 1 })
    .where('position', '<=', 3)
    .execute();
  all = await read(always);
});
afterAll(async () => {
  world.remove();
  await test.drop();
});

/** Conditions of each column by each comparator, with values that some of the changes have. */
function conditions(): Record<string, unknown>[] {
  const [first] = all;
  const issue = encodeId('issue', all.find(({ issueId }) => issueId)?.issueId ?? '');
  const team = encodeId('team', all.find(({ teamId }) => teamId)?.teamId ?? '');
  const actor = encodeId('user', first?.actorUserAccountId ?? '');
  const time = first?.occurredUtc;
  return [
    {},
    ...['eq', 'neq', 'contains', 'startsWith'].flatMap((is) =>
      ['Issue.created.v1', 'issue', 'CREATED', '%', '_', ''].map((value) => ({ eventType: { [is]: value } })),
    ),
    ...['in', 'nin'].flatMap((is) =>
      [[], ['label.created.v1'], ['nothing', 'ISSUE.updated.v1']].map((value) => ({
        eventType: { [is]: value },
      })),
    ),
    ...[{ issueId: issue }, { teamId: team }, { actorUserAccountId: actor }].flatMap((named) =>
      Object.entries(named).flatMap(([field, id]) => [
        { [field]: { eq: id } },
        { [field]: { neq: id } },
        { [field]: { in: [id] } },
        { [field]: { nin: [id] } },
        { [field]: { isNull: true } },
        { [field]: { isNull: false } },
      ]),
    ),
    ...['eq', 'lt', 'lte', 'gt', 'gte'].map((is) => ({ occurredUtc: { [is]: time } })),
    { origin: { eq: 1 } },
    { origin: { neq: 1 } },
    { origin: { in: [2, 3] } },
  ];
}

it('a filter matches the same changes in memory as in SQL', async () => {
  const single = conditions();
  const filters = [
    ...single.flatMap((one) => [one, { not: one }]),
    ...single.flatMap((one, place) => {
      const other = single[(place * 7 + 3) % single.length] ?? {};
      return [
        { and: [one, { not: other }] },
        { or: [one, other] },
        { not: { or: [one, other] } },
        { ...one, ...other },
      ];
    }),
  ];
  const tellApart = new Set<number>();
  for (const filter of filters) {
    const violations = new Violations();
    const predicate = filterPredicate(Change.filterFields(), filter, violations);
    violations.throwIfAny();
    const matches = changeTest(predicate);
    const expected = (await read(predicate)).map(({ position }) => position);
    expect([filter, matches && all.filter(matches).map(({ position }) => position)]).toEqual([
      filter,
      expected,
    ]);
    tellApart.add(expected.length);
  }
  expect(all.length).toBeGreaterThan(8);
  expect(tellApart.size).toBeGreaterThan(5);
});
