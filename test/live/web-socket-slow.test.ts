import { once } from 'node:events';
import { afterEach, expect, it, jest } from '@jest/globals';
import type { WebSocket } from 'ws';
import { type App, startApp } from '../support/app.ts';
import { newAttachmentCaller, type AttachmentCaller } from '../attachments/files.ts';
import { collectMessages, signIn } from './sockets.ts';
import { eventually } from '../support/eventually.ts';
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

/** A WebSocket that has signed in, its connection, and the messages that come over it. */
async function open(token: string) {
  const { socket, tcp } = await signIn(app.url, token);
  return { socket, tcp, messages: collectMessages(socket) };
}

/** Waits for this number of messages, or until the WebSocket is closed. */
const untilMessages = ({ socket, messages }: Awaited<ReturnType<typeof open>>, count: number) =>
  eventually(() => messages.length >= count || socket.readyState !== socket.OPEN);

/** Requests an answer that is larger than the socket buffers of both ends. */
function requestLargeAnswer(socket: WebSocket, id: string, issueKey: string, aliases = 95): void {
  const fields = Array.from(
    { length: aliases },
    (_, n) => `a${n}: issue(key: "${issueKey}") { description }`,
  );
  socket.send(JSON.stringify({ type: 'subscribe', id, payload: { query: `{ ${fields.join(' ')} }` } }));
}

const unsentBytes = () => sampleOf(app, 'workgraph_unsent_bytes');

it('a client that reads slowly but steadily gets all of its messages', async () => {
  // Longer than a busy machine could keep the test from reading, and shorter than reading everything takes.
  const clientMs = 2_500;
  const { issueKey, token } = await start(clientMs);
  const connection = await open(token);
  const { socket, tcp, messages } = connection;
  tcp.on('data', () => {
    tcp.pause();
    setTimeout(() => tcp.resume(), 15);
  });
  const began = performance.now();
  requestLargeAnswer(socket, 'large', issueKey);
  requestLargeAnswer(socket, 'other', issueKey);
  requestLargeAnswer(socket, 'small', issueKey, 1);
  await untilMessages(connection, 6);
  const types = messages.map(({ type }) => type);
  expect(types.toSorted()).toEqual(['complete', 'complete', 'complete', 'next', 'next', 'next']);
  expect(performance.now() - began).toBeGreaterThan(clientMs);
  socket.terminate();
});

it('a client that has much to read before a ping is not taken for one that has gone', async () => {
  fakeIntervals();
  try {
    const { issueKey, token } = await start(60_000);
    const connection = await open(token);
    const { socket, tcp, messages } = connection;
    tcp.pause();
    requestLargeAnswer(socket, 'large', issueKey);
    requestLargeAnswer(socket, 'other', issueKey);
    await eventually(async () => (await unsentBytes()) >= 8_000_000);
    for (let n = 0; n < 4; n += 1) jest.advanceTimersByTime(15_000);
    tcp.resume();
    await untilMessages(connection, 4);
    expect(messages).toHaveLength(4);
    socket.terminate();
  } finally {
    jest.useRealTimers();
  }
});

it('a client that answers no ping is disconnected', async () => {
  fakeIntervals();
  try {
    const { token } = await start(60_000);
    const { socket, tcp } = await open(token);
    tcp.pause();
    jest.advanceTimersByTime(30_000);
    const closed = once(socket, 'close');
    tcp.resume();
    await closed;
  } finally {
    jest.useRealTimers();
  }
});
