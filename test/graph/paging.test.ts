import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  askPage,
  listsOf,
  type PageArguments,
  readPage,
  parentOfLongestList,
  rowsOf,
  sampleLists,
} from './lists.ts';
import { defaultOrder, sortKeys } from './model-queries.ts';
import { connectionFields, type FieldOf, rowTypeOf } from './schema-walk.ts';
import { codesOf, dataOf } from './graph-answer.ts';
import { startWorld, type World } from './world.ts';

// Not the shared one, to whose access tokens and audit entries other suites add.
let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

const lists = sampleLists;

describe('sizes', () => {
  it.each(lists)(
    'of $coordinate are from 1 to its maximum, and first and last exclude each other',
    async (list) => {
      const maxSize = list.coordinate === 'AgentThread.messages' ? 1000 : 250;
      const refused: [PageArguments, string[]][] = [
        [{ first: 0 }, ['first']],
        [{ first: -1 }, ['first']],
        [{ first: maxSize + 1 }, ['first']],
        [{ first: 2_147_483_647 }, ['first']],
        [{ last: 0 }, ['last']],
        [{ last: maxSize + 1 }, ['last']],
        [{ first: 1, last: 1 }, ['last']],
        [{ first: 0, last: maxSize + 1, after: 'x' }, ['last', 'first', 'last', 'after']],
      ];
      for (const [args, fields] of refused) await expectRefused(list, args, fields);
      const all = rowsOf(world.model, list, parentOfLongestList(world.model, list)).length;
      for (const args of [{ first: maxSize }, { last: maxSize }, { first: null, last: null }, {}]) {
        expect((await readOwn(list, args)).nodes).toHaveLength(all);
      }
    },
  );

  it('of 1 return the first or the last row', async () => {
    const [list] = listsOf('Team');
    if (!list) throw new Error('There is no list of teams.');
    const first = await readOwn(list, { first: 1 });
    const last = await readOwn(list, { last: 1 });
    expect(first.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
    expect(last.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    expect(first.nodes).not.toEqual(last.nodes);
  });

  it('leave an empty list without cursors and further pages', async () => {
    const answer = await world.ask(
      '{ issues(filter: { number: { eq: -1 } }) { totalCount edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }',
    );
    const pageInfo = { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null };
    expect(dataOf(answer).issues).toEqual({ totalCount: 0, edges: [], pageInfo });
  });
});

describe('cursors', () => {
  it.each(lists)('of $coordinate may be empty, which means the start or the end', async (list) => {
    const whole = await readOwn(list, { first: 100 });
    expect(await readOwn(list, { first: 100, after: '' })).toEqual(whole);
    expect(await readOwn(list, { last: 100, before: '' })).toEqual(whole);
  });

  it.each(lists)('of $coordinate bound a page on both sides', async (list) => {
    const whole = await readOwn(list, { first: 100 });
    const after = whole.pageInfo.startCursor;
    const before = whole.pageInfo.endCursor;
    const inner = whole.nodes.slice(1, -1);
    expect((await readOwn(list, { first: 100, after, before })).nodes).toEqual(inner);
    expect((await readOwn(list, { last: 100, after, before })).nodes).toEqual(inner);
    expect((await readOwn(list, { first: 100, after: before, before: after })).nodes).toEqual([]);
  });

  it.each(lists)('of $coordinate are refused under another order, direction or filter', async (list) => {
    const after = await cursorOf(list);
    const { field, direction } = defaultOrder(rowTypeOf(list), list.coordinate);
    const others = Object.keys(sortKeys[rowTypeOf(list)] ?? {}).filter((other) => other !== field);
    const turned = direction === 'ASC' ? ('DESC' as const) : ('ASC' as const);
    const queries: PageArguments[] = [
      ...others.map((other) => ({ orderBy: { field: other, direction } })),
      { orderBy: { field, direction: turned } },
      { filter: { id: { nin: [] } } },
    ];
    for (const query of queries) {
      await expectRefused(list, { ...query, first: 1, after }, ['after']);
      await expectRefused(list, { ...query, last: 1, before: after }, ['before']);
    }
    // An empty filter is the same as no filter.
    expect((await readOwn(list, { after, filter: {} })).nodes).toEqual(
      (await readOwn(list, { after })).nodes,
    );
  });

  it('of a list are accepted by the same list of another parent', async () => {
    const after = await cursorOf(listNamed('Query.issues'));
    const newestFirst = listsOf('Issue').filter(
      ({ coordinate }) => defaultOrder('Issue', coordinate).direction === 'DESC',
    );
    for (const list of newestFirst) {
      const ids = (await readOwn(list, { first: 100 })).nodes.map(({ id }) => id);
      const rest = (await readOwn(list, { first: 100, after })).nodes.map(({ id }) => id);
      expect(ids).toEqual(expect.arrayContaining(rest));
    }
  });

  it('of one type are refused by lists of other types, even with the same kind of order', async () => {
    const orderOf = (list: FieldOf) => defaultOrder(rowTypeOf(list)).field;
    for (const from of lists) {
      const after = await cursorOf(from);
      const alike = lists.filter((list) => list !== from && orderOf(list) === orderOf(from));
      for (const list of alike) await expectRefused(list, { after }, ['after']);
    }
  });
});

describe('forged cursors', () => {
  it.each(lists)(
    'of $coordinate are refused if they are one of the list with something added',
    async (list) => {
      const cursor = await cursorOf(list);
      const [fingerprint, ...position]: unknown[] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
      const respelt = base64(JSON.stringify([fingerprint, ...position], null, 1));
      for (const after of [`${cursor}Il0!`, `${cursor}=`, ` ${cursor}`, `${cursor}\n`, `${cursor}A`, respelt])
        await expectRefused(list, { after }, ['after']);
    },
  );

  const garbage = [
    'x',
    '%',
    '\0',
    '💥',
    'null',
    base64('null'),
    base64('[]'),
    base64('{}'),
    base64('"text"'),
    base64('[1,2,3]'),
    base64(`${'['.repeat(20_000)}${']'.repeat(20_000)}`),
    'A'.repeat(100_000),
  ];

  it('with garbage are refused', async () => {
    const list = listNamed('Query.teams');
    for (const after of garbage) await expectRefused(list, { after }, ['after']);
    for (const before of garbage) await expectRefused(list, { before, last: 1 }, ['before']);
  });

  const int = [1.5, 2_147_483_648, -2_147_483_649, 1e300, '1', 'x'];
  const text = [1, 'a\0b', '\ud800'];
  const moments = [
    1,
    'x',
    '',
    '2026-01-01',
    '2026-01-01T00:00:00Z',
    '2026-02-30T00:00:00.000Z',
    '2026-01-01T00:00:00.000+01:00',
    '0000-01-01T00:00:00.000Z',
    '-000001-01-01T00:00:00.000Z',
    '+010000-01-01T00:00:00.000Z',
    'infinity',
    'now',
  ];
  const dates = [1, 'x', '2026-02-30', '0000-01-01', '2026-1-1', '10000-01-01', 'infinity', 'today'];
  const never: unknown[] = [true, {}, [], [[]], { toString: 1 }];

  // Each kind of value that an order compares, and a nullable one.
  it.each([
    ['Query.teams', { field: 'MEMBER_COUNT', direction: 'ASC' }, [...int, null]],
    ['Query.teams', { field: 'NAME', direction: 'DESC' }, [...text, null]],
    ['Query.issues', { field: 'CREATED', direction: 'ASC' }, [...moments, null]],
    ['Query.issues', { field: 'DUE_DATE', direction: 'ASC' }, dates],
    ['Query.issues', { field: 'LAST_ACTIVITY', direction: 'DESC' }, moments],
    ['Team.deliveries', { field: 'STARTS_ON', direction: 'ASC' }, [...dates, null]],
    ['Query.projects', { field: 'LEAD', direction: 'DESC' }, text],
  ] as const)(
    'of %s by %j are refused for values that the column cannot have',
    async (coordinate, orderBy, values) => {
      const list = listNamed(coordinate);
      const [bound, , id] = partsOf(await cursorOf(list, { orderBy }));
      for (const value of [...values, ...never]) {
        const after = base64(JSON.stringify([bound, value, id]));
        await expectRefused(list, { orderBy, after }, ['after']);
        await expectRefused(list, { orderBy, last: 1, before: after }, ['before']);
      }
    },
  );

  it('are refused for an invalid id, a foreign fingerprint, or a wrong number of parts', async () => {
    const list = listNamed('Query.teams');
    const [bound, value, id] = partsOf(await cursorOf(list));
    const uuid = String(id);
    const forged = [
      ...[null, 1, '', 'x', uuid.toUpperCase(), `{${uuid}}`, `${uuid}' or true--`, [uuid]].map((other) => [
        bound,
        value,
        other,
      ]),
      ...[null, '', 'AAAAAAAA', 1].map((other) => [other, value, id]),
      [bound, value],
      [bound, value, id, id],
    ];
    for (const parts of forged)
      await expectRefused(list, { after: base64(JSON.stringify(parts)) }, ['after']);
  });

  it('with a position that no row has are accepted', async () => {
    const list = listNamed('Query.teams');
    const [bound, , id] = partsOf(await cursorOf(list));
    const whole = await readOwn(list, {});
    const start = base64(JSON.stringify([bound, '', id]));
    expect((await readOwn(list, { after: start })).nodes).toEqual(whole.nodes);
    const end = base64(JSON.stringify([bound, '\u{10ffff}', id]));
    expect((await readOwn(list, { after: end })).nodes).toEqual([]);
  });
});

function listNamed(coordinate: string): FieldOf {
  const list = connectionFields.find((each) => each.coordinate === coordinate);
  if (!list) throw new Error(`There is no ${coordinate}.`);
  return list;
}

/** Reads a page of the list of the parent with the most rows. */
function readOwn(list: FieldOf, args: PageArguments) {
  return readPage(world, list, parentOfLongestList(world.model, list), args);
}

async function cursorOf(list: FieldOf, args: PageArguments = {}): Promise<string> {
  const { edges } = await readOwn(list, { ...args, first: 1 });
  return edges[0]?.cursor ?? '';
}

/** Expects a refusal as a bad request that names the fields, and no rows. */
async function expectRefused(list: FieldOf, args: PageArguments, fields: readonly string[]): Promise<void> {
  const answer = await askPage(world, list, parentOfLongestList(world.model, list), args);
  const [error] = answer.body.errors ?? [];
  const violations = (error?.extensions?.errors ?? []) as { field: string }[];
  const found = { args, codes: codesOf(answer), fields: violations.map(({ field }) => field) };
  expect(found).toEqual({ args, codes: ['INVALID_REQUEST'], fields });
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64url');
}

function partsOf(cursor: string): unknown[] {
  return JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
}
