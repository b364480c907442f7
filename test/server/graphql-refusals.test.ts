import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { type App, startApp } from '../support/app.ts';
import { allowFallback } from '../support/deliberate-fallbacks.ts';

let app: App;
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
});
afterAll(() => app.stop());

const graphqlResponseType = 'application/graphql-response+json';
const mediaTypes = ['application/json', graphqlResponseType];
const teams = { query: '{ teams { totalCount } }' };

interface RefusalBody {
  data?: unknown;
  errors: { message: string; extensions: { code: string; requestId: string; errors?: unknown[] } }[];
}

describe('a refusal before GraphQL', () => {
  const post = (body: unknown, headers: Record<string, string>) =>
    app.request<RefusalBody>('POST', '/graphql', { body, headers });

  it.each(mediaTypes)('is 401 for a token that is not valid, %s', async (accept) => {
    const realm = 'Bearer realm="workgraph"';
    for (const [authorization, challenge] of [
      ['Bearer wg_none', `${realm}, error="invalid_token"`],
      ['Bearer', `${realm}, error="invalid_token"`],
      ['Basic d2c6', realm],
      ['wg_none', realm],
    ] as const) {
      const answer = await app.request<RefusalBody>('POST', '/graphql', {
        token: null,
        body: { query: '{ health { status } }' },
        headers: { accept, authorization },
      });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe(challenge);
      expect(answer.headers.get('content-type')).toContain(accept);
      expect(answer.body.errors[0]?.extensions.code).toBe('UNAUTHENTICATED');
    }
  });

  it.each(mediaTypes)('is 401 without a token, with a challenge that blames none, %s', async (accept) => {
    const options = { token: null, body: teams, headers: { accept } };
    const answer = await app.request<RefusalBody>('POST', '/graphql', options);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="workgraph"');
    expect(answer.body).not.toHaveProperty('data');
  });

  it.each(mediaTypes)('is 405 with Allow for another method, %s', async (accept) => {
    for (const method of ['PUT', 'PATCH', 'DELETE', 'HEAD']) {
      const answer = await app.request(method, '/graphql', { headers: { accept } });
      const allow = 'GET, POST, OPTIONS';
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, allow]);
    }
  });

  it('does not apply to OPTIONS, which is 204 with Allow, without a token', async () => {
    const answer = await app.request('OPTIONS', '/graphql', { token: null });
    expect(answer).toMatchObject({ status: 204, body: '' });
    expect(answer.headers.get('allow')).toBe('GET, POST, OPTIONS');
  });

  it.each(mediaTypes)(
    'is 405 with Allow for a mutation in a GET, which changes nothing, %s',
    async (accept) => {
      const query = 'mutation { accessTokenCreate(input: { name: "x", scopes: ["teams:read"] }) { token } }';
      const path = `/graphql?query=${encodeURIComponent(query)}`;
      const answer = await app.request<RefusalBody>('GET', path, { headers: { accept } });
      expect(answer).toMatchObject({
        status: 405,
        body: { errors: [{ extensions: { code: 'METHOD_NOT_ALLOWED' } }] },
      });
      expect(answer.headers.get('allow')).toBe('POST');
    },
  );

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/graphql',
    'application/json; charset=latin1',
  ])('is 415 for a body of the type %s', async (type) => {
    const answer = await post(JSON.stringify(teams), { 'Content-Type': type });
    expect(answer).toMatchObject({
      status: 415,
      body: { errors: [{ extensions: { code: 'UNSUPPORTED_MEDIA_TYPE' } }] },
    });
  });

  it.each([
    'APPLICATION/JSON',
    'application/json;charset="UTF-8"',
    'application/json; profile=x; charset=utf-8',
  ])('does not apply to a body of the type %s', async (type) => {
    expect(await post(JSON.stringify(teams), { 'Content-Type': type })).toMatchObject({ status: 200 });
  });

  it('is 415 for a compressed body', async () => {
    expect((await post('x', { 'content-encoding': 'gzip' })).status).toBe(415);
    for (const coding of ['identity', 'Identity', ''])
      expect([coding, (await post(teams, { 'content-encoding': coding })).status]).toEqual([coding, 200]);
  });

  it('is 406 when no accepted media type can be given', async () => {
    const answer = await post(teams, { accept: 'text/plain' });
    expect(answer).toMatchObject({
      status: 406,
      body: { errors: [{ extensions: { code: 'NOT_ACCEPTABLE' } }] },
    });
  });

  it.each([
    ['invalid JSON', '{"query":'],
    ['invalid UTF-8', new Uint8Array([123, 34, 255, 34, 125])],
    ['a batch', [teams]],
    ['a string', '"{ health }"'],
    ['null', 'null'],
    ['no query', {}],
    ['variables that are a list', { ...teams, variables: [] }],
    ['variables nested without end', { ...teams, variables: { a: nested(200) } }],
  ])('is 400 for a body with %s', async (_what, body) => {
    for (const accept of mediaTypes) expect((await post(body, { accept })).status).toBe(400);
  });
});

it.each([
  [
    'a date',
    '"2026-02-30"',
    'Date must be',
    (at) => `{ issues(filter: { dueDate: { eq: ${at} } }) { totalCount } }`,
  ],
  [
    'a time',
    '"noon"',
    'DateTime must be',
    (at) => `{ issues(filter: { createdUtc: { gt: ${at} } }) { totalCount } }`,
  ],
  ['a URL', '5', 'URL must be', (at) => `mutation { webhookCreate(input: { url: ${at} }) { secret } }`],
  [
    'a default',
    '"x"',
    'Date must be',
    (at) => `query ($day: Date = ${at}) { issues(filter: { dueDate: { eq: $day } }) { totalCount } }`,
  ],
] satisfies [string, string, string, (at: string) => string][])(
  'one invalid literal is refused with its position: %s',
  async (_what, literal, message, queryWith) => {
    const query = queryWith(literal);
    const { body } = await app.graphql(query);
    expect(body.errors).toEqual([
      {
        message: expect.stringContaining(message),
        locations: [{ line: 1, column: query.indexOf(literal) + 1 }],
        extensions: { code: 'GRAPHQL_VALIDATION_FAILED', requestId: expect.any(String) },
      },
    ]);
  },
);

it.each([
  ['a field that does not exist', '{\n\r\n  nothing }', {}, [{ line: 3, column: 3 }]],
  ['wrong syntax', '{\r  teams {\n  }\n}', {}, [{ line: 3, column: 3 }]],
  [
    'a wrong variable',
    'query (\n $n: Int) { teams(first: $n) { totalCount } }',
    { n: 'x' },
    [{ line: 2, column: 2 }],
  ],
  [
    'a refused argument',
    '{\n\n teams { totalCount }\n  node(id: "x") { id } }',
    {},
    [{ line: 4, column: 3 }],
  ],
] as const)('an error names the line and the column: %s', async (_what, query, variables, locations) => {
  const { body } = await app.graphql(query, variables);
  expect(body.errors).toMatchObject([{ locations }]);
});

describe('errors of a request are 400 or 403 in the modern media type and 200 in the older one', () => {
  it.each([
    ['syntax', '{ teams', 'GRAPHQL_PARSE_FAILED', 400],
    ['an unknown field', '{ nothing }', 'GRAPHQL_VALIDATION_FAILED', 400],
    [
      'two operations and no name',
      'query A { __typename } query B { __typename }',
      'GRAPHQL_VALIDATION_FAILED',
      400,
    ],
    [
      'a variable that is missing',
      'query A($id: ID!) { node(id: $id) { id } }',
      'GRAPHQL_VALIDATION_FAILED',
      400,
    ],
    ['a scope that is missing', '{ members { totalCount } }', 'FORBIDDEN', 403],
  ])('%s', async (_what, query, code, status) => {
    const token = await app.tokenFor({ scopes: ['teams:read'] });
    for (const accept of mediaTypes) {
      const answer = await app.graphql(query, {}, { token, headers: { accept } });
      expect(answer.status).toBe(accept === graphqlResponseType ? status : 200);
      expect(answer.body).toMatchObject({ errors: [{ extensions: { code } }] });
      expect(answer.body).not.toHaveProperty('data');
      const inGet = await app.request('GET', `/graphql?query=${encodeURIComponent(query)}`, {
        token,
        headers: { accept },
      });
      expect(inGet.body).toMatchObject({ errors: [{ extensions: { code: expect.any(String) } }] });
      expect(inGet.body).not.toHaveProperty('data');
    }
  });

  it('names each field and scope that is missing, and challenges with the scopes', async () => {
    const token = await app.tokenFor({ scopes: ['teams:read'] });
    const query = '{ teams { nodes { members { totalCount } } } issues { nodes { title } } }';
    const answer = await app.graphql(query, {}, { token, headers: { accept: graphqlResponseType } });
    expect(answer.body.errors?.[0]?.extensions?.errors).toEqual(
      expect.arrayContaining([
        { field: 'Team.members', message: 'needs members:read' },
        { field: 'Query.issues', message: 'needs issues:read' },
      ]),
    );
    expect(answer.headers.get('www-authenticate')).toMatch(
      /^Bearer realm="workgraph", error="insufficient_scope", scope="[a-z: ]*members:read[a-z: ]*"$/,
    );
  });
});

describe('errors of fields', () => {
  it.each(mediaTypes)(
    'have status 200, their codes and violations, and the data of the other fields, %s',
    async (accept) => {
      const query = '{ ok: teams { totalCount } bad: node(id: "nonsense") { id } }';
      const answer = await app.graphql(query, {}, { headers: { accept } });
      expect(answer).toMatchObject({
        status: 200,
        body: {
          data: { ok: { totalCount: 0 }, bad: null },
          errors: [{ path: ['bad'], extensions: { code: 'INVALID_REQUEST', errors: [{ field: 'id' }] } }],
        },
      });
    },
  );

  it('name the first hundred of what is wrong', async () => {
    const text = 'x'.repeat(1_001);
    const filter = { title: { in: Array.from({ length: 101 }, () => text) } };
    const query = 'query ($filter: IssueFilter) { issues(filter: $filter) { totalCount } }';
    const { body } = await app.graphql(query, { filter });
    expect(body.errors?.[0]?.extensions?.errors).toHaveLength(100);
  });

  it('hide what nobody expected, and give the id under which the log has it', async () => {
    allowFallback('name_fold does not exist');
    const broken = await startApp();
    await sql`alter table label rename column name_fold to folded`.execute(broken.database.unscoped);
    const options = { headers: { 'x-request-id': 'ticket-17' } };
    const { body } = await broken.graphql('{ workspace { labels { nodes { name } } } }', {}, options);
    await broken.stop();
    expect(body.errors).toMatchObject([
      {
        message: 'An unexpected error occurred. Its details are in the log under the request id.',
        extensions: { code: 'INTERNAL_ERROR', requestId: 'ticket-17' },
      },
    ]);
    expect(JSON.stringify(body)).not.toMatch(/fold/);
  });
});

it('the server lets browsers of other origins do nothing', async () => {
  const answer = await app.request('OPTIONS', '/graphql', {
    headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
  });
  expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
});

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}
