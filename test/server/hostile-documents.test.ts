import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { getIntrospectionQuery } from 'graphql';
import { type App, startApp } from '../support/app.ts';

let app: App;
beforeAll(async () => {
  app = await startApp({ settings: { MAX_OPERATION_COST: '10000' } });
}, 60_000);
afterAll(() => app.stop());

/** Each would cost far more than its length, were it read, validated or run as it stands. */
const documents: [what: string, query: string][] = [
  ['braces 5,000 deep', `${'{a'.repeat(5_000)}${'}'.repeat(5_000)}`],
  ['lists 100,000 deep', `{ a(b: ${'['.repeat(100_000)}${']'.repeat(100_000)}) }`],
  ['objects 2,000 deep', `{ a(b: ${'{a:'.repeat(2_000)}1${'}'.repeat(2_000)}) }`],
  ['types 2,000 deep', `query ($a: ${'['.repeat(2_000)}Int${']'.repeat(2_000)}) { __typename }`],
  ['20,000 tokens', `{ ${'__typename '.repeat(20_000)} }`],
  ['one field 4,000 times', `{ ${'__typename '.repeat(4_000)} }`],
  ['one field 1,000 times in inline fragments', `{ ${'... { __typename } '.repeat(1_000)} }`],
  ['800 aliases of a page', `{ ${aliases(800, 'teams { totalCount }')} }`],
  [
    '400 pages below one field',
    `{ workspace { ${aliases(400, 'labels { ...L }')} } } fragment L on LabelConnection { totalCount }`,
  ],
  ['1,000 aliases of a thing', `{ ${aliases(1_000, 'viewer { scopes }')} }`],
  ['fragments that double 40 times', doubling(40)],
  ['fragments that double 10 times', doubling(10)],
  ['fragments that call each other', '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }'],
  ['a fragment in itself', '{ ...A } fragment A on Query { viewer { workspace { name } } ...A }'],
  ['fragments 400 deep', chain(400)],
  ['parents of parents', `{ issue(key: "A-1") ${'{ parent '.repeat(60)}{ id }${' }'.repeat(60)} }`],
  ['conflicts of fields', `{ ${overlapping(4)} }`],
  ['a string without an end', `{ a(b: "${'x'.repeat(900_000)}`],
  ['nothing', ''],
  ['NUL', '\0'],
  ['half a surrogate pair', '{ a(b: "\\ud800") }'],
  ['300,000 bytes of comments', `#${'x'.repeat(300_000)}\n{ __typename }`],
];

it.each(documents)('the server answers in time and without a fault of its own: %s', async (_what, query) => {
  const startedMs = performance.now();
  const answer = await app.graphql(query, {}, { headers: { accept: 'application/graphql-response+json' } });
  expect(answer.status).toBeLessThan(500);
  for (const { extensions } of answer.body.errors ?? []) {
    expect(extensions?.code).toMatch(/^(QUERY_TOO_COMPLEX|GRAPHQL_(PARSE|VALIDATION)_FAILED)$/);
  }
  expect(performance.now() - startedMs).toBeLessThan(3_000);
});

it('the server still reads what tools send', async () => {
  const introspection = getIntrospectionQuery({ inputValueDeprecation: true, schemaDescription: true });
  const answer = await app.graphql(introspection, {}, { token: null });
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({ data: { __schema: { queryType: { name: 'Query' } } } });
  expect(answer.body.errors).toBeUndefined();
});

it('the server runs each operation of one document by its name, however often it was read before', async () => {
  const query = 'query A { viewer { scopes } } query B { health { status } }';
  for (const operationName of ['A', 'B', 'A']) {
    const body = { query, operationName };
    const answer = await app.request('POST', '/graphql', { body });
    expect(answer.body).toMatchObject({ data: { [operationName === 'A' ? 'viewer' : 'health']: {} } });
  }
});

function aliases(times: number, field: string): string {
  return Array.from({ length: times }, (_, n) => `a${n}: ${field}`).join(' ');
}

/** Twice the next fragment, under two names so that nothing is the same. */
function doubling(times: number): string {
  const fragments = Array.from({ length: times }, (_, n) => {
    const below = n + 1 < times ? `...F${n + 1}` : 'id';
    return `fragment F${n} on Issue { a: parent { ${below} } b: parent { ${below} } }`;
  });
  return `{ issue(key: "A-1") { ...F0 } } ${fragments.join(' ')}`;
}

function chain(length: number): string {
  const fragments = Array.from({ length }, (_, n) => `fragment F${n} on Issue { parent { ...F${n + 1} } }`);
  return `{ issue(key: "A-1") { ...F0 } } ${fragments.join(' ')} fragment F${length} on Issue { id }`;
}

/** Fields of one name whose selections have fields of one name, and so on: validation compares them pair by pair. */
function overlapping(levels: number): string {
  const parent = (below: string): string => `parent { ${below} } `.repeat(5);
  let selection = 'id';
  for (let level = 0; level < levels; level += 1) selection = parent(selection);
  return `issue(key: "A-1") { ${selection} }`;
}
