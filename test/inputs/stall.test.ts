import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { maxStallMs, type MeasuredApp, startMeasuredApp } from '../support/measured-app.ts';
import type { RawAnswer } from '../support/openapi.ts';
import { sampled } from '../support/samples.ts';
import { Client, type Wire } from './client.ts';
import { largeBodies, largeDocuments, type LargeInput, largeInputs } from './large-inputs.ts';
import { sendMeasured } from './measured.ts';
import { errorFaults } from './oracle.ts';
import type { Pool } from './pool.ts';

// No request may block the process for long, however large the request or its answer is.
// CI and `CASES=all` send all generated inputs, other runs one in so many.
const oneOf = 20;

let app: MeasuredApp;
let client: Client;
let pool: Pool;
beforeAll(async () => {
  // Only the compiled executor keeps this bound: graphql-js completes a whole list in one turn.
  const settings = { MAX_OPERATION_COST: '10000', EXECUTOR: 'compiled' };
  app = await startMeasuredApp({ demo: true, settings });
  client = new Client(app.url, app.token);
  pool = await app.pool();
});
afterAll(async () => {
  client.close();
  await app.stop();
});

async function measured(wire: Wire): Promise<{ answer: RawAnswer; stallMs: number }> {
  // Discards the stalls of the previous test.
  await app.stall();
  return sendMeasured(app, client, wire);
}

/** A request with variables that are already JSON. */
function graphql(query: string, variables: string): Wire {
  const headers = { Accept: 'application/graphql-response+json' };
  const body = Buffer.from(`{"query":${JSON.stringify(query)},"variables":${variables}}`);
  return { method: 'POST', target: '/graphql', headers, body };
}

let last: { readonly make: LargeInput['variables']; readonly text: string } | undefined;

/** The JSON of variables. The last one is cached, because consecutive tests send the same. */
function textOf(make: LargeInput['variables']): string {
  if (last?.make !== make) last = { make, text: JSON.stringify(make()) };
  return last.text;
}

/** A refusal must be far shorter than the input. */
const maxRefusalLength = 100_000;

describe('no input stalls the server', () => {
  const inputs = sampled(
    [...largeInputs, ...largeDocuments],
    oneOf,
    ({ name }) => name.split(':', 1)[0] ?? '',
  );
  it.each(inputs.map((one) => [one.name, one] as const))('%s', async (_name, { query, variables }) => {
    const { answer, stallMs } = await measured(graphql(query(), textOf(variables)));
    expect(errorFaults(answer.status, answer.text)).toEqual([]);
    if (answer.text.startsWith('{"errors"')) expect(answer.text.length).toBeLessThan(maxRefusalLength);
    expect(stallMs).toBeLessThanOrEqual(maxStallMs);
  });

  const bodies = routeTable.flatMap((route) =>
    route.body
      ? largeBodies(route).map(
          (one) => [`${route.method} ${route.path}: ${one.name}`, route, one.body] as const,
        )
      : [],
  );
  const sent = sampled(bodies, oneOf, ([, route]) => `${route.method} ${route.path}`);
  it.each(sent)('%s', async (_name, { method, path }, body) => {
    const target = path
      .replace('{issueKey}', pool.issueKey[0] ?? '')
      .replace(/\{(\w+)Id\}/, (_part, kind: string) => pool[kind as keyof Pool]?.[0] ?? 'none_0');
    const { answer, stallMs } = await measured({
      method,
      target,
      headers: {},
      body: Buffer.from(JSON.stringify(body())),
    });
    expect(answer.status).toBeLessThan(500);
    expect(answer.text.length).toBeLessThan(maxRefusalLength);
    expect(stallMs).toBeLessThanOrEqual(maxStallMs);
  });
});

describe('no filter stalls the server by the length of its texts after folding', () => {
  // One character that becomes 18.
  const long = Array.from({ length: 250 }, (_, n) => `${'\uFDFA'.repeat(990)}${n}`);
  it.each([1, 4])('in %d lists', async (count) => {
    const query = `query ($t: [String!]) { ${times(count, (n) => `a${n}: issues(filter: { title: { in: $t } }) { totalCount }`)} }`;
    const { answer, stallMs } = await measured(graphql(query, JSON.stringify({ t: long })));
    expect(answer.text).toContain(count === 1 ? 'when its ligatures are written out' : '"QUERY_TOO_COMPLEX"');
    expect(stallMs).toBeLessThanOrEqual(maxStallMs);
  });
});

it('no filter stalls the server by the order of the marks in its texts', async () => {
  // Normalization sorts marks that follow one another, and each of these belongs before all others.
  const marks = ['\u0345', '\u035C', '\u0301', '\u0316', '\u031B', '\u0321', '\u0334'].flatMap((mark) =>
    Array(136).fill(mark),
  );
  const texts = (list: number) => Array.from({ length: 250 }, (_, n) => `${list} ${n} a${marks.join('')}`);
  const filter = { or: [{ title: { in: texts(1) } }, { title: { in: texts(2).slice(25) } }] };
  const { answer, stallMs } = await measured(
    graphql('query ($f: IssueFilter) { issues(filter: $f) { totalCount } }', JSON.stringify({ f: filter })),
  );
  expect(answer.text).toContain('"totalCount":0');
  expect(stallMs).toBeLessThanOrEqual(maxStallMs);
});

describe('a query that is left to graphql-js', () => {
  const token = 'node(id: "token_01h455vb4pex5vsknk084sn02q") { id }';

  it('reads a long filter once for all parents of its lists', async () => {
    const list =
      'issues(first: 250) { nodes { subIssues(first: 1, filter: $f) { totalCount nodes { key } } } }';
    const texts = Array.from({ length: 240 }, (_, n) => `${'é'.repeat(900)}${n}`);
    const { answer, stallMs } = await measured(
      graphql(
        `query ($f: IssueFilter) { ${token} ${list} }`,
        JSON.stringify({ f: { title: { in: texts } } }),
      ),
    );
    expect(answer.text.slice(0, 300)).toContain('"subIssues":{"totalCount":0');
    expect(stallMs).toBeLessThanOrEqual(maxStallMs);
  });

  it('is refused when it has very many values', async () => {
    const fields = times(390, (n) => `a${n}: title`);
    const { answer } = await measured(
      graphql(`{ ${token} issues(first: 250) { nodes { ${fields} } } }`, '{}'),
    );
    expect(answer.text.slice(0, 300)).toContain('it may return at most 25,000: ask for that in an operation');
  });
});

const times = (count: number, part: (place: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join(' ');
const parts = (count: number) => ({ f: { or: Array.from({ length: count }, () => ({})) } });

describe('refuses with one error', () => {
  const issues = 'issues(first: 1, filter: $f) { totalCount }';
  it.each([
    ['49,000 empty parts', `query ($f: IssueFilter) { ${issues} }`, parts(49_000), 'INVALID_REQUEST'],
    ['320,000 empty parts', `query ($f: IssueFilter) { ${issues} }`, parts(320_000), 'QUERY_TOO_COMPLEX'],
    ['101 empty parts', `query ($f: IssueFilter) { ${issues} }`, parts(101), 'INVALID_REQUEST'],
    [
      '49,000 empty parts under 190 names',
      `query ($f: IssueFilter) { ${times(190, (n) => `a${n}: ${issues}`)} }`,
      parts(49_000),
      'INVALID_REQUEST',
    ],
    [
      '101 empty parts by one variable',
      `query ($f: IssueFilter!) { issues(filter: { or: [${'$f '.repeat(101)}] }) { totalCount } }`,
      { f: {} },
      'INVALID_REQUEST',
    ],
    [
      '101 empty parts of a list in a variable',
      'query ($f: [IssueFilter!]) { issues(filter: { or: $f }) { totalCount } }',
      { f: parts(101).f.or },
      'INVALID_REQUEST',
    ],
    [
      '101 empty parts in the document',
      `{ issues(filter: { or: [${'{} '.repeat(101)}] }) { totalCount } }`,
      {},
      'INVALID_REQUEST',
    ],
    [
      '251 values of a list in a variable',
      'query ($f: [Int!]) { issues(filter: { number: { in: $f } }) { totalCount } }',
      { f: Array(251).fill(1) },
      'INVALID_REQUEST',
    ],
    [
      '21 conditions on labels',
      'query ($f: IssueFilter) { issues(filter: $f) { totalCount } }',
      { f: { and: Array.from({ length: 21 }, () => ({ labels: { some: {} } })) } },
      'INVALID_REQUEST',
    ],
    [
      '100 conditions under 11 names',
      `query ($f: IssueFilter) { ${times(11, (n) => `a${n}: ${issues}`)} }`,
      parts(100),
      'QUERY_TOO_COMPLEX',
    ],
    [
      'a key of 900 kB under 190 names',
      `query ($k: String!) { ${times(190, (n) => `a${n}: issue(key: $k) { id }`)} }`,
      { k: 'x'.repeat(900_000) },
      'QUERY_TOO_COMPLEX',
    ],
    [
      '400,000 titles',
      `{ issues(first: 250) { nodes { ${times(1_600, (n) => `a${n}: title`)} } } }`,
      {},
      'QUERY_TOO_COMPLEX',
    ],
    [
      '47,500 counts',
      `{ __typename issues(first: 250) { nodes { ${times(190, (n) => `a${n}: subIssues { totalCount }`)} } } }`,
      {},
      'QUERY_TOO_COMPLEX',
    ],
  ])('%s', async (_name, query, variables, code) => {
    const { answer, stallMs } = await measured(graphql(query, JSON.stringify(variables)));
    const { errors, data } = JSON.parse(answer.text) as {
      errors: { extensions: { code: string } }[];
      data?: unknown;
    };
    expect(errors.map(({ extensions }) => extensions.code)).toEqual([code]);
    expect(data).toBeUndefined();
    expect(answer.status).toBe(400);
    expect(stallMs).toBeLessThanOrEqual(maxStallMs);
  });
});

describe('answers without a stall', () => {
  // Filled only here, because the many rows would slow down the filters above without additional work for the event loop.
  beforeAll(() => app.fillLists());

  const page = (below: string) =>
    `{ issues(first: 250, filter: { team: { code: { eq: "LONG" } } }) { nodes { ${below} } } }`;
  it.each([
    [
      'every plain list of an issue',
      page('labels { id name color } assignees { id displayName } roleAssignments { role }'),
    ],
    [
      'the people behind the roles of issues',
      page('roleAssignments { role displayName member { id displayName } } assignees { id }'),
    ],
    [
      'those people under three names',
      page(times(3, (n) => `r${n}: roleAssignments { role member { displayName id } }`)),
    ],
    ['one list under many names', page(times(7, (n) => `l${n}: labels { id name color }`))],
    ['as many objects as an operation may cost', page(times(39, (n) => `t${n}: team { id name code }`))],
    [
      'as many conditions as a filter has',
      `{ issues(filter: { or: [${times(100, (n) => `{ title: { neq: "${n}" } }`)}] }) { totalCount } }`,
    ],
    [
      'as many conditions on related objects',
      `{ issues(filter: { and: [${times(20, (n) => `{ labels: { some: { name: { neq: "${n}" } } } }`)}] }) { totalCount } }`,
    ],
    [
      'the schema twice',
      times(
        2,
        (n) =>
          `${n === 0 ? '{' : ''} a${n}: __schema { types { name fields { name args { name type { name } } } inputFields { name } } } ${n === 1 ? '}' : ''}`,
      ),
    ],
  ])('%s', async (_name, query) => {
    const { answer, stallMs } = await measured(graphql(query, '{}'));
    expect(JSON.parse(answer.text)).not.toHaveProperty('errors');
    expect(stallMs).toBeLessThanOrEqual(maxStallMs);
  });

  it('the largest page of a REST list', async () => {
    const { answer, stallMs } = await measured({
      method: 'GET',
      target: '/v1/issues?page_size=250&team=LONG',
      headers: {},
    });
    expect(answer.status).toBe(200);
    expect(stallMs).toBeLessThanOrEqual(maxStallMs);
  });
});
