import { describe, expect, it } from '@jest/globals';
import { startApp } from '../support/app.ts';
import { logInto } from '../support/log-into.ts';
import { whileIssuesAreBlocked } from '../support/blocked-issues.ts';
import { eventually } from '../support/eventually.ts';
import { sampleOf, samplesOf } from '../support/metrics.ts';
import { collectMessages, type RawSocket, signIn } from './sockets.ts';

it.each([
  ['completes it', ({ send }: RawSocket) => send({ type: 'complete', id: '1' })],
  ['closes its connection', async ({ socket }: RawSocket) => socket.terminate()],
])(
  'an operation leaves the queue at once, logged and counted as 499, when the client %s',
  async (_how, leave) => {
    const lines: Record<string, unknown>[] = [];
    const log = logInto(lines);
    const settings = { MAX_CONCURRENCY: '1', QUEUE_WAIT_MS: '60000', METRICS_ADDRESS: '0' };
    const app = await startApp({ sharesDatabase: true, settings, logLevel: 'info', log });
    const load = (state: string) => sampleOf(app, 'workgraph_admission_requests', `state="${state}"`);
    const connection = await signIn(app.url, app.token);
    const { first } = await whileIssuesAreBlocked(app, async () => {
      const first = app.request('GET', '/v1/issues');
      await eventually(async () => (await load('in_progress')) === 1);
      await connection.send({ type: 'subscribe', id: '1', payload: { query: '{ issues { totalCount } }' } });
      await eventually(async () => (await load('waiting')) === 1);
      await leave(connection);
      await eventually(async () => (await load('waiting')) === 0);
      return { first };
    });
    expect((await first).status).toBe(200);
    expect(lines.filter(({ over }) => over === 'websocket')).toMatchObject([{ status: 499 }]);
    const counted = [...(await samplesOf(app, 'workgraph_request_duration_seconds_count'))];
    const canceled = counted.filter(([labels]) => labels.includes('status="499"'));
    expect(canceled.map(([, count]) => count)).toEqual([1]);
    connection.socket.terminate();
    await app.stop();
  },
);

describe.each(['waiting', 'in_progress'])(
  'an id whose operation was %s when the client completed it',
  (state) => {
    const query = (text: string) => ({ type: 'subscribe', id: '1', payload: { query: text } });
    const complete = { type: 'complete', id: '1' };
    // The query selects rows, because a number of issues is not read from the blocked table.
    const issues = query('{ issues(first: 1) { nodes { key } } }');
    const teams = query('{ teams { totalCount } }');

    /** Completes an operation and sends the messages in the same packet, so that the server reads them before the operation has ended. */
    async function messagesAfter(messages: object[]) {
      const settings = { MAX_CONCURRENCY: '1', QUEUE_WAIT_MS: '60000', METRICS_ADDRESS: '0' };
      const app = await startApp({ sharesDatabase: true, settings });
      const load = (name: string) => sampleOf(app, 'workgraph_admission_requests', `state="${name}"`);
      const { socket, tcp, closed, send } = await signIn(app.url, app.token);
      const answers: unknown[] = [];
      const { promise: pongReceived, resolve: markPongReceived } = Promise.withResolvers<void>();
      socket.on('message', (data: Buffer) => {
        const answer = JSON.parse(String(data)) as { type: string };
        if (answer.type === 'pong') return markPongReceived();
        answers.push(answer);
        if (answer.type !== 'next') socket.close(1000);
      });
      const { first } = await whileIssuesAreBlocked(app, async () => {
        const first = state === 'waiting' ? app.request('GET', '/v1/issues') : undefined;
        if (first) await eventually(async () => (await load('in_progress')) === 1);
        await send(issues);
        await eventually(async () => (await load(state)) === 1);
        tcp.cork();
        for (const message of [complete, ...messages, { type: 'ping' }]) await send(message);
        tcp.uncork();
        // Otherwise the first operation might end before the server has read that it is completed.
        await Promise.race([pongReceived, closed]);
        return { first };
      });
      const code = await closed;
      await first;
      await app.stop();
      return { code, answers };
    }

    it('gets only the answer to the operation that uses it again', async () => {
      expect(await messagesAfter([teams, { type: 'pong' }])).toEqual({
        code: 1000,
        answers: [
          { id: '1', type: 'next', payload: { data: { teams: { totalCount: expect.any(Number) } } } },
          complete,
        ],
      });
    });

    it('gets only the answer to the last operation that uses it when those before are completed too', async () => {
      const { answers } = await messagesAfter([issues, complete, teams]);
      expect(answers).toMatchObject([{ payload: { data: { teams: {} } } }, complete]);
    });

    it('cannot be used for two operations that are not completed', async () => {
      expect(await messagesAfter([issues, teams])).toEqual({ code: 4409, answers: [] });
    });
  },
);

it('operations beyond 32 without an answer are refused, and what comes after them waits', async () => {
  const app = await startApp({ sharesDatabase: true, settings: { QUEUE_WAIT_MS: '60000' } });
  const { socket, send } = await signIn(app.url, app.token);
  const messages = collectMessages<{ type: string; payload: { extensions?: { code: string } }[] }>(socket);
  await whileIssuesAreBlocked(app, async () => {
    const beganMs = performance.now();
    for (let id = 1; id <= 42; id += 1)
      await send({
        type: 'subscribe',
        id: String(id),
        payload: { query: '{ issues(first: 1) { nodes { key } } }' },
      });
    await send({ type: 'ping' });
    await eventually(() => messages.length === 11);
    expect(performance.now() - beganMs).toBeGreaterThan(90);
  });
  const refused = messages.slice(0, 10).map(({ type, payload }) => [type, payload[0]?.extensions?.code]);
  expect(refused).toEqual(Array.from({ length: 10 }, () => ['error', 'UNAVAILABLE']));
  expect(messages[10]).toMatchObject({ type: 'pong' });
  socket.terminate();
  await app.stop();
});
