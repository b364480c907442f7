import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { parse } from 'graphql';
import { withSharedBounds } from '../../src/executor/cost/shared-bounds.ts';
import { fragmentsOf } from '../../src/executor/selections/operation.ts';
import { chooseOperation } from '../../src/executor/run/execute.ts';
import type { Context } from '../../src/resolvers/context.ts';
import { readBounds } from '../../src/db/query/read-bounds.ts';
import { schema } from '../../src/schema/index.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { type App, startApp } from '../support/app.ts';
import { team } from '../support/fixtures.ts';

let app: App;
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
});
afterAll(() => app.stop());

const times = (count: number, part: (place: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join(' ');
const page = 'issues(filter: { priority: { eq: HIGH } })';
const flow =
  'issueFlow(every: DAY, from: "2026-01-01", to: "2026-01-02", timeZone: "UTC") { periods { open } }';

it.each([
  ['80 pages', `{ ${times(80, (n) => `p${n}: ${page} { nodes { id } }`)} }`, 1_000],
  ['81 pages', `{ ${times(81, (n) => `p${n}: ${page} { nodes { id } }`)} }`, 500],
  ['161 pages', `{ ${times(161, (n) => `p${n}: ${page} { nodes { id } }`)} }`, 250],
  ['41 pages with totals', `{ ${times(41, (n) => `p${n}: ${page} { totalCount nodes { id } }`)} }`, 500],
  ['150 pages without a filter', `{ ${times(150, (n) => `p${n}: issues { nodes { id } }`)} }`, 1_000],
  [
    '81 pages that are left out',
    `{ ${times(81, (n) => `p${n}: ${page} @skip(if: true) { nodes { id } }`)} }`,
    1_000,
  ],
  ['a page under many parents', `{ teams(first: 250) { nodes { ${page} { nodes { id } } } } }`, 1_000],
  [
    'a fragment with a page that is spread 81 times',
    `{ ${times(81, (n) => `t${n}: team(code: "A") { ...Pages }`)} } fragment Pages on Team { ${page} { nodes { id } } }`,
    500,
  ],
  ['4 flows', `{ ${times(4, (n) => `f${n}: ${flow}`)} }`, 1_000],
  ['5 flows', `{ ${times(5, (n) => `f${n}: ${flow}`)} }`, 500],
  ['21 groupings', `{ ${times(21, (n) => `s${n}: issueStats(groupBy: []) { count }`)} }`, 500],
])('an operation with %s may read so much for each', (_what, text, most) => {
  const document = parse(text);
  const source = {
    schema,
    operation: chooseOperation(document, undefined),
    fragments: fragmentsOf(document),
  };
  const context = { db: app.database.of(app.workspaceId), bounds: readBounds(1_000) } as Context;
  expect(withSharedBounds({ ...source, variables: {} }, context).bounds).toEqual(readBounds(most));
});

it('statistics that one operation may not have together are refused with the reason', async () => {
  // One of the statistics may read 48 issues, and each of a hundred 12.
  const low = await startApp({ sharesDatabase: true, settings: { READ_BUDGET: '4' } });
  const { id } = await team(low.database, low.workspaceId, { code: 'MANY' });
  const body = { teamId: encodeId('team', id), title: 'One of many', description: '', priority: 0 };
  for (let issue = 0; issue < 20; issue += 1)
    expect((await low.request('POST', '/v1/issues', { body })).status).toBe(201);
  const grouped = 'issueStats(groupBy: [PRIORITY], filter: { title: { contains: "On" } }) { count }';
  const answers = await Promise.all(
    [1, 100].map((count) => low.graphql(`{ ${times(count, (n) => `s${n}: ${grouped}`)} }`)),
  );
  expect(answers.map(({ body }) => body.errors?.map(({ extensions }) => extensions.code))).toEqual([
    undefined,
    ['QUERY_TOO_COMPLEX'],
  ]);
  expect(answers[1]?.body.errors?.[0]?.message).toContain('ask for fewer statistics in one operation');
  await low.stop();
});
