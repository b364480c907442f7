import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { pino } from 'pino';
import { WebSocket } from 'ws';
import { startServer } from '../../src/server/server.ts';
import { startApp } from '../support/app.ts';
import { Random } from '../support/random.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import {
  changesDocument,
  collectMessages,
  connectionInit,
  openSocket,
  signIn,
  untilStreams,
} from './sockets.ts';

const { app, world } = useIssueWorld({
  settings: { STREAMS_PER_TOKEN: '4', METRICS_ADDRESS: '0', CORS_ORIGINS: 'https://board.example' },
});

describe('a WebSocket', () => {
  it.each([
    ['names no token', [{ type: 'connection_init' }], 4403],
    ['names an unknown token', [connectionInit('wg_unknown')], 4403],
    [
      'asks before it has signed in',
      [{ type: 'subscribe', id: '1', payload: { query: '{ viewer { scopes } }' } }],
      4401,
    ],
    [
      'sends a long message before it has signed in',
      [{ type: 'ping', payload: { text: 'x'.repeat(20_000) } }],
      4401,
    ],
    ['says something that is no message', [{ type: 'nothing' }], 4400],
    ['says a text in place of an object', [JSON.stringify({ type: 'ping' })], 4400],
    ['says what only a server says', [{ type: 'next', id: '1', payload: {} }], 4400],
    ['says nothing for three seconds', [], 4408],
  ] as const)('is closed if it %s', async (_what, messages, code) => {
    const { closed, send } = openSocket(app.url);
    for (const message of messages) await send(message);
    expect(await closed).toBe(code);
  });

  const signedIn = () => signIn(app.url, world.ada.token);

  it('is closed if it signs in twice, uses an id twice, or sends a message that is too large', async () => {
    const twice = openSocket(app.url);
    await twice.send(connectionInit(world.ada.token));
    await twice.send(connectionInit(world.ada.token));
    expect(await twice.closed).toBe(4429);
    // The library repeats the id in the reason, which a close frame has no room for.
    for (const id of ['1', 'y'.repeat(300)]) {
      const same = await signedIn();
      const subscribe = { type: 'subscribe', id, payload: { query: changesDocument } };
      await same.send(subscribe);
      await same.send(subscribe);
      expect(await same.closed).toBe(4409);
    }
    const large = await signedIn();
    await large.send({ type: 'ping', payload: { text: 'x'.repeat(2_000_000) } });
    expect(await large.closed).toBe(1009);
    const long = await signedIn();
    await long.send({ type: 'ping', payload: { text: 'x'.repeat(5_000) } });
    expect(await long.closed).toBe(4400);
  });

  it('is closed if it sends more than 8 KiB before it has signed in, even of one message', async () => {
    const pings = openSocket(app.url);
    for (let sent = 0; sent < 10; sent += 1)
      await pings.send({ type: 'ping', payload: { text: 'x'.repeat(1_000) } });
    expect(await pings.closed).toBe(4401);
    const part = openSocket(app.url);
    await once(part.socket, 'open');
    part.socket.send('x'.repeat(20_000), { fin: false });
    expect(await part.closed).toBe(4401);
  });

  it.each(['ping', 'subscribe'])('is closed if it sends a %s that is nested without end', async (type) => {
    const { socket, closed } = await signedIn();
    const variables = `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    socket.send(`{"type":"${type}","id":"1","payload":{"query":"{ __typename }","variables":${variables}}}`);
    expect(await closed).toBe(4400);
  });

  it('is closed if it sends a message with more than 50,000 values', async () => {
    const { socket, closed } = await signedIn();
    const ones = Array.from({ length: 50_000 }, () => 1);
    const payload = { query: '{ __typename }', variables: { ones } };
    socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload }));
    expect(await closed).toBe(4400);
  });

  it('answers an operation with variables that are nested too deeply without being closed', async () => {
    const { socket, send } = await signedIn();
    const variables: unknown = JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`);
    await send({ type: 'subscribe', id: '1', payload: { query: '{ __typename }', variables } });
    const [data] = (await once(socket, 'message')) as [Buffer];
    expect(JSON.parse(String(data))).toMatchObject({
      type: 'error',
      payload: [{ extensions: { code: 'QUERY_TOO_COMPLEX' } }],
    });
    socket.terminate();
  });

  it('is closed if it sends thousands of pings, and not if it sends hundreds', async () => {
    const { socket, closed, send } = await signedIn();
    await send({ type: 'ping' });
    let answeredCount = 0;
    const answers = new Promise<void>((resolve) => {
      socket.on('message', () => {
        answeredCount += 1;
        if (answeredCount === 500) resolve();
      });
    });
    for (let count = 1; count < 500; count += 1) void send({ type: 'ping', payload: { a: 1 } });
    await answers;
    for (let count = 0; count < 20_000; count += 1) void send({ type: 'ping', payload: { a: 1 } });
    expect(await closed).toBe(4429);
    expect(answeredCount).toBeLessThan(5_000);
  });

  it('is refused for another subprotocol', async () => {
    const { closed } = openSocket(app.url, { protocol: 'graphql-ws' });
    // The client of `ws` closes the connection itself if the server chooses no subprotocol.
    expect(await closed).toBe(1006);
  });

  it('is opened by pages of its own and of configured origins only', async () => {
    const foreign = openSocket(app.url, { origin: 'https://evil.example' });
    const [, response] = (await once(foreign.socket, 'unexpected-response')) as [
      unknown,
      { statusCode: number; destroy(): void },
    ];
    expect(response).toMatchObject({ statusCode: 403, headers: { 'x-frame-options': 'DENY' } });
    response.destroy();
    for (const origin of ['https://board.example', app.url]) {
      const { socket } = openSocket(app.url, { origin });
      await once(socket, 'open');
      socket.terminate();
    }
  });

  it('that asks for an upgrade without a valid key is refused, with security headers', async () => {
    const headers = { Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' };
    const upgradeRequest = get(`${app.url}/graphql`, {
      headers: { ...headers, 'Sec-WebSocket-Key': 'short' },
    });
    const [response] = (await once(upgradeRequest, 'response')) as [IncomingMessage];
    response.resume();
    expect(response).toMatchObject({ statusCode: 400, headers: { 'x-content-type-options': 'nosniff' } });
  });

  it('that asks to upgrade to something else gets the usual answer', async () => {
    const upgradeRequest = get(`${app.url}/health`, { headers: { Connection: 'Upgrade', Upgrade: 'h2c' } });
    const [response] = (await once(upgradeRequest, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(200);
  });

  it('has operations refused, with the id of the request, when too many others wait before them', async () => {
    const { socket, send } = await signedIn();
    const operationCount = 100;
    const answers = new Map<string, { type: string; payload: unknown }>();
    const allAnswered = new Promise<void>((resolve) => {
      socket.on('message', (data: Buffer) => {
        const { id, ...answer } = JSON.parse(String(data)) as { id: string; type: string; payload: unknown };
        if (answer.type !== 'complete') answers.set(id, answer);
        if (answers.size === operationCount) resolve();
      });
    });
    for (let id = 0; id < operationCount; id += 1)
      void send({ type: 'subscribe', id: String(id), payload: { query: '{ viewer { scopes } }' } });
    await allAnswered;
    const refused = [...answers.values()].filter(({ type }) => type === 'error');
    expect(refused).not.toEqual([]);
    for (const { payload } of refused)
      expect(payload).toMatchObject([
        { extensions: { code: 'UNAVAILABLE', requestId: expect.stringMatching(/./) } },
      ]);
    socket.terminate();
  });

  it('that is closed while its subscription begins leaves no stream behind', async () => {
    for (let turns = 0; turns < 40; turns += 1) {
      const { socket, closed, send } = await signedIn();
      await send({ type: 'subscribe', id: '1', payload: { query: changesDocument } });
      for (let turn = 0; turn < turns; turn += 1) await setImmediate();
      socket.terminate();
      await closed;
    }
    await expect(untilStreams(app, (count) => count === 0)).resolves.toBeUndefined();
  });

  it('that sends anything at all is answered or closed, and others are served as before', async () => {
    const random = new Random('messages of a WebSocket');
    const types = ['connection_init', 'subscribe', 'complete', 'ping', 'pong', 'next', 'error', '', null, 1];
    const values = [null, 0, '', 'x', [], {}, { query: '{ viewer { scopes } }' }, { query: 1 }, true];
    for (let round = 0; round < 60; round += 1) {
      const { socket, closed, send } = openSocket(app.url);
      if (random.chance(0.7)) await send(connectionInit(world.ada.token));
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
    await untilStreams(app, (count) => count === 0);
  });

  it('is told to reconnect when the server stops, and its streams are not completed', async () => {
    const otherServer = await startApp({ sharesDatabase: true, settings: { METRICS_ADDRESS: '0' } });
    const { socket, closed, send } = await signIn(otherServer.url, otherServer.token);
    const messages = collectMessages(socket);
    await send({ type: 'subscribe', id: '1', payload: { query: changesDocument } });
    await send({ type: 'subscribe', id: '2', payload: { query: '{ viewer { scopes } }' } });
    while (!messages.some(({ type }) => type === 'complete')) await once(socket, 'message');
    await untilStreams(otherServer, (count) => count > 0);
    await otherServer.stop();
    expect(await closed).toBe(1001);
    expect(messages.map(({ type }) => type)).toEqual(['next', 'complete']);
  });

  it.each([false, true])(
    'is told to reconnect when it subscribes on a stopping server (replaced: %s)',
    async (isReplaced) => {
      const otherServer = await startServer({
        database: app.database,
        config: { host: '127.0.0.1', port: 0, publicUrl: undefined, explorer: true },
        logger: pino({ level: 'silent' }),
      });
      const { socket, closed, send } = await signIn(otherServer.url, world.ada.token);
      const messages = collectMessages(socket);
      // Connections are closed at random moments of the drain; this one would be closed at its end.
      const random = jest.spyOn(Math, 'random').mockReturnValue(1);
      const stopped = otherServer.stop({ drainMs: 1_000, isReplaced });
      random.mockRestore();
      await send({ type: 'subscribe', id: '1', payload: { query: changesDocument } });
      expect(await closed).toBe(1001);
      expect(messages).toEqual([]);
      await stopped;
    },
  );
});
