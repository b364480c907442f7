import { ApolloClient, gql, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Client, createClient } from 'graphql-ws';
import { getNamedType, isLeafType, isRequiredArgument } from 'graphql';
import { WebSocket } from 'ws';
import { scopes } from '../../src/resolvers/context.ts';
import { schema } from '../../src/schema/index.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { changesDocument, collectMessages, signIn, socketUrl, untilStreams } from './sockets.ts';
import { newestCursor } from './subscribing.ts';
import { revokeToken } from '../support/revoke-token.ts';

const { app, world, ada } = useIssueWorld({
  settings: {
    STREAMS_PER_TOKEN: '4',
    MAX_OPERATION_COST: '10000',
    METRICS_ADDRESS: '0',
    CORS_ORIGINS: 'https://board.example',
  },
});

const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.dispose();
});

function connect(token: string): Client {
  const client = createClient({
    url: socketUrl(app.url),
    webSocketImpl: WebSocket,
    connectionParams: { Authorization: `Bearer ${token}` },
    retryAttempts: 0,
    lazy: true,
  });
  clients.push(client);
  return client;
}

interface Refusal {
  errors: { message: string; extensions: { code: string } }[];
}

/** The answers to an operation, or `errors` if it is refused as a whole. */
async function answersTo(client: Client, query: string, variables: Record<string, unknown> = {}) {
  const answers: unknown[] = [];
  try {
    for await (const answer of client.iterate({ query, variables })) answers.push(answer);
  } catch (error) {
    return { errors: error as Refusal['errors'] };
  }
  return { answers };
}

const newIssue = () => ada.create({ teamId: world.eng.id, title: 'Over a socket' });

describe('the client of graphql-ws', () => {
  it('gets the answers that a POST gets, to queries and mutations', async () => {
    const client = connect(world.ada.token);
    const query = '{ viewer { scopes } teams { totalCount nodes { code } } }';
    const { body } = await app.graphql(query, {}, { token: world.ada.token });
    expect(await answersTo(client, query)).toEqual({ answers: [{ data: body.data }] });
    const create = 'mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { issue { key } } }';
    const { answers } = await answersTo(client, create, { input: { teamId: world.eng.id, title: 'Made' } });
    const [created] = answers as { data: { issueCreate: { issue: { key: string } } } }[];
    const { key = '' } = created?.data.issueCreate.issue ?? {};
    expect((await app.request('GET', `/v1/issues/${key}`)).status).toBe(200);
  });

  it('receives changes, resumes from a cursor, and ends on request', async () => {
    const client = connect(world.ada.token);
    const start = await newestCursor(app);
    const stream = client.iterate<{ changes: { cursor: string; issue: { key: string } } }>({
      query: changesDocument,
      variables: { after: start },
    });
    const first = await newIssue();
    const received = await stream.next();
    expect(received.value?.data?.changes.issue.key).toBe(first.key);
    const second = await newIssue();
    expect((await stream.next()).value?.data?.changes.issue.key).toBe(second.key);
    await stream.return?.();
    await untilStreams(app, (count) => count === 0);
    const again = client.iterate<{ changes: { issue: { key: string } } }>({
      query: changesDocument,
      variables: { after: received.value?.data?.changes.cursor },
    });
    expect((await again.next()).value?.data?.changes.issue.key).toBe(second.key);
    await again.return?.();
  });

  it('completes one of its streams, and the others go on over the same connection', async () => {
    const client = connect(world.ada.token);
    const closed: unknown[] = [];
    client.on('closed', (event) => closed.push(event));
    const keptStream = client.iterate<{ changes: { issue: { key: string } } }>({ query: changesDocument });
    const endedStream = client.iterate<{ changes: { issue: { key: string } } }>({ query: changesDocument });
    const keys = [keptStream.next(), endedStream.next()];
    await untilStreams(app, (count) => count >= 2);
    const first = await newIssue();
    for (const key of keys) expect((await key).value?.data?.changes.issue.key).toBe(first.key);
    await endedStream.return?.();
    await untilStreams(app, (count) => count <= 1);
    const second = await newIssue();
    expect((await keptStream.next()).value?.data?.changes.issue.key).toBe(second.key);
    expect(closed).toEqual([]);
    await keptStream.return?.();
  });

  it.each([
    ['a document that is not valid', '{ nothing }', {}, 'GRAPHQL_VALIDATION_FAILED'],
    ['a cursor of another log', changesDocument, { after: 'c1-1-zzz' }, 'CURSOR_EXPIRED'],
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
        const socketAnswer = await answersTo(client, query);
        const [answer] = (socketAnswer.answers ?? [{}]) as { data?: unknown; errors?: Refusal['errors'] }[];
        expect([query, answer?.data, codesOf(socketAnswer.errors ?? answer?.errors)]).toEqual([
          query,
          body.data ?? (socketAnswer.errors ? undefined : null),
          codesOf(body.errors),
        ]);
      }
    }
  });

  it('is refused more streams than its token may have, of which the connection is one', async () => {
    const client = connect(await app.tokenFor());
    const streams = [1, 2, 3].map(() => client.iterate({ query: changesDocument }));
    const firstEvents = streams.map((stream) => stream.next());
    await untilStreams(app, (count) => count >= 3);
    const { errors } = await answersTo(client, changesDocument);
    expect(errors?.map(({ extensions }) => extensions.code)).toEqual(['TOO_MANY_STREAMS']);
    await newIssue();
    await Promise.all(firstEvents);
    for (const stream of streams) await stream.return?.();
  });

  it('is told when its token was revoked, at the latest with the next change', async () => {
    const token = await app.tokenFor();
    const client = connect(token);
    const stream = client.iterate({ query: changesDocument });
    const firstEvent = stream.next();
    await untilStreams(app, (count) => count > 0);
    await newIssue();
    await firstEvent;
    await revokeToken(app, token);
    await newIssue();
    const { value } = await stream.next();
    expect(
      (value as unknown as Refusal | undefined)?.errors.map(({ extensions }) => extensions.code),
    ).toEqual(['UNAUTHENTICATED']);
    expect(await stream.next()).toMatchObject({ done: true });
    // The client has closed the connection after its last stream, and signs in anew.
    const refused = await answersTo(client, '{ viewer { scopes } }');
    expect(refused.errors).toMatchObject({ code: 4403 });
  });

  it.each([
    ['its stream ends because of it', changesDocument],
    ['it asks for something else', '{ viewer { scopes } }'],
  ])('is closed when its token was revoked and %s', async (_what, query) => {
    const token = await app.tokenFor();
    const { socket, closed, send } = await signIn(app.url, token);
    const subscribe = { type: 'subscribe', id: '1', payload: { query } };
    const isStream = query === changesDocument;
    if (isStream) {
      await send(subscribe);
      await untilStreams(app, (count) => count > 0);
    }
    await revokeToken(app, token);
    const messages = collectMessages(socket);
    if (isStream) await newIssue();
    else await send(subscribe);
    expect(await closed).toBe(4403);
    expect(messages.map(({ type }) => type)).toEqual(isStream ? ['next', 'complete'] : ['error']);
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
  const received = Promise.withResolvers<unknown>();
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
    .subscribe({
      next: (answer) => received.resolve(answer.data?.changes.eventType),
      error: received.reject,
    });
  await untilStreams(app, (count) => count > 0);
  await newIssue();
  expect(await received.promise).toBe('issue.created.v1');
  subscription.unsubscribe();
  apollo.stop();
});
