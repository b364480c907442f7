import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { ApolloClient, gql, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Client, createClient } from 'graphql-ws';
import { getNamedType, isLeafType, isRequiredArgument } from 'graphql';
import { WebSocket } from 'ws';
import { scopes } from '../../src/resolvers/context.ts';
import { schema } from '../../src/schema/index.ts';
import { type App, startApp } from '../support/app.ts';
import { Random } from '../support/random.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { cursorNow } from './subscribing.ts';

const { app, world, ada } = useIssueWorld({
  settings: {
    STREAMS_PER_TOKEN: '4',
    MAX_OPERATION_COST: '10000',
    METRICS_ADDRESS: '0',
    CORS_ORIGINS: 'https://board.example',
  },
});

const addressOf = (url: string) => `${url.replace('http', 'ws')}/graphql`;
const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.dispose();
});

function connect(token: string): Client {
  const client = createClient({
    url: addressOf(app.url),
    webSocketImpl: WebSocket,
    connectionParams: { Authorization: `Bearer ${token}` },
    retryAttempts: 0,
    lazy: true,
  });
  clients.push(client);
  return client;
}

interface Refused {
  errors: { message: string; extensions: { code: string } }[];
}

/** The answers to an operation; `errors` where it is refused as a whole. */
async function answersTo(client: Client, query: string, variables: Record<string, unknown> = {}) {
  const answers: unknown[] = [];
  try {
    for await (const answer of client.iterate({ query, variables })) answers.push(answer);
  } catch (error) {
    return { errors: error as Refused['errors'] };
  }
  return { answers };
}

const newIssue = () => ada.create({ teamId: world.eng.id, title: 'Over a socket' });
const follow = 'subscription ($after: String) { changes(after: $after) { cursor eventType issue { key } } }';

/** A bare connection, and how it is closed. */
function bare(protocol = 'graphql-transport-ws', options: { origin?: string } = {}) {
  const socket = new WebSocket(addressOf(app.url), protocol, options);
  socket.on('error', () => undefined);
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  const say = async (message: object) => {
    if (socket.readyState !== WebSocket.OPEN) await once(socket, 'open');
    socket.send(JSON.stringify(message));
  };
  return { socket, closed, say };
}

async function openStreams({ metricsUrl }: Pick<App, 'metricsUrl'> = app): Promise<number> {
  const metrics = await (await fetch(metricsUrl ?? '')).text();
  return Number(/^workgraph_streams\{of="graphql"\} (\d+)$/m.exec(metrics)?.[1]);
}

describe('the client of graphql-ws', () => {
  it('gets the answers that a POST gets, to queries and mutations', async () => {
    const client = connect(world.ada.token);
    const query = '{ viewer { scopes } teams { totalCount nodes { code } } }';
    const { body } = await app.graphql(query, {}, { token: world.ada.token });
    expect(await answersTo(client, query)).toEqual({ answers: [{ data: body.data }] });
    const create = 'mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { issue { key } } }';
    const { answers } = await answersTo(client, create, { input: { teamId: world.eng.id, title: 'Made' } });
    const [made] = answers as { data: { issueCreate: { issue: { key: string } } } }[];
    const { key = '' } = made?.data.issueCreate.issue ?? {};
    expect((await app.request('GET', `/v1/issues/${key}`)).status).toBe(200);
  });

  it('hears of changes, goes on from a cursor, and ends when it likes', async () => {
    const client = connect(world.ada.token);
    const start = await cursorNow(app);
    const stream = client.iterate<{ changes: { cursor: string; issue: { key: string } } }>({
      query: follow,
      variables: { after: start },
    });
    const first = await newIssue();
    const heard = await stream.next();
    expect(heard.value?.data?.changes.issue.key).toBe(first.key);
    const second = await newIssue();
    expect((await stream.next()).value?.data?.changes.issue.key).toBe(second.key);
    await stream.return?.();
    while ((await openStreams()) > 0) await setImmediate();
    const again = client.iterate<{ changes: { issue: { key: string } } }>({
      query: follow,
      variables: { after: heard.value?.data?.changes.cursor },
    });
    expect((await again.next()).value?.data?.changes.issue.key).toBe(second.key);
    await again.return?.();
  });

  it.each([
    ['a document that is not valid', '{ nothing }', {}, 'GRAPHQL_VALIDATION_FAILED'],
    ['a cursor of another log', follow, { after: 'c1-1-zzz' }, 'CURSOR_EXPIRED'],
    [
      'an operation that could cost too much',
      `{ ${Array.from({ length: 60 }, (_, n) => `a${n}: issues(first: 250) { nodes { subIssues(first: 250) { nodes { id } } } }`).join(' ')} }`,
      {},
      'QUERY_TOO_COMPLEX',
    ],
  ])('is told of %s by the message error', async (_what, query, variables, code) => {
    const { errors } = await answersTo(connect(world.ada.token), query, variables);
    expect(errors?.map(({ extensions }) => extensions.code)).toContain(code);
  });

  it('sees nothing that its scopes and its workspace do not cover', async () => {
    const narrow = connect(await app.tokenFor({ scopes: ['teams:read'] }));
    const query = '{ issues { totalCount } }';
    const refused = await answersTo(narrow, query);
    const { body } = await app.graphql(query, {}, { token: await app.tokenFor({ scopes: ['teams:read'] }) });
    expect(refused.errors?.map(({ extensions }) => extensions.code)).toEqual(
      body.errors?.map(({ extensions }) => extensions?.code),
    );
    const other = connect((await app.secondWorkspace()).token);
    const { key } = await newIssue();
    expect(await answersTo(other, `{ issue(key: "${key}") { id } }`)).toEqual({
      answers: [{ data: { issue: null } }],
    });
  });

  it('is answered and refused as a POST is, with a token of each scope and of another workspace', async () => {
    const fields = Object.values(schema.getQueryType()?.getFields() ?? {}).filter(
      ({ args }) => !args.some(isRequiredArgument),
    );
    const queries = fields.map(({ name, type }) =>
      isLeafType(getNamedType(type)) ? `{ ${name} }` : `{ ${name} { __typename } }`,
    );
    expect(queries.length).toBeGreaterThan(10);
    const tokens = [(await app.secondWorkspace()).token];
    for (const scope of scopes) tokens.push(await app.tokenFor({ scopes: [scope] }));
    const codesOf = (errors: readonly { extensions?: Record<string, unknown> }[] | undefined) =>
      errors?.map(({ extensions }) => extensions?.['code']);
    for (const token of tokens) {
      const client = connect(token);
      for (const query of queries) {
        const { body } = await app.graphql(query, {}, { token });
        const answered = await answersTo(client, query);
        const [answer] = (answered.answers ?? [{}]) as { data?: unknown; errors?: Refused['errors'] }[];
        expect([query, answer?.data, codesOf(answered.errors ?? answer?.errors)]).toEqual([
          query,
          body.data ?? (answered.errors ? undefined : null),
          codesOf(body.errors),
        ]);
      }
    }
  });

  it('is refused more streams than its token may have, of which the connection is one', async () => {
    const client = connect(await app.tokenFor());
    const streams = [1, 2, 3].map(() => client.iterate({ query: follow }));
    const begun = streams.map((stream) => stream.next());
    while ((await openStreams()) < 3) await setImmediate();
    const { errors } = await answersTo(client, follow);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['TOO_MANY_STREAMS']);
    await newIssue();
    await Promise.all(begun);
    for (const stream of streams) await stream.return?.();
  });

  it('is told when its token was revoked, at the latest with the next change', async () => {
    const token = await app.tokenFor();
    const client = connect(token);
    const stream = client.iterate({ query: follow });
    const begun = stream.next();
    while ((await openStreams()) === 0) await setImmediate();
    await newIssue();
    await begun;
    const { body } = await app.graphql<{ viewer: { accessToken: { id: string } } }>(
      '{ viewer { accessToken { id } } }',
      {},
      { token },
    );
    await app.graphql(
      'mutation ($id: ID!) { accessTokenRevoke(input: { id: $id }) { accessToken { id } } }',
      { id: body.data?.viewer.accessToken.id },
      { token },
    );
    await newIssue();
    const { value } = await stream.next();
    expect(
      (value as unknown as Refused | undefined)?.errors.map(({ extensions }) => extensions.code),
    ).toEqual(['UNAUTHENTICATED']);
    expect(await stream.next()).toMatchObject({ done: true });
    // The client has closed the connection after its last stream, and signs in anew.
    const refused = await answersTo(client, '{ viewer { scopes } }');
    expect(refused.errors).toMatchObject({ code: 4403 });
  });
});

it('Apollo Client subscribes and queries over the socket', async () => {
  const client = connect(world.ada.token);
  const apollo = new ApolloClient({ link: new GraphQLWsLink(client), cache: new InMemoryCache() });
  const { data } = await apollo.query<{ teams: { totalCount: number } }>({
    query: gql`
      {
        teams {
          totalCount
        }
      }
    `,
  });
  expect(data?.teams.totalCount).toBeGreaterThan(0);
  const heard = Promise.withResolvers<unknown>();
  const subscription = apollo
    .subscribe<{ changes: { eventType: string } }>({
      query: gql`
        subscription {
          changes {
            eventType
          }
        }
      `,
    })
    .subscribe({ next: (answer) => heard.resolve(answer.data?.changes.eventType), error: heard.reject });
  while ((await openStreams()) === 0) await setImmediate();
  await newIssue();
  expect(await heard.promise).toBe('issue.created.v1');
  subscription.unsubscribe();
  apollo.stop();
});

describe('a connection', () => {
  const init = (token: string) => ({
    type: 'connection_init',
    payload: { Authorization: `Bearer ${token}` },
  });

  it.each([
    ['names no token', [{ type: 'connection_init' }], 4403],
    ['names an unknown token', [init('wg_unknown')], 4403],
    [
      'asks before it has signed in',
      [{ type: 'subscribe', id: '1', payload: { query: '{ viewer { scopes } }' } }],
      4401,
    ],
    ['says something that is no message', [{ type: 'nothing' }], 4400],
    ['says what only a server says', [{ type: 'next', id: '1', payload: {} }], 4400],
    ['says nothing for three seconds', [], 4408],
  ] as const)('is closed if it %s', async (_what, messages, code) => {
    const { closed, say } = bare();
    for (const message of messages) await say(message);
    expect(await closed).toBe(code);
  });

  it('is closed if it signs in twice, uses an id twice, or sends a message that is too large', async () => {
    const twice = bare();
    await twice.say(init(world.ada.token));
    await twice.say(init(world.ada.token));
    expect(await twice.closed).toBe(4429);
    const same = bare();
    await same.say(init(world.ada.token));
    await once(same.socket, 'message');
    const subscribe = { type: 'subscribe', id: '1', payload: { query: follow } };
    await same.say(subscribe);
    await same.say(subscribe);
    expect(await same.closed).toBe(4409);
    const large = bare();
    await large.say({ type: 'ping', payload: { text: 'x'.repeat(2_000_000) } });
    expect(await large.closed).toBe(1009);
  });

  it('is refused for another subprotocol', async () => {
    const { closed } = bare('graphql-ws');
    // The client of `ws` breaks off itself when no subprotocol is chosen.
    expect(await closed).toBe(1006);
  });

  it('is opened by pages of its own and of configured origins only', async () => {
    const foreign = bare(undefined, { origin: 'https://evil.example' });
    const [, response] = (await once(foreign.socket, 'unexpected-response')) as [
      unknown,
      { statusCode: number; destroy(): void },
    ];
    expect(response.statusCode).toBe(403);
    response.destroy();
    for (const origin of ['https://board.example', app.url]) {
      const { socket } = bare(undefined, { origin });
      await once(socket, 'open');
      socket.terminate();
    }
  });

  it('that asks to upgrade to something else gets the usual answer', async () => {
    const asked = get(`${app.url}/health`, { headers: { Connection: 'Upgrade', Upgrade: 'h2c' } });
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(200);
  });

  it('that is closed while its subscription begins leaves no stream behind', async () => {
    for (let turns = 0; turns < 40; turns += 1) {
      const { socket, closed, say } = bare();
      await say(init(world.ada.token));
      await once(socket, 'message');
      await say({ type: 'subscribe', id: '1', payload: { query: follow } });
      for (let turn = 0; turn < turns; turn += 1) await setImmediate();
      socket.terminate();
      await closed;
    }
    while ((await openStreams()) > 0) await setImmediate();
  });

  it('that sends anything at all is answered or closed, and others are served as before', async () => {
    const random = new Random('messages of a WebSocket');
    const types = ['connection_init', 'subscribe', 'complete', 'ping', 'pong', 'next', 'error', '', null, 1];
    const values = [null, 0, '', 'x', [], {}, { query: '{ viewer { scopes } }' }, { query: 1 }, true];
    for (let round = 0; round < 60; round += 1) {
      const { socket, closed, say } = bare();
      if (random.chance(0.7)) await say(init(world.ada.token));
      for (let count = random.integer(1, 8); count > 0; count -= 1) {
        const message = {
          type: random.pick(types),
          id: random.pick(['1', '2', '__proto__', 'constructor', '', null, {}]),
          payload: random.pick(values),
        };
        const text = random.chance(0.9) ? JSON.stringify(message) : JSON.stringify(message).slice(1);
        if (socket.readyState === WebSocket.CONNECTING) await once(socket, 'open');
        socket.send(random.chance(0.9) ? text : Buffer.from([0xff, 0xfe, 0x00]));
      }
      socket.close();
      expect([1000, 1005, 1006, 1007, 4400, 4401, 4403, 4409, 4429]).toContain(await closed);
    }
    expect((await app.request('GET', '/v1/teams', { token: world.ada.token })).status).toBe(200);
    while ((await openStreams()) > 0) await setImmediate();
  });

  it('is told to come back, and no stream that it is complete, when the server stops', async () => {
    const own = await startApp({ settings: { METRICS_ADDRESS: '0' } });
    const socket = new WebSocket(addressOf(own.url), 'graphql-transport-ws');
    const messages: { type: string }[] = [];
    socket.on('message', (data: Buffer) => messages.push(JSON.parse(String(data)) as { type: string }));
    await once(socket, 'open');
    socket.send(JSON.stringify(init(own.token)));
    await once(socket, 'message');
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: { query: follow } }));
    socket.send(JSON.stringify({ type: 'subscribe', id: '2', payload: { query: '{ viewer { scopes } }' } }));
    while (!messages.some(({ type }) => type === 'complete')) await once(socket, 'message');
    while ((await openStreams(own)) === 0) await setImmediate();
    const closed = once(socket, 'close');
    await own.stop();
    const [code] = (await closed) as [number];
    expect(code).toBe(1001);
    expect(messages.map(({ type }) => type)).toEqual(['connection_ack', 'next', 'complete']);
  });
});
