import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getIntrospectionQuery } from 'graphql';
import { type App, startApp } from '../support/app.ts';
import { onReadiness } from './readiness-runs.ts';

const graphqlResponseType = 'application/graphql-response+json';

let app: App;
/** How often the resolver of `readiness` has run. */
let runs = 0;
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true, settings: { MAX_OPERATION_COST: '10000' } });
  onReadiness(app, () => (runs += 1));
});
afterAll(() => app.stop());

const teamsQuery = (below: string) => `{ readiness { status } teams(first: 1) { nodes { ${below} } } }`;
const nestedLeads = (depth: number): string =>
  depth === 0 ? 'id' : `lead { teams(first: 1) { nodes { ${nestedLeads(depth - 1)} } } }`;
const nestedLiteral = (depth: number) =>
  `{ readiness { status } teams(filter: ${'{ and: '.repeat(depth)}[]${' }'.repeat(depth)}) { totalCount } }`;
const directives = (times: number) =>
  `{ readiness { status } teams { totalCount ${'@include(if: true) '.repeat(times)} } }`;
const fragments = (depth: number) => chain(depth, 'readiness { status }');

const manyFields = (times: number) =>
  `${teamsQuery(aliases(times, 'lead { ...F }'))} fragment F on Member { ${aliases(99, 'id')} }`;
const manyPages = (times: number) => teamsQuery(aliases(times, 'members(first: 1) { totalCount }'));
const typesOfTypes = (depth: number) =>
  `{ readiness { status } __schema { types { ${'ofType { '.repeat(depth)}name${' }'.repeat(depth)} } } }`;

describe('a document', () => {
  it.each([
    [
      '5,000 tokens and more',
      `{ readiness { status } ${'a: __typename '.repeat(1_700)} }`,
      'more than 5000 tokens',
    ],
    [
      'selections 5,000 deep',
      `{ readiness { status } ${'teams { '.repeat(5_000)}id${' }'.repeat(5_000)} }`,
      'more than',
    ],
    ['selections 18 deep', teamsQuery(nestedLeads(5)), 'nested more than 15 deep'],
    ['fragments 16 deep', fragments(14), 'nested more than 15 deep'],
    ['literals 33 deep', nestedLiteral(32), 'A literal is nested more than 32 deep'],
    [
      'braces in braces',
      `{ readiness { status } ${'... { '.repeat(40)}__typename${' }'.repeat(40)} }`,
      'nested more than 32 deep',
    ],
    [
      '201 root fields',
      `{ readiness { status } ${Array.from({ length: 200 }, (_, n) => `a${n}: __typename`).join(' ')} }`,
      'more than 200 root fields',
    ],
    ['5,004 fields by a fragment', manyFields(50), 'more than 5000 fields'],
    ['201 pages', manyPages(200), 'more than 200 pages'],
    [
      'one field 51 times',
      `{ readiness { status } ${'__typename '.repeat(51)} }`,
      '`__typename` is selected more than 50 times',
    ],
    [
      'an alias of 256 characters',
      `{ ${'a'.repeat(256)}: __typename }`,
      'A name or an alias has more than 255 characters',
    ],
    [
      'a field whose name has 256 characters',
      `{ ${'a'.repeat(256)} }`,
      'A name or an alias has more than 255 characters',
    ],
    ['introspection 21 deep', typesOfTypes(18), 'nested more than 15 deep'],
    ['six directives on a field', directives(6), 'more than 5 directives'],
    [
      'six directives on a fragment',
      `{ readiness { status } ... ${'@skip(if: false) '.repeat(6)} { __typename } }`,
      'more than 5 directives',
    ],
    [
      'six directives where a fragment is defined',
      `{ ...F } fragment F on Query ${'@a '.repeat(6)} { readiness { status } }`,
      'more than 5 directives',
    ],
    [
      'six directives on an operation',
      `query Q ${'@a '.repeat(6)} { readiness { status } }`,
      'more than 5 directives',
    ],
    [
      'six directives on a variable',
      `query Q($a: Int ${'@a '.repeat(6)}) { readiness { status } }`,
      'more than 5 directives',
    ],
    [
      'more objects than it may cost',
      teamsQuery('members(first: 250) { nodes { teams(first: 250) { nodes { id } } } }'),
      'could return',
    ],
  ])('with %s is refused before anything of it runs', async (_what, query, message) => {
    const before = runs;
    const answer = await app.graphql(query, {}, { headers: { accept: graphqlResponseType } });
    expect(answer.status).toBe(400);
    expect(answer.body.errors).toMatchObject([
      { message: expect.stringContaining(message), extensions: { code: 'QUERY_TOO_COMPLEX' } },
    ]);
    expect(answer.body).not.toHaveProperty('data');
    expect(answer.statements).toBe(0);
    expect(runs).toBe(before);
  });

  it.each([
    ['selections 15 deep', teamsQuery(`issues { nodes { ${'parent { '.repeat(10)}id${' }'.repeat(10)} } }`)],
    ['fragments 15 deep', fragments(13)],
    ['4,905 fields by a fragment', manyFields(49)],
    ['one field 50 times', `{ readiness { status } ${'__typename '.repeat(50)} }`],
    ['introspection 20 deep', typesOfTypes(17)],
    [
      'the standard introspection query',
      `${getIntrospectionQuery({ inputValueDeprecation: true })} query R { readiness { status } }`,
    ],
  ])('with %s runs', async (_what, query) => {
    const before = runs;
    const body = { query, ...(query.includes('query R') && { operationName: 'R' }) };
    const answer = await app.request<{ errors?: unknown }>('POST', '/graphql', { body });
    expect([answer.status, answer.body.errors]).toEqual([200, undefined]);
    expect(runs).toBe(before + 1);
  });

  it('may have literals 32 deep, and five directives in one place, as far as the limits go', async () => {
    for (const query of [nestedLiteral(31), directives(5)]) {
      const answer = await app.graphql(query);
      expect(answer.body.errors?.map(({ extensions }) => extensions?.code)).not.toContain(
        'QUERY_TOO_COMPLEX',
      );
    }
  });

  it('can ask for the schema as tools do, and as deep as the standard query goes', async () => {
    const answer = await app.graphql(
      getIntrospectionQuery({ inputValueDeprecation: true, schemaDescription: true }),
    );
    expect(answer.body.errors).toBeUndefined();
  });
});

/** Documents that would cost far more than their length if they were parsed, validated or run without limits. */
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

it.each(documents)(
  'the server answers with little work and without a fault of its own: %s',
  async (_what, query) => {
    const before = process.cpuUsage();
    const answer = await app.graphql(query, {}, { headers: { accept: 'application/graphql-response+json' } });
    expect(answer.status).toBeLessThan(500);
    for (const { extensions } of answer.body.errors ?? []) {
      expect(extensions?.code).toMatch(/^(QUERY_TOO_COMPLEX|GRAPHQL_(PARSE|VALIDATION)_FAILED)$/);
    }
    // The server is in this process. Without limits, some of these would take minutes.
    expect(process.cpuUsage(before).user).toBeLessThan(3_000_000);
  },
);

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

/** Fragments that spread the next one twice, under two aliases so that nothing can be merged. */
function doubling(times: number): string {
  const fragments = Array.from({ length: times }, (_, n) => {
    const below = n + 1 < times ? `...F${n + 1}` : 'id';
    return `fragment F${n} on Issue { a: parent { ${below} } b: parent { ${below} } }`;
  });
  return `{ issue(key: "A-1") { ...F0 } } ${fragments.join(' ')}`;
}

/** Fragments that each spread the next one, after another field of the root. */
function chain(length: number, otherField = ''): string {
  const fragments = Array.from({ length }, (_, n) => `fragment F${n} on Issue { parent { ...F${n + 1} } }`);
  return `{ ${otherField} issue(key: "A-1") { ...F0 } } ${fragments.join(' ')} fragment F${length} on Issue { id }`;
}

/** Fields with the same name, nested: validation compares all of them in pairs. */
function overlapping(levels: number): string {
  const parent = (below: string): string => `parent { ${below} } `.repeat(5);
  let selection = 'id';
  for (let level = 0; level < levels; level += 1) selection = parent(selection);
  return `issue(key: "A-1") { ${selection} }`;
}
