import { ApolloClient, gql, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { expect, it } from '@jest/globals';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { connect } from '../../src/client/client.ts';
import { applyDirectory } from '../../src/portability/directory/directory.ts';
import { parseDirectory } from '../../src/portability/directory/directory-file.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { untilStreams, socketUrl } from './sockets.ts';
import { newestCursor, nextAnswer, subscribe } from './subscribing.ts';

// More has changed than a live list can report, so the client has to read its list again.
const { app, world } = useIssueWorld({ changesRows: true, settings: { METRICS_ADDRESS: '0' } });

const list = 'issues(filter: { team: { name: { startsWith: "Renamed" } } })';

let renameCount = 0;

/** Renames the team, which may move all of its issues into or out of the list. */
function renameTeam(): Promise<unknown> {
  renameCount += 1;
  const file = { workspace: 'ignored', teams: [{ code: 'ENG', name: `Renamed ${renameCount}` }] };
  return applyDirectory(app.database, systemActor, parseDirectory(file), { workspaceId: app.workspaceId });
}

it('Apollo Client is told of a reset over a WebSocket', async () => {
  const socket = createClient({
    url: socketUrl(app.url),
    webSocketImpl: WebSocket,
    connectionParams: { Authorization: `Bearer ${world.ada.token}` },
    retryAttempts: 0,
  });
  const apollo = new ApolloClient({ link: new GraphQLWsLink(socket), cache: new InMemoryCache() });
  const received = Promise.withResolvers<unknown>();
  const query = gql(`subscription { ${list} { kind issue { id title } } }`);
  const subscription = apollo.subscribe({ query }).subscribe({
    next: ({ data, extensions }) => received.resolve({ data, extensions }),
    error: received.reject,
  });
  await untilStreams(app, (count) => count > 0);
  await renameTeam();
  expect(await received.promise).toEqual({
    data: { issues: null },
    extensions: { reset: true, cursor: await newestCursor(app) },
  });
  subscription.unsubscribe();
  apollo.stop();
  await socket.dispose();
});

it.each([
  ['an alias', `subscription { shown: ${list} { kind } }`],
  [
    'an alias in a fragment',
    `subscription { ...Shown } fragment Shown on Subscription { shown: ${list} { kind } }`,
  ],
])('a reset names its field by %s', async (_what, query) => {
  const { token } = world.ada;
  const stream = await subscribe(
    app,
    query,
    {},
    { token, headers: { 'last-event-id': await newestCursor(app) } },
  );
  await renameTeam();
  expect((await nextAnswer(stream)).answer).toMatchObject({
    data: { shown: null },
    extensions: { reset: true },
  });
  stream.stop();
});

it('the client of the package marks a reset, and has its cursor', async () => {
  const workgraph = connect({ url: app.url, token: world.ada.token });
  const after = await newestCursor(app);
  const events = workgraph.subscribe(`subscription { ${list} { kind } }`, {}, { after });
  await renameTeam();
  const cursor = await newestCursor(app);
  expect((await events.next()).value).toEqual({ cursor, data: null, reset: true });
  await events.return();
});
