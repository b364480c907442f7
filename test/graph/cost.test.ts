import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getIntrospectionQuery, print } from 'graphql';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { type App, startApp } from '../support/app.ts';
import { connectionFields } from './schema-walk.ts';

let app: App;
beforeAll(async () => {
  app = await startApp({ demo: true, settings: { MAX_OPERATION_COST: '10000' } });
});
afterAll(() => app.stop());

const graphqlResponse = 'application/graphql-response+json';

interface Cost {
  requested: number;
  actual: number;
  limit: number;
}

async function costOf(query: string, variables: Record<string, unknown> = {}): Promise<Cost> {
  const answer = await app.graphql(query, variables, { headers: { 'x-graphql-cost': '1' } });
  expect(answer.body.errors).toBeUndefined();
  return answer.body.extensions?.cost as Cost;
}

async function refusalOf(query: string, variables: Record<string, unknown> = {}) {
  const answer = await app.graphql(query, variables, { headers: { accept: graphqlResponse } });
  expect(answer.status).toBe(400);
  expect(answer.body).not.toHaveProperty('data');
  expect(answer.statements).toBe(0);
  const [error] = answer.body.errors ?? [];
  expect(error?.extensions?.code).toBe('QUERY_TOO_COMPLEX');
  return { message: error?.message ?? '', paths: error?.extensions?.errors };
}

/** The worked example of docs/limits.md. */
const dashboard = /```graphql\n(query Dashboard[\s\S]*?)```/.exec(
  readFileSync(join(import.meta.dirname, '../../docs/limits.md'), 'utf8'),
)?.[1];

describe('the formula', () => {
  it.each([
    ['nothing but leaves', '{ teams { totalCount } }', 0],
    ['one object', '{ viewer { member { id } } }', 2],
    ['a page of its own size', '{ teams { nodes { id } } }', 50],
    ['a page of the requested size', '{ teams(last: 7) { nodes { id } } }', 7],
    ['rows and edges, which both count', '{ teams(first: 7) { nodes { id } edges { node { id } } } }', 14],
    [
      'cursors and pageInfo, which do not count',
      '{ teams(first: 7) { edges { cursor } pageInfo { endCursor } } }',
      0,
    ],
    ['a plain list', '{ issues(first: 10) { nodes { labels { id } } } }', 10 + 10 * 5],
    ['lists with a known maximum length', '{ codes { entries { name } } }', 18 + 18 * 35],
    [
      'as many groups as are requested',
      '{ issueStats(groupBy: [TEAM], first: 7) { count team { id } } }',
      14,
    ],
    ['all groups that there can be', '{ issueStats(groupBy: [PRIORITY, STATUS_CATEGORY]) { count } }', 25],
    ['a column that is named twice', '{ issueStats(groupBy: [PRIORITY, PRIORITY]) { count } }', 5],
    ['groups without a bound', '{ issueStats(groupBy: [PRIORITY, LABEL]) { count } }', 1_000],
    ['one total', '{ issueStats(groupBy: []) { count } }', 1],
    [
      'a row for each period of a trend, whether anything happened or not',
      '{ issueTrend(every: WEEK, from: "2026-01-05", to: "2026-01-18") { periods { created } } }',
      1 + 2,
    ],
    [
      'a row for each period and each of the groups of a trend',
      '{ issueTrend(every: DAY, from: "2026-01-01", to: "2026-01-31", groupBy: [TEAM], first: 4) { periods { team { id } leadTime { p95 } } } }',
      1 + 31 * 4 * 3,
    ],
    [
      'the possible groups of a trend, where they are fewer',
      '{ issueTrend(every: MONTH, from: "2026-01-01", to: "2026-12-31", groupBy: [PRIORITY]) { periods { created } } }',
      1 + 12 * 5,
    ],
    [
      'a row for each period of a trend and a day for each day of a burnup that are not selected, because they are counted',
      '{ issueTrend(every: DAY, from: "2026-01-01", to: "2026-01-31") { historySinceUtc } projects(first: 3) { nodes { burnup(from: "2026-01-01", to: "2026-01-10") { historySinceUtc } } } }',
      1 + 31 + 3 * (1 + 1 + 10),
    ],
    [
      'a day for each day of a burnup',
      '{ projects(first: 3) { nodes { burnup(from: "2026-01-01", to: "2026-01-10") { days { done } } } } }',
      3 * (1 + 1 + 10),
    ],
    ['introspection as it is', '{ __type(name: "AuthorType") { enumValues { name } } }', 1 + 3],
    [
      'two names of one field',
      '{ a: teams(first: 3) { nodes { id } } b: teams(first: 4) { nodes { id } } }',
      7,
    ],
    ['one name twice', '{ viewer { member { id } } ... { viewer { member { displayName } } } }', 2],
    ['skipped fields', '{ teams(first: 3) @skip(if: true) { nodes { id } } health { status } }', 1],
    [
      'a page below a single object',
      '{ issues(first: 3) { nodes { agentThread { messages { nodes { id } } } } } }',
      3 * (1 + 1 + 50),
    ],
  ])('%s', async (_what, query, requested) => {
    expect(await costOf(query)).toMatchObject({ requested });
  });

  it('takes variables, conditions and ids into account before anything runs', async () => {
    const query = `query ($first: Int, $with: Boolean!) {
      issues(first: $first) { nodes { id } ... on IssueConnection @include(if: $with) { nodes { team { id } } } }
    }`;
    expect(await costOf(query, { first: 4, with: false })).toMatchObject({ requested: 4 });
    expect(await costOf(query, { first: 4, with: true })).toMatchObject({ requested: 8 });
    const { id } = (await app.graphql<{ viewer: { member: { id: string } } }>('{ viewer { member { id } } }'))
      .body.data?.viewer.member ?? { id: '' };
    const nodes = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Issue { labels { id } } } }';
    expect(await costOf(nodes, { ids: [id, id, id] })).toEqual({
      requested: 3 + 3 * 5,
      actual: 3,
      limit: 10_000,
    });
  });

  it('has a maximum page size for each connection', () => {
    const unknown = connectionFields.filter(({ field }) => typeof field.extensions.rows !== 'function');
    expect(unknown.map(({ coordinate }) => coordinate)).toEqual([]);
  });

  it('charges each returned object once, and no scalars', async () => {
    const query =
      '{ issues(first: 20, orderBy: { field: CREATED }) { nodes { id description labels { id } comments(first: 5) { nodes { body author { id } } } } } }';
    const answer = await app.graphql<{
      issues: { nodes: { labels: unknown[]; comments: { nodes: unknown[] } }[] };
    }>(query, {}, { headers: { 'x-graphql-cost': '1' } });
    const issues = answer.body.data?.issues.nodes ?? [];
    const objects = issues.map(({ labels, comments }) => 1 + labels.length + 2 * comments.nodes.length);
    expect(issues.some(({ comments }) => comments.nodes.length > 0)).toBe(true);
    expect(answer.body.extensions).toEqual({
      cost: { requested: 20 + 20 * 5 + 20 * 10, actual: objects.reduce((a, b) => a + b, 0), limit: 10_000 },
    });
  });

  it('is reported only on request', async () => {
    expect((await app.graphql('{ health { status } }')).body).not.toHaveProperty('extensions');
  });
});

describe('the limit accepts', () => {
  it('the dashboard query, at the cost that docs/limits.md calculates', async () => {
    const { requested, actual } = await costOf(dashboard ?? '');
    expect(requested).toBe(2_873);
    expect(actual).toBeGreaterThan(10);
    expect(actual).toBeLessThan(requested);
  });

  it('the standard introspection query, which needs no token', async () => {
    const answer = await app.graphql(
      getIntrospectionQuery({ inputValueDeprecation: true }),
      {},
      { token: null },
    );
    expect(answer.body.errors).toBeUndefined();
  });

  it('fields of the schema that are null, but not more of them than graphql-js writes in a moment', async () => {
    const nulls = (count: number) => {
      const fields = Array.from({ length: count }, (_, n) => `a${n}: inputFields { name }`);
      return `{ __schema { types { fields { type { ${fields.join(' ')} } } } } }`;
    };
    // Answers of 0.2 MB, 1 MB and 7 MB.
    for (const [count, refusal] of [
      [25, undefined],
      [120, /^The operation could return countless objects|^The operation could write \d+,\d+ values/],
      [800, /^The operation could return countless objects/],
    ] as const) {
      const { body } = await app.graphql(nulls(count), {}, { token: null });
      if (refusal)
        expect(body.errors?.map(({ message }) => message)).toEqual([expect.stringMatching(refusal)]);
      else expect(body.errors).toBeUndefined();
    }
  });

  it('values of the schema, but fewer than of data', async () => {
    const values = (count: number) => {
      const fields = Array.from({ length: count }, (_, n) => `a${n}: isDeprecated`);
      return `{ __schema { types { fields(includeDeprecated: true) { ${fields.join(' ')} } } } }`;
    };
    expect((await app.graphql(values(5), {}, { token: null })).body.errors).toBeUndefined();
    const { body } = await app.graphql(values(80), {}, { token: null });
    expect(body.errors?.[0]?.message).toMatch(
      /could write [5-9]\d,\d+ values, and one may write at most 50,000/,
    );
  });

  it('every operation of REST, at the largest page', async () => {
    const demo = await app.graphql<{ issues: { nodes: { key: string; team: { code: string } }[] } }>(
      '{ issues(first: 1) { nodes { key team { code } } } }',
    );
    const [issue] = demo.body.data?.issues.nodes ?? [];
    const lists = routeTable.filter(
      ({ method, parameters }) => method === 'GET' && 'page_size' in parameters,
    );
    expect(lists.length).toBeGreaterThanOrEqual(10);
    for (const { path } of lists) {
      const at = path
        .replace('{issueKey}', issue?.key ?? '')
        .replace('{teamCode}', issue?.team.code ?? '')
        .replace(/\{\w+\}/, 'NONE');
      const { status } = await app.request('GET', `${at}?page_size=250`);
      expect([path, status === 200 || (at.includes('NONE') && status === 404)]).toEqual([path, true]);
    }
    const thread = await app.request('GET', `/v1/issues/${issue?.key}/agent-thread/messages`);
    expect([200, 404]).toContain(thread.status);
  });

  it('every document of REST, under the limits for documents of clients', async () => {
    for (const { document, operation } of routeTable) {
      const body = { query: print(document), operationName: operation.name.value };
      // Most of them need variables and are refused without, but only after their document was accepted.
      const answer = await app.request<{ errors?: { message: string; extensions: { code: string } }[] }>(
        'POST',
        '/graphql',
        { body },
      );
      const [error] = answer.body.errors ?? [];
      expect(error?.message ?? 'Variable "$').toMatch(/^Variable "\$/);
    }
  });
});

describe('a refusal before anything runs', () => {
  it('names the most expensive paths, and the page size that would be accepted', async () => {
    const query = (first: number) =>
      `{ teams(first: ${first}) { nodes { issues(first: ${first}) { nodes { labels { id } team { id } } } } } }`;
    const { message, paths } = await refusalOf(query(100));
    expect(message).toBe(
      'The operation could return 70,100 objects, and one may cost at most 10,000. With pages of at most 37 it would pass.',
    );
    expect(paths).toEqual([
      { field: 'teams.nodes.issues.nodes.labels', message: 'could be 50,000 objects' },
      { field: 'teams.nodes.issues.nodes', message: 'could be 10,000 objects' },
      { field: 'teams.nodes.issues.nodes.team', message: 'could be 10,000 objects' },
    ]);
    await costOf(query(37));
    await refusalOf(query(38));
  });

  it('says when no page size would be accepted', async () => {
    const one = '__schema { types { fields { description } } }';
    const { requested } = await costOf(`{ ${one} }`);
    const many = Math.floor(10_000 / requested) + 1;
    const schemas = Array.from({ length: many }, (_, n) => `a${n}: ${one}`);
    const { message } = await refusalOf(`{ ${schemas.join(' ')} }`);
    const all = (many * requested).toLocaleString('en');
    expect(message).toBe(
      `The operation could return ${all} objects, and one may cost at most 10,000. Smaller pages would not suffice: ask for less in one operation.`,
    );
  });

  it('advises fewer groups or periods when these are too many', async () => {
    const trend = (first: number) =>
      `{ issueTrend(every: DAY, from: "2026-01-01", to: "2026-12-31", groupBy: [TEAM], first: ${first}) { periods { created } } }`;
    const { message } = await refusalOf(trend(100));
    expect(message).toContain('With fewer groups, fewer days or longer periods it would pass.');
    await costOf(trend(10));
  });

  it('stops hostile operations, however they are written', async () => {
    const pages = (depth: number): string =>
      depth === 0 ? 'id' : `subIssues(first: $n) { nodes { ${pages(depth - 1)} } }`;
    await refusalOf(`query ($n: Int) { issues(first: $n) { nodes { ${pages(5)} } } }`, { n: 2_147_483_647 });
    await refusalOf(`query ($n: Int = 250) { issues(first: $n) { nodes { ${pages(1)} } } }`);
    const fragments = Array.from(
      { length: 4 },
      (_, n) =>
        `fragment F${n} on Issue { a: subIssues { nodes { ${n < 3 ? `...F${n + 1}` : 'id'} } } b: subIssues { nodes { ${n < 3 ? `...F${n + 1}` : 'id'} } } }`,
    );
    await refusalOf(`{ issues { nodes { ...F0 } } } ${fragments.join(' ')}`);
    const aliases = Array.from({ length: 150 }, (_, n) => `a${n}: issues(first: 100) { nodes { id } }`);
    await refusalOf(`{ ${aliases.join(' ')} }`);
  });

  it('comes before a write', async () => {
    const [issue] =
      (
        await app.graphql<{ issues: { nodes: { key: string; title: string }[] } }>(
          '{ issues(first: 1) { nodes { key title } } }',
        )
      ).body.data?.issues.nodes ?? [];
    const mutation = `mutation ($key: String!) { issueUpdate(input: { key: $key, title: "changed" }) {
      issue { team { issues(first: 250) { nodes { subIssues(first: 250) { nodes { id } } } } } } } }`;
    await refusalOf(mutation, { key: issue?.key });
    const after = await app.graphql('query ($key: String!) { issue(key: $key) { title } }', {
      key: issue?.key,
    });
    expect(after.body.data).toEqual({ issue: { title: issue?.title } });
  });
});

it('prices a batch by its number of keys', async () => {
  const listed = await app.graphql<{ issues: { nodes: { key: string }[] } }>(
    '{ issues(first: 3) { nodes { key } } }',
  );
  const keys = listed.body.data?.issues.nodes.map(({ key }) => key) ?? [];
  expect(keys).toHaveLength(3);
  const query =
    'mutation ($keys: [String!]!) { issueBatchUpdate(input: { keys: $keys, priority: LOW }) { issues { id team { id } } } }';
  const { requested, actual } = await costOf(query, { keys });
  expect(actual).toBeGreaterThan(keys.length);
  expect(actual).toBeLessThanOrEqual(requested);
});

it('follows the configured limit in both APIs', async () => {
  const lowLimitApp = await startApp({ sharesDatabase: true, settings: { MAX_OPERATION_COST: '30' } });
  try {
    const refused = await lowLimitApp.graphql(
      '{ teams { nodes { id } } }',
      {},
      { headers: { accept: graphqlResponse } },
    );
    expect(refused.body.errors?.[0]?.message).toContain('With pages of at most 30 it would pass');
    expect((await lowLimitApp.graphql('{ teams(first: 30) { nodes { id } } }')).body.errors).toBeUndefined();
    const rest = await lowLimitApp.request('GET', '/v1/teams');
    expect(rest).toMatchObject({ status: 400, body: { code: 'query_too_complex' } });
  } finally {
    await lowLimitApp.stop();
  }
});
