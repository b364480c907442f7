import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { AnswersInMessages } from '../../src/server/graphql/answers-in-messages.ts';
import { Admission } from '../../src/server/limits/admission.ts';
import { type App, startApp } from '../support/app.ts';
import { whileIssuesAreBlocked } from '../support/blocked-issues.ts';
import { eventually } from '../support/eventually.ts';
import { sampleOf } from '../support/metrics.ts';
import { collectMessages, signIn } from './sockets.ts';

describe('a large message', () => {
  let app: App;
  afterEach(() => app.stop());

  const load = (state: string) => sampleOf(app, 'workgraph_admission_requests', `state="${state}"`);
  const messageOf = (bytes: number) => ({
    type: 'subscribe',
    id: '1',
    payload: { query: '{ viewer { scopes } }', variables: { unused: 'x'.repeat(bytes) } },
  });
  const large = messageOf(20_000);
  const typesOf = (messages: readonly { type: string }[]) => messages.map(({ type }) => type);

  /** A connection that has signed in to a server with a single ticket, and the messages that come over it. */
  async function open() {
    app = await startApp({
      sharesDatabase: true,
      settings: { MAX_CONCURRENCY: '1', QUEUE_WAIT_MS: '60000', METRICS_ADDRESS: '0' },
    });
    return openAnother();
  }

  async function openAnother() {
    const connection = await signIn(app.url, app.token);
    return { ...connection, messages: collectMessages(connection.socket) };
  }

  /** Takes the only ticket, sends the messages in one packet, and calls `meanwhile` when the first of them waits. */
  async function whileBusy(
    { tcp, send }: Awaited<ReturnType<typeof open>>,
    messages: object[],
    meanwhile: () => unknown,
  ) {
    const { first } = await whileIssuesAreBlocked(app, async () => {
      const first = app.request('GET', '/v1/issues');
      await eventually(async () => (await load('in_progress')) === 1);
      tcp.cork();
      for (const message of messages) await send(message);
      tcp.uncork();
      await eventually(async () => (await load('waiting')) === 1);
      await meanwhile();
      return { first };
    });
    await first;
  }

  it('waits until the server has time for it, and those after it are answered after it', async () => {
    const connection = await open();
    await whileBusy(connection, [large, { type: 'ping' }, { ...large, id: '2' }, { type: 'ping' }], () => {
      expect(connection.messages).toEqual([]);
    });
    await eventually(() => connection.messages.length === 6);
    expect(typesOf(connection.messages).toSorted()).toEqual([
      'complete',
      'complete',
      'next',
      'next',
      'pong',
      'pong',
    ]);
    await connection.send({ type: 'ping' });
    await eventually(() => connection.messages.length === 7);
    expect(connection.messages.at(-1)).toMatchObject({ type: 'pong' });
    connection.socket.terminate();
  });

  it('may be small if there are many: those beyond 64 KiB in a second take turns', async () => {
    const { send, messages } = await open();
    const turn = jest.spyOn(Admission.prototype, 'turn');
    for (let sent = 1; sent <= 18; sent += 1)
      await send({ type: 'ping', payload: { text: 'x'.repeat(4_000) } });
    await eventually(() => messages.length === 18);
    // 16 of them have 64 KiB.
    expect(turn).toHaveBeenCalledTimes(2);
    turn.mockRestore();
  });

  it('is forgotten when its client has gone', async () => {
    const connection = await open();
    await whileBusy(connection, [large], async () => {
      connection.socket.terminate();
      await eventually(async () => (await load('waiting')) === 0);
    });
    expect(connection.messages).toEqual([]);
  });

  it('closes its connection with the advice to try again later when too many of them wait', async () => {
    const connection = await open();
    const others = await Promise.all(Array.from({ length: 8 }, openAnother));
    const largest = messageOf(950_000);
    await whileBusy(connection, [largest], async () => {
      for (const { send } of others) await send(largest);
      expect(await Promise.race(others.map(({ closed }) => closed))).toBe(1013);
    });
    await eventually(() => connection.messages.length === 2);
    expect(typesOf(connection.messages)).toEqual(['next', 'complete']);
    for (const { socket } of [connection, ...others]) socket.terminate();
  });
});

describe('answers in messages', () => {
  const answers = new AnswersInMessages();
  const messageWith = (id: string, json: string | Uint8Array) =>
    String(answers.complete(JSON.stringify({ id, type: 'next', payload: answers.valueOf(json) })));

  it.each(['{"data":{"name":"ü, \\"payload\\""}}', '{"data":{"n":1.0}}'])(
    'are the JSON of the answer: %s',
    (json) => {
      const message = `{"id":"1","type":"next","payload":${json}}`;
      expect(messageWith('1', json)).toBe(message);
      expect(messageWith('1', Buffer.from(json))).toBe(message);
    },
  );

  it('leave messages without an answer as they are', () => {
    expect(messageWith('1', '{}')).toBe('{"id":"1","type":"next","payload":{}}');
    expect(answers.complete('{"id":"1","type":"complete"}')).toBe('{"id":"1","type":"complete"}');
  });
});
