import { once } from 'node:events';
import { createServer, get, type Server } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Unsent } from '../../src/server/http/unsent.ts';
import { type AttachmentCaller, newAttachmentCaller, random } from '../attachments/files.ts';
import { type App, startApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { logInto } from '../support/log-into.ts';
import { sampleOf } from '../support/metrics.ts';

const maxUnsentBytes = 8_000_000;
/** With so many aliases, an answer is larger than the socket buffers of both ends. */
const aliases = 80;
const descriptionBytes = 100_000;
const answerBytes = aliases * descriptionBytes;

let app: App;
let caller: AttachmentCaller;
let query: string;
const lines: Record<string, unknown>[] = [];
beforeAll(async () => {
  const settings = {
    CLIENT_TIMEOUT_MS: '300',
    UNSENT_LIMIT_BYTES: String(maxUnsentBytes),
    MAX_CONCURRENCY: '2',
    METRICS_ADDRESS: '0',
  };
  const log = logInto(lines);
  app = await startApp({ settings, log, logLevel: 'info' });
  caller = await newAttachmentCaller(app);
  const input = { key: caller.issueKey, description: 'x'.repeat(descriptionBytes) };
  const update = 'mutation ($input: IssueUpdateInput!) { issueUpdate(input: $input) { issue { key } } }';
  const { body } = await app.graphql(update, { input }, { token: caller.token });
  if (body.errors) throw new Error(JSON.stringify(body.errors));
  const fields = Array.from(
    { length: aliases },
    (_, n) => `a${n}: issue(key: "${caller.issueKey}") { description }`,
  );
  query = `{ ${fields.join(' ')} }`;
});
afterAll(() => app.stop());

/** A request for the large answer, as it goes over the connection. */
function largeRequest(): string {
  const body = JSON.stringify({ query });
  return (
    `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${caller.token}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  );
}

/** Connects, sends, and reads nothing. */
function openSilent(url: string, bytesToSend: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(bytesToSend);
  return socket;
}

/** Reads the answer now, until the server has closed the connection, and returns its length. */
async function bytesUntilClosed(socket: Socket): Promise<number> {
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume();
  if (!socket.closed) await once(socket, 'close');
  return bytes;
}

/** How many answers the server has given up because their clients did not read them. */
const unreadAnswers = () => sampleOf(app, 'workgraph_unread_answers_total');
const unsentBytes = () => sampleOf(app, 'workgraph_unsent_bytes');

describe('clients that do not read their answers', () => {
  it('hold no more memory together than the bound, and are disconnected', async () => {
    const sockets: Socket[] = [];
    const before = await unreadAnswers();
    let maxUnsent = 0;
    const measure = async () => (maxUnsent = Math.max(maxUnsent, await unsentBytes()));
    for (let n = 0; n < 20; n += 1) {
      const socket = openSilent(app.url, largeRequest());
      sockets.push(socket);
      // The first bytes of the answer have arrived, and the client reads no more.
      await once(socket, 'readable');
      await measure();
    }
    await eventually(async () => {
      await measure();
      expect((await app.request('GET', '/health')).status).toBe(200);
      return (await unreadAnswers()) >= before + sockets.length;
    });
    expect(maxUnsent).toBeGreaterThan(0);
    expect(maxUnsent).toBeLessThanOrEqual(maxUnsentBytes + answerBytes * 1.1);
    for (const socket of sockets) expect(await bytesUntilClosed(socket)).toBeLessThan(answerBytes);
    expect(await unsentBytes()).toBe(0);
  });

  it('get one answer at a time, however many requests they send', async () => {
    lines.length = 0;
    const socket = openSilent(app.url, largeRequest().repeat(20));
    await expect(bytesAfterCut(socket)).resolves.toBeLessThan(answerBytes);
    const answered = () => lines.filter(({ path }) => path === '/graphql');
    await eventually(() => answered().length > 0);
    expect(answered()).toHaveLength(1);
    expect(answered()[0]).toMatchObject({ status: 499 });
  });

  it('hold only a small part of a file in memory, and are disconnected', async () => {
    const file = await caller.attach('a.bin', 'application/octet-stream', random(30_000_000));
    const { pathname, search } = new URL(file.signedDownloadUrl ?? '');
    const before = await unreadAnswers();
    const socket = openSilent(app.url, `GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await eventually(async () => {
      expect(await unsentBytes()).toBeLessThan(1_000_000);
      return (await unreadAnswers()) > before;
    });
    expect(await bytesUntilClosed(socket)).toBeLessThan(30_000_000);
  });
});

/** Leaves the answer unread until the server has closed the connection. */
async function bytesAfterCut(socket: Socket): Promise<number> {
  const before = await unreadAnswers();
  await eventually(async () => (await unreadAnswers()) > before);
  return bytesUntilClosed(socket);
}

/** Sends bytes, and returns everything that arrives until the server closes the connection. */
async function answerUntilCut(bytesToSend: string): Promise<string> {
  const { hostname, port } = new URL(app.url);
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  let received = '';
  socket.on('data', (text: string) => (received += text));
  socket.on('error', () => undefined);
  socket.write(bytesToSend);
  await once(socket, 'close');
  return received;
}

describe('clients that send slowly', () => {
  const start = () => `POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${app.token}\r\n`;

  it.each([
    ['nothing', () => ''],
    ['half a line', () => 'POST /gra'],
    ['headers without an end', start],
  ])('are disconnected when they send %s', async (_what, bytesToSend) => {
    expect(await answerUntilCut(bytesToSend())).toMatch(/^HTTP\/1\.1 408 [^]*request_timeout/);
  });

  it('are disconnected when the rest of a body does not come', async () => {
    const headers = 'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n';
    const answer = await answerUntilCut(`${start()}${headers}{"query":`);
    expect(answer).toMatch(/^HTTP\/1\.1 408 [^]*REQUEST_TIMEOUT/);
  });

  it('do not keep the server from answering others, however many they are', async () => {
    const slow = Array.from({ length: 100 }, () => answerUntilCut(start()));
    expect((await app.request('GET', '/v1/teams')).status).toBe(200);
    for (const answer of await Promise.all(slow)) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });
});

it('a client that reads slowly but steadily gets all of a large answer', async () => {
  const socket = openSilent(app.url, largeRequest().replace('\r\n', '\r\nConnection: close\r\n'));
  const began = performance.now();
  let received = 0;
  for await (const chunk of socket.resume()) {
    received += (chunk as Buffer).length;
    socket.pause();
    await delay(10);
    socket.resume();
  }
  expect(received).toBeGreaterThan(answerBytes);
  // This is longer than a client may be silent, so its progress has kept the connection open.
  expect(performance.now() - began).toBeGreaterThan(900);
});

describe('pipelined requests', () => {
  const health = (id: number | string, more = '') =>
    `GET /health HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\n${more}\r\n`;

  it('are answered in order', async () => {
    const ids = Array.from({ length: 30 }, (_, n) => n);
    const requests = ids.map((id) =>
      id % 3 === 0 ? largeRequest().replace('\r\n', `\r\nX-Request-Id: ${id}\r\n`) : health(id),
    );
    const socket = openSilent(app.url, requests.join('') + health('last', 'Connection: close\r\n'));
    let text = '';
    for await (const chunk of socket.setEncoding('latin1').resume())
      text = (text + String(chunk)).replaceAll(/x{50,}/g, '');
    const answered = Array.from(text.matchAll(/^X-Request-Id: (\S+)\r$/gm), ([, id]) => id);
    expect(answered).toEqual([...ids.map(String), 'last']);
    expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(31);
  });

  it('are refused with 503 from the 33rd that waits on, and the connection is closed', async () => {
    const socket = openSilent(app.url, largeRequest() + health('x').repeat(200));
    let text = '';
    for await (const chunk of socket.setEncoding('latin1').resume())
      text = (text + String(chunk)).replaceAll(/x{50,}/g, '');
    const statuses = Array.from(text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => status);
    expect(statuses).toEqual([...Array.from({ length: 33 }, () => '200'), '503']);
  });
});

/** Starts a server that answers with a body whose size is the path of the request. */
async function serveBodies(unsent: Unsent): Promise<Server> {
  const server = createServer((req, res) => {
    const size = Number(req.url?.slice(1));
    res.setHeader('Content-Length', size);
    void unsent.send(res, Buffer.alloc(size, 'x'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

it('every bound holds for any mix of clients, and clients that read get complete answers', async () => {
  const afterMs = fc.integer({ min: 0, max: 100 });
  const client = fc.oneof(
    fc.record({ reads: fc.constant(true), size: fc.integer({ min: 0, max: 500_000 }), afterMs }),
    fc.record({ reads: fc.constant(false), size: fc.integer({ min: 5_000_000, max: 9_000_000 }), afterMs }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(client, { minLength: 1, maxLength: 12 }), async (clients) => {
      const unsent = new Unsent({ maxBytes: 12_000_000, silenceMs: 400 });
      const server = await serveBodies(unsent);
      const { port } = server.address() as AddressInfo;
      let maxUnsent = 0;
      const watch = setInterval(() => (maxUnsent = Math.max(maxUnsent, unsent.load.bytes)), 1);
      const silent: Socket[] = [];
      const received = await Promise.all(
        clients.map(async ({ size, reads, afterMs }) => {
          await delay(afterMs);
          if (reads) return readAll(port, size);
          silent.push(await openUnread(port, size));
          return 0;
        }),
      );
      // The silent clients stay until they are disconnected.
      await eventually(() => unsent.load.bytes === 0);
      clearInterval(watch);
      for (const socket of silent) socket.destroy();
      server.closeAllConnections();
      server.close();
      expect(maxUnsent).toBeLessThanOrEqual(12_000_000 + 9_000_000);
      clients.forEach(({ size, reads }, index) => {
        if (reads) expect(received[index]).toBe(size);
      });
    }),
    { numRuns: 10 },
  );
});

function readAll(port: number, size: number): Promise<number> {
  return new Promise((resolve, reject) => {
    get({ port, path: `/${size}`, agent: false }, (res) => {
      let bytes = 0;
      res.on('data', (chunk: Buffer) => (bytes += chunk.length)).on('close', () => resolve(bytes));
    }).on('error', reject);
  });
}

/** Requests a body without reading it; resolves when the answer has begun. */
async function openUnread(port: number, size: number): Promise<Socket> {
  const socket = openSilent(`http://127.0.0.1:${port}`, `GET /${size} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await new Promise((resolve) => socket.once('readable', resolve).once('close', resolve));
  return socket;
}

it('a WebSocket that is cut counts as one unread answer, however many messages wait for it', async () => {
  let cut = 0;
  const unsent = new Unsent({ maxBytes: 1_000, silenceMs: 60_000, onStreamCut: () => (cut += 1) });
  const [message, last] = [new Socket(), new Socket()];
  const closes = (socket: Socket) => () => once(socket, 'close').then(() => undefined);
  const held = [300, 300, 300].map((bytes) => unsent.holding(message, bytes, closes(message)));
  const newest = unsent.holding(last, 1_001, closes(last));
  await Promise.all(held);
  expect(cut).toBe(1);
  last.destroy();
  await newest;
  expect(cut).toBe(1);
});
