import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { connect } from '../../src/client/client.ts';
import { failureOf } from './failure-of.ts';
import { startScriptedServer } from './scripted-server.ts';
import { fakeOnly } from '../support/fake-timers.ts';

beforeEach(() => fakeOnly(['setTimeout', 'clearTimeout']));
afterEach(() => void jest.useRealTimers());

const cursor = (n: number) => `retry: 1\nid: c1-${n}-a\ndata: {"position": ${n}}\n\n`;

it.each([
  ['has broken', (response: ServerResponse) => response.end(cursor(1))],
  ['has fallen silent', (response: ServerResponse) => response.write(cursor(1))],
])(
  'the client reopens a stream whose connection %s, although the server leaves one attempt unanswered',
  async (_, send) => {
    const lastEventIds: (string | undefined)[] = [];
    const server = createServer(({ headers }, response) => {
      lastEventIds.push(headers['last-event-id']?.toString());
      if (lastEventIds.length === 2) return;
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      if (lastEventIds.length === 1) send(response);
      else response.write(cursor(2));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const stream = connect({ url: `http://localhost:${port}`, token: 'wg_token' }).changes();
    expect(await stream.next()).toMatchObject({ value: { position: 1 } });
    const next = stream.next();
    for (const times of [2, 3]) {
      // First the silence after which the client gives up the connection, then its pause before the next attempt.
      await nextTurn();
      jest.advanceTimersByTime(30_000);
      for (let turn = 0; turn < 20_000 && lastEventIds.length < times; turn += 1) {
        jest.advanceTimersByTime(1);
        await nextTurn();
      }
      expect(lastEventIds).toHaveLength(times);
    }
    expect(await next).toMatchObject({ value: { position: 2 } });
    expect(lastEventIds).toEqual([undefined, 'c1-1-a', 'c1-1-a']);
    await stream.return();
    server.closeAllConnections();
    server.close();
  },
);

/** Advances the fake clock by `ms` in small steps, and lets the event loop run after each. */
async function advanceTime(ms: number): Promise<void> {
  for (let turn = 0; turn < 5_000; turn += 1) {
    jest.advanceTimersByTime(ms / 5_000);
    await nextTurn();
  }
}

it('the client does not reopen a stream at once when the server asks for a longer wait than a timer can have', async () => {
  await using server = await startScriptedServer((_, response) => {
    response.writeHead(429, { 'Retry-After': '3000000' }).end();
  });
  const leaving = new AbortController();
  const workgraph = connect({ url: server.url, token: 'wg_token', longestWaitMs: Infinity });
  const waiting = workgraph.changes({}, { signal: leaving.signal }).next();
  while (server.seen.length === 0) await nextTurn();
  // Less than the silence after which a connection counts as lost.
  await advanceTime(5_000);
  expect(server.seen).toHaveLength(1);
  leaving.abort(new Error('The page was left.'));
  await expect(waiting).rejects.toThrow('The page was left.');
});

it('the client waits for an answer without end when its timeout is infinite', async () => {
  const held: ServerResponse[] = [];
  await using server = await startScriptedServer((_, response) => void held.push(response));
  const workgraph = connect({ url: server.url, token: 'wg_token', timeoutMs: Infinity });
  const answer = workgraph.graph.request('{ viewer { id } }');
  while (held.length === 0) await nextTurn();
  await advanceTime(600_000);
  held[0]?.writeHead(200, { 'Content-Type': 'application/json' }).end('{"data": {"viewer": null}}');
  expect([await answer, held.length]).toEqual([{ viewer: null }, 1]);
});

it('a call and a stream report an unreachable server when fetch throws instead of rejecting', async () => {
  const cause = new Error('There is no network.');
  const broken = () => {
    throw cause;
  };
  const workgraph = connect({ url: 'http://localhost:1', token: 'wg_token', fetch: broken });
  for (const call of [workgraph.rest.GET('/v1/teams'), workgraph.changes().next()]) {
    const failed = failureOf(call);
    await advanceTime(120_000);
    expect(await failed).toMatchObject({ code: 'unreachable', cause });
  }
});
