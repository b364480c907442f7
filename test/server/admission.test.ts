import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Admission, busy, type AdmissionTicket } from '../../src/server/limits/admission.ts';
import { type App, startApp } from '../support/app.ts';
import { logInto } from '../support/log-into.ts';
import { whileIssuesAreBlocked } from '../support/blocked-issues.ts';
import { eventually } from '../support/eventually.ts';
import { sampleOf, samplesOf } from '../support/metrics.ts';

describe('admission', () => {
  const limits = { maxConcurrency: 1, queueWaitMs: 60_000, requestTimeoutMs: 60_000 };

  /** Enters the queue of an admission; `ticket` is set as soon as there is one. */
  function enterQueue(admission: Admission) {
    const entry: { ticket?: AdmissionTicket; refused: boolean; settled: Promise<void> } = {
      refused: false,
      settled: Promise.resolve(),
    };
    entry.settled = new Promise((resolve) =>
      admission.enter(
        (ticket) => {
          entry.ticket = ticket;
          resolve();
        },
        () => {
          entry.refused = true;
          resolve();
        },
      ),
    );
    return entry;
  }

  it('lets a burst of requests wait and starts them in the order in which they came', () => {
    const admission = new Admission(limits);
    const [first, second, third] = [enterQueue(admission), enterQueue(admission), enterQueue(admission)];
    expect([first.ticket, second.ticket, third.ticket].map(Boolean)).toEqual([true, false, false]);
    expect(admission.load).toEqual({ inProgress: 1, waiting: 2, refused: 0 });
    first.ticket?.leave();
    first.ticket?.leave();
    expect([second.ticket, third.ticket].map(Boolean)).toEqual([true, false]);
    second.ticket?.leave();
    third.ticket?.leave();
    expect(admission.load).toEqual({ inProgress: 0, waiting: 0, refused: 0 });
  });

  it('refuses requests that waited too long, then starts the newest first and refuses the others soon', async () => {
    const admission = new Admission({ ...limits, queueWaitMs: 1 });
    const first = enterQueue(admission);
    const lateEntry = enterQueue(admission);
    await lateEntry.settled;
    expect(lateEntry).toMatchObject({ refused: true });
    const [older, newer] = [enterQueue(admission), enterQueue(admission)];
    // The older one could not be started in time any more.
    expect([older.refused, newer.refused]).toEqual([true, false]);
    first.ticket?.leave();
    expect(newer.ticket).toBeDefined();
    newer.ticket?.leave();
    expect(admission.load).toEqual({ inProgress: 0, waiting: 0, refused: 2 });
  });

  it('lowers the number of concurrent requests in an overload if throughput stays the same, and raises it afterwards', () => {
    let nowMs = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    try {
      const admission = new Admission({ ...limits, maxConcurrency: 16 });
      const tickets: AdmissionTicket[] = [];
      const enter = () =>
        admission.enter(
          (ticket) => void tickets.push(ticket),
          () => undefined,
        );
      for (let n = 0; n < 17; n += 1) enter();
      expect(admission.load).toMatchObject({ inProgress: 16, waiting: 1 });
      // Two hundred requests arrive in a second, and a hundred are answered.
      for (let n = 0; n < 3_000; n += 1) {
        nowMs += 10;
        enter();
        enter();
        tickets.shift()?.leave();
      }
      expect(admission.load.inProgress).toBeLessThanOrEqual(6);
      nowMs += 10_000;
      while (tickets.length > 0) tickets.shift()?.leave();
      expect(admission.load).toMatchObject({ inProgress: 0, waiting: 0 });
      nowMs += 10_000;
      for (let n = 0; n < 17; n += 1) enter();
      expect(admission.load).toMatchObject({ inProgress: 16, waiting: 1 });
      while (tickets.length > 0) tickets.shift()?.leave();
    } finally {
      clock.mockRestore();
    }
  });

  it('queues no more requests than it can refuse in time', () => {
    const admission = new Admission({ ...limits, queueWaitMs: 1 });
    const [, oldest] = Array.from({ length: 2_002 }, () => enterQueue(admission));
    expect(oldest?.refused).toBe(true);
    expect(admission.load.waiting).toBe(2_000);
  });

  it('lends the ticket of a request that waits for its client to another, and gives it one when the client is done', async () => {
    const admission = new Admission(limits);
    const slow = enterQueue(admission);
    const other = enterQueue(admission);
    const body = Promise.withResolvers<string>();
    const readBody = slow.ticket?.whileSuspended(body.promise);
    expect(other.ticket).toBeDefined();
    body.resolve('the body');
    other.ticket?.leave();
    expect(await readBody).toBe('the body');
    expect(admission.load).toMatchObject({ inProgress: 1, waiting: 0 });
    slow.ticket?.leave();
    expect(admission.load).toMatchObject({ inProgress: 0, waiting: 0 });
  });

  it('refuses a second wait of a request, which would take a second ticket at its end', async () => {
    const admission = new Admission(limits);
    const share = new Admission(limits);
    const { ticket } = enterQueue(admission);
    await ticket?.join(() => share);
    const reading = Promise.withResolvers<number>();
    const read = ticket?.whileSuspended(reading.promise);
    await expect(ticket?.whileSuspended(Promise.resolve())).rejects.toThrow('already waiting');
    expect([admission.load, share.load]).toMatchObject([{ inProgress: 0 }, { inProgress: 0 }]);
    reading.resolve(1);
    expect(await read).toBe(1);
    expect([admission.load, share.load]).toMatchObject([{ inProgress: 1 }, { inProgress: 1 }]);
    ticket?.leave();
    expect([admission.load, share.load]).toMatchObject([{ inProgress: 0 }, { inProgress: 0 }]);
  });

  it('holds no ticket for a request that was answered while it waited for its client', async () => {
    const admission = new Admission(limits);
    const slow = enterQueue(admission);
    const body = Promise.withResolvers<string>();
    const readBody = slow.ticket?.whileSuspended(body.promise);
    slow.ticket?.leave();
    body.resolve('the body');
    await expect(readBody).rejects.toMatchObject({ code: 'unavailable' });
    expect(admission.load).toMatchObject({ inProgress: 0, waiting: 0 });
  });

  it('refuses a waiting request as soon as it is abandoned, which is no sign of an overload', () => {
    const admission = new Admission(limits);
    const first = enterQueue(admission);
    let refused = 0;
    const waiting = admission.enter(
      () => undefined,
      () => {
        refused += 1;
      },
    );
    const last = enterQueue(admission);
    waiting.deadline.abort();
    expect([refused, admission.load]).toEqual([1, { inProgress: 1, waiting: 1, refused: 0 }]);
    first.ticket?.leave();
    expect(last.ticket).toBeDefined();
  });

  it('holds no ticket for a client that disconnected while its body was read', async () => {
    const admission = new Admission(limits);
    const slow = enterQueue(admission);
    await expect(slow.ticket?.whileSuspended(Promise.reject(new Error('aborted')))).rejects.toThrow(
      'aborted',
    );
    slow.ticket?.leave();
    expect(admission.load).toMatchObject({ inProgress: 0, waiting: 0 });
  });
});

describe('a server with two tickets', () => {
  let app: App;
  // Each test has its own server, because a refusal starts an overload of a second, in which the server tries a lower concurrency.
  beforeEach(async () => {
    app = await startApp({
      sharesDatabase: true,
      settings: {
        MAX_CONCURRENCY: '2',
        QUEUE_WAIT_MS: '1',
        METRICS_ADDRESS: '0',
        CLIENT_TIMEOUT_MS: '60000',
      },
    });
  });
  afterEach(() => app.stop());

  const inProgress = () => sampleOf(app, 'workgraph_admission_requests', 'state="in_progress"');

  it('refuses the third request of either API at once, answers probes, and then accepts requests again', async () => {
    const sendBoth = () => [app.request('GET', '/v1/issues'), app.graphql('{ issues { nodes { key } } }')];
    // Both are compiled now, so that they begin at once later. Otherwise one statement could time out before the other request begins.
    await Promise.all(sendBoth());
    const { answers } = await whileIssuesAreBlocked(app, async () => {
      const requests = sendBoth();
      await eventually(async () => (await inProgress()) === 2);

      const rest = await app.request('GET', '/v1/issues', { headers: { 'x-request-id': 'mine' } });
      expect(rest.status).toBe(503);
      expect(rest.body).toMatchObject({ code: 'unavailable', detail: busy, requestId: 'mine', errors: [] });
      expect(rest.headers.get('retry-after')).toBe('1');
      expect(rest.headers.get('x-request-id')).toBe('mine');
      for (const accept of ['application/json', 'application/graphql-response+json']) {
        const graph = await app.graphql('{ viewer { scopes } }', {}, { headers: { accept } });
        expect(graph.status).toBe(503);
        expect(graph.headers.get('content-type')).toBe(`${accept}; charset=utf-8`);
        expect(graph.body.errors).toEqual([
          { message: busy, extensions: { code: 'UNAVAILABLE', requestId: expect.any(String) } },
        ]);
      }
      const general = await app.request('GET', '/graphql?query={viewer{scopes}}');
      expect(general).toMatchObject({ status: 503, body: { errors: [{ message: busy }] } });
      const write = await app.request('POST', '/v1/issues', { body: { large: 'x'.repeat(200_000) } });
      expect(write).toMatchObject({ status: 503, body: { detail: busy } });
      for (const path of ['/health', '/healthz', '/'])
        expect((await app.request('GET', path, { token: null })).status).toBe(200);
      return { answers: Promise.all(requests) };
    });
    expect((await answers).map(({ status }) => status)).toEqual([200, 200]);
    expect(await inProgress()).toBe(0);
    expect((await app.request('GET', '/v1/issues')).status).toBe(200);
  });

  it('sends the common headers with a refusal', async () => {
    const { refused, answers } = await whileIssuesAreBlocked(app, async () => {
      const requests = [app.request('GET', '/v1/issues'), app.request('GET', '/v1/issues')];
      await eventually(async () => (await inProgress()) === 2);
      return { refused: await app.request('GET', '/v1/teams/ENG'), answers: Promise.all(requests) };
    });
    await answers;
    expect(refused.status).toBe(503);
    const other = await app.request('GET', '/v1/teams/ENG');
    expect(other.status).toBe(404);
    const common = ['cache-control', 'x-content-type-options', 'x-frame-options', 'referrer-policy', 'vary'];
    for (const name of common) expect(refused.headers.get(name)).toBe(other.headers.get(name));
  });

  it('drops a waiting request whose client has disconnected', async () => {
    await whileIssuesAreBlocked(app, async () => {
      const abort = new AbortController();
      const requests = Array.from({ length: 4 }, () =>
        fetch(new URL('/v1/issues', app.url), {
          headers: { Authorization: `Bearer ${app.token}` },
          signal: abort.signal,
        }).catch(() => 'gone'),
      );
      await eventually(async () => (await inProgress()) === 2);
      abort.abort();
      await Promise.all(requests);
    });
    await eventually(async () => (await inProgress()) === 0);
    expect((await app.request('GET', '/v1/issues')).status).toBe(200);
  });
});

it('a request whose client leaves the queue is logged and counted as 499', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = logInto(lines);
  const settings = { MAX_CONCURRENCY: '1', METRICS_ADDRESS: '0' };
  const app = await startApp({ sharesDatabase: true, settings, logLevel: 'info', log });
  const load = (state: string) => sampleOf(app, 'workgraph_admission_requests', `state="${state}"`);
  const abort = new AbortController();
  const readIssues = (signal: AbortSignal | null, id: string) =>
    fetch(new URL('/v1/issues', app.url), {
      headers: { Authorization: `Bearer ${app.token}`, 'X-Request-Id': id },
      signal,
    });
  const { first } = await whileIssuesAreBlocked(app, async () => {
    const first = readIssues(null, 'first');
    await eventually(async () => (await load('in_progress')) === 1);
    const second = readIssues(abort.signal, 'second').catch(() => 'gone');
    await eventually(async () => (await load('waiting')) === 1);
    abort.abort();
    await second;
    await eventually(async () => (await load('waiting')) === 0);
    return { first };
  });
  expect((await first).status).toBe(200);
  const requestLines = lines.filter(({ requestId }) => requestId === 'second');
  expect(requestLines).toMatchObject([{ status: 499, path: '/v1/issues', statements: 0 }]);
  const counted = [...(await samplesOf(app, 'workgraph_request_duration_seconds_count'))];
  expect(counted.filter(([labels]) => labels.includes('status="499"')).map(([, count]) => count)).toEqual([
    1,
  ]);
  await app.stop();
});

it('a request whose body has not arrived yet holds no ticket', async () => {
  const app = await startApp({ sharesDatabase: true, settings: { MAX_CONCURRENCY: '1' } });
  const slow = await Promise.all(Array.from({ length: 5 }, () => slowPost(app)));
  expect((await app.request('GET', '/v1/teams')).status).toBe(200);
  for (const { socket, finish } of slow) {
    expect(await finish()).toMatch(/^HTTP\/1\.1 200 [^]*"data"/);
    socket.destroy();
  }
  expect((await app.request('GET', '/v1/teams')).status).toBe(200);
  await app.stop();
});

/** A POST that has sent its headers and the first half of its body. */
async function slowPost({ url, token }: App): Promise<{ socket: Socket; finish: () => Promise<string> }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const body = JSON.stringify({ query: '{ viewer { scopes } }' });
  socket.write(
    `POST /graphql HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 10)}`,
  );
  return {
    socket,
    finish: async () => {
      const answered = once(socket, 'data');
      socket.write(body.slice(10));
      return String((await answered)[0]);
    },
  };
}
