import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, it, jest } from '@jest/globals';
import { WebSocket } from 'ws';
import { type App, startApp } from '../support/app.ts';
import { newAttachmentCaller, type AttachmentCaller } from '../attachments/files.ts';
import { socketUrl } from './sockets.ts';
import { sampleOf } from '../support/metrics.ts';
import { fakeIntervals } from '../support/fake-timers.ts';

let app: App;
afterEach(() => app.stop());

const descriptionBytes = 100_000;

/** A workspace with an issue that has a long description. */
async function start(clientMs: number): Promise<AttachmentCaller> {
  app = await startApp({
    sharesDatabase: true,
    settings: { CLIENT_TIMEOUT_MS: String(clientMs), METRICS_ADDRESS: '0' },
  });
  const caller = await newAttachmentCaller(app);
  const input = { key: caller.issueKey, description: 'é'.repeat(descriptionBytes / 2) };
  const update = 'mutation ($input: IssueUpdateInput!) { issueUpdate(input: $input) { issue { key } } }';
  const { body } = await app.graphql(update, { input }, { token: caller.token });
  expect(body.errors).toBeUndefined();
  return caller;
}

/** A connection that has signed in, its socket, and the messages that come over it. */
async function open(token: string) {
  let socket: Socket | undefined;
  const ws = new WebSocket(socketUrl(app.url), 'graphql-transport-ws', {
    createConnection: (options: { port?: unknown }) => (socket = connect(Number(options.port), '127.0.0.1')),
  });
  const messages: string[] = [];
  ws.on('message', (data: Buffer) => messages.push(String(data)));
  await once(ws, 'open');
  ws.send(JSON.stringify({ type: 'connection_init', payload: { Authorization: `Bearer ${token}` } }));
  await once(ws, 'message');
  messages.length = 0;
  if (!socket) throw new Error('It is connected.');
  return { ws, socket, messages };
}

/** Requests an answer that is larger than the socket buffers of both ends. */
function requestLargeAnswer(ws: WebSocket, id: string, issueKey: string, aliases = 95): void {
  const fields = Array.from(
    { length: aliases },
    (_, n) => `a${n}: issue(key: "${issueKey}") { description }`,
  );
  ws.send(JSON.stringify({ type: 'subscribe', id, payload: { query: `{ ${fields.join(' ')} }` } }));
}

const unsentBytes = () => sampleOf(app, 'workgraph_unsent_bytes');

it('a client that reads slowly but steadily gets all of its messages', async () => {
  // Longer than a busy machine could keep the test from reading, and shorter than reading everything takes.
  const clientMs = 2_500;
  const { issueKey, token } = await start(clientMs);
  const { ws, socket, messages } = await open(token);
  socket.on('data', () => {
    socket.pause();
    setTimeout(() => socket.resume(), 15);
  });
  const began = performance.now();
  requestLargeAnswer(ws, 'large', issueKey);
  requestLargeAnswer(ws, 'other', issueKey);
  requestLargeAnswer(ws, 'small', issueKey, 1);
  while (messages.length < 6 && ws.readyState === ws.OPEN) await delay(10);
  const types = messages.map((message) => (JSON.parse(message) as { type: string; id: string }).type);
  expect(types.toSorted()).toEqual(['complete', 'complete', 'complete', 'next', 'next', 'next']);
  expect(performance.now() - began).toBeGreaterThan(clientMs);
  ws.terminate();
});

it('a client that has much to read before a ping is not taken for one that has gone', async () => {
  fakeIntervals();
  try {
    const { issueKey, token } = await start(60_000);
    const { ws, socket, messages } = await open(token);
    socket.pause();
    requestLargeAnswer(ws, 'large', issueKey);
    requestLargeAnswer(ws, 'other', issueKey);
    while ((await unsentBytes()) < 8_000_000) await delay(10);
    for (let n = 0; n < 4; n += 1) jest.advanceTimersByTime(15_000);
    socket.resume();
    while (messages.length < 4 && ws.readyState === ws.OPEN) await delay(10);
    expect(messages).toHaveLength(4);
    ws.terminate();
  } finally {
    jest.useRealTimers();
  }
});

it('a client that answers no ping is disconnected', async () => {
  fakeIntervals();
  try {
    const { token } = await start(60_000);
    const { ws, socket } = await open(token);
    socket.pause();
    jest.advanceTimersByTime(30_000);
    const closed = once(ws, 'close');
    socket.resume();
    await closed;
  } finally {
    jest.useRealTimers();
  }
});
