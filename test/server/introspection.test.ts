import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { buildClientSchema, getIntrospectionQuery, type IntrospectionQuery } from 'graphql';
import { AdmissionTicket } from '../../src/server/limits/admission.ts';
import { type App, type RequestOptions, startApp } from '../support/app.ts';

const apps: Record<string, App> = {};
beforeAll(async () => {
  for (const INTROSPECTION of ['public', 'tokens', 'off'])
    apps[INTROSPECTION] = await startApp({
      sharesDatabase: true,
      settings: { INTROSPECTION, MAX_OPERATION_COST: '10000' },
    });
});
afterAll(async () => {
  for (const app of Object.values(apps)) await app.stop();
});

const none = { token: null };

const everything = {
  descriptions: true,
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
};
/** Rover sends this query under a name of its own, and does not ask for `isOneOf` of input objects. */
const apolloIntrospection = getIntrospectionQuery({ ...everything, oneOf: false }).replace(
  'IntrospectionQuery',
  'GraphIntrospectQuery',
);
const asksForSchema = [
  getIntrospectionQuery(),
  '{ __type(name: "Issue") { name } }',
  '{ health { status } ...F } fragment F on Query { ... on Query { x: __schema { queryType { name } } } }',
];
const slips = [
  '{ heath { status } }',
  '{ health { statu } }',
  '{ issues(frist: 1) { totalCount } }',
  '{ issues(orderBy: { field: CREATE }) { totalCount } }',
  'query ($id: Idd) { health { status } }',
  '{ health }',
  '{ viewer { member { nam } } }',
];

const ask = async (mode: string, query: string, options: RequestOptions = {}, variables = {}) => {
  const { status, body } = await (apps[mode] as App).graphql(query, variables, {
    ...options,
    headers: { accept: 'application/graphql-response+json' },
  });
  return { status, data: body.data, messages: (body.errors ?? []).map(({ message }) => message) };
};

describe('INTROSPECTION=public', () => {
  it.each(asksForSchema)('answers everybody: %.40s', async (query) => {
    for (const options of [{}, none])
      expect(await ask('public', query, options)).toMatchObject({ status: 200, messages: [] });
  });

  it.each([
    ['graphql-js, with all that it can ask for', getIntrospectionQuery(everything)],
    [
      'GraphiQL',
      getIntrospectionQuery({
        inputValueDeprecation: true,
        schemaDescription: true,
        specifiedByUrl: true,
        directiveIsRepeatable: true,
      }),
    ],
    ['Apollo', apolloIntrospection],
    ['relay-compiler', getIntrospectionQuery({ descriptions: false })],
  ])('answers what %s asks in one request, without a token, at the standard limit', async (_tool, query) => {
    const answer = await (apps.public as App).graphql<IntrospectionQuery>(
      query,
      {},
      { token: null, headers: { 'x-graphql-cost': '1' } },
    );
    expect([answer.status, answer.body.errors]).toEqual([200, undefined]);
    const cost = answer.body.extensions?.cost as { requested: number; actual: number; limit: number };
    expect(cost.limit).toBe(10_000);
    expect(cost.actual).toBeLessThanOrEqual(cost.requested);
    // Half of the limit: the schema will grow.
    expect(cost.requested).toBeLessThan(5_000);
    expect(buildClientSchema(answer.body.data as IntrospectionQuery).getQueryType()?.name).toBe('Query');
  });

  it('refuses to describe the schema 190 times in one request', async () => {
    const aliases = Array.from(
      { length: 190 },
      (_, n) => `a${n}: __schema { types { fields { description } } }`,
    );
    const answer = await (apps.public as App).graphql(`{ ${aliases.join(' ')} }`, {}, none);
    expect(answer.body).not.toHaveProperty('data');
    expect(answer.body.errors?.map(({ extensions }) => extensions?.code)).toEqual(['QUERY_TOO_COMPLEX']);
  });

  it('offers names in place of wrong ones', async () => {
    const offered = await Promise.all(
      slips.map(async (query) => (await ask('public', query)).messages.join()),
    );
    expect(offered.filter((message) => message.includes('Did you mean')).length).toBeGreaterThanOrEqual(5);
  });
});

describe('INTROSPECTION=tokens', () => {
  it.each(asksForSchema)('answers a token, and nobody else: %.40s', async (query) => {
    expect(await ask('tokens', query)).toMatchObject({ status: 200, messages: [] });
    expect(await ask('tokens', query, none)).toEqual({
      status: 401,
      data: undefined,
      messages: ['Introspection needs an access token on this server.'],
    });
  });

  it('offers no names to those who have no token', async () => {
    for (const query of slips)
      expect((await ask('tokens', query, none)).messages.join()).not.toContain('Did you mean');
    expect((await ask('tokens', '{ heath { status } }')).messages.join()).toContain('Did you mean');
    expect(await ask('tokens', '{ health { status __typename } __typename }', none)).toMatchObject({
      status: 200,
    });
  });
});

describe('INTROSPECTION=off', () => {
  it.each(asksForSchema)('answers nobody: %.40s', async (query) => {
    for (const options of [{}, none]) {
      expect(await ask('off', query, options)).toEqual({
        status: 400,
        data: undefined,
        messages: ['Introspection is switched off on this server.'],
      });
    }
    // A GET is answered by Yoga.
    const path = `/graphql?query=${encodeURIComponent(query)}`;
    const answer = await apps.off?.request('GET', path);
    expect(answer?.body).toMatchObject({
      errors: [{ message: 'Introspection is switched off on this server.' }],
    });
  });

  it('leaves __typename, and the graph', async () => {
    const query = '{ __typename viewer { __typename scopes } }';
    const answer = {
      status: 200,
      data: { __typename: 'Query', viewer: { __typename: 'Viewer' } },
      messages: [],
    };
    expect(await ask('off', query)).toMatchObject(answer);
  });

  it('offers no names in place of wrong ones: in documents, in literals and in variables', async () => {
    for (const query of slips) {
      const { messages } = await ask('off', query);
      expect(messages).not.toEqual([]);
      expect(messages.join()).not.toContain('Did you mean');
    }
    const variables = { filter: { stat: {} }, order: { field: 'CREATE' } };
    const query =
      'query ($filter: IssueFilter, $order: IssueOrder) { issues(filter: $filter, orderBy: $order) { totalCount } }';
    const open = await ask('public', query, {}, variables);
    expect(open.messages.join()).toContain('Did you mean');
    const { messages } = await ask('off', query, {}, variables);
    expect(messages).toHaveLength(open.messages.length);
    expect(messages.join()).not.toContain('Did you mean');
  });
});

it('a new document in a URL waits for a turn of its size', async () => {
  const turn = jest.spyOn(AdmissionTicket.prototype, 'turn');
  const fields = Array.from({ length: 300 }, (_, n) => `status${n}: status`).join(' ');
  const query = `{ health { ${fields} } }`;
  const answer = await apps.public?.request('GET', `/graphql?query=${encodeURIComponent(query)}`);
  expect(answer?.status).toBe(200);
  expect(turn.mock.calls.map(([bytes]) => bytes)).toEqual([query.length]);
  turn.mockRestore();
});

it('a query of the schema waits for its turn however often it was sent, and another one only while it is new', async () => {
  const turn = jest.spyOn(AdmissionTicket.prototype, 'turn');
  const turnsOf = async (query: string) => {
    turn.mockClear();
    for (let times = 0; times < 5; times += 1) await apps.public?.graphql(query, {}, none);
    return turn.mock.calls.map(([bytes]) => (bytes > 10_000 ? 'long' : 'short'));
  };
  const ofSchema = await turnsOf('{ __type(name: "Team") { description } }');
  expect(ofSchema.filter((each) => each === 'long')).toHaveLength(5);
  expect(await turnsOf('{ health { status timestamp: status } }')).toEqual(['short', 'short']);
  turn.mockRestore();
});
