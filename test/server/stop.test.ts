import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import type { Database } from '../../src/db/engine/engine.ts';
import type { TenantDb } from '../../src/db/tables/tenant-tables.ts';
import { WriteSignals } from '../../src/db/statements/write-signals.ts';
import { DatabaseUnavailableError } from '../../src/db/engine/unavailable.ts';
import { startServer } from '../../src/server/server.ts';
import { eventually } from '../support/eventually.ts';
// Loads the check of answers against openapi.json before the first one: loading it later would take longer than the server runs.
import '../support/openapi.ts';

const config = { host: '127.0.0.1', port: 0, publicUrl: undefined, explorer: true };
const logger = pino({ level: 'silent' });

/** A database that answers only pings, once `gate` is resolved; `pinged` is called when a ping arrives. */
function gatedDatabase(gate: Promise<void>, pinged?: () => void): Database {
  const unavailable = () => {
    throw new DatabaseUnavailableError('PostgreSQL at db:5432 is unavailable: the connection was refused.');
  };
  const nothing = new Proxy({}, { get: () => unavailable });
  return {
    engine: 'postgres',
    of: () => nothing as TenantDb,
    unscoped: nothing as Database['unscoped'],
    connect: unavailable,
    connectOutsidePool: unavailable,
    shared: unavailable,
    load: () => ({ open: 0, idle: 0, size: 10, waiting: 0 }),
    writeSignals: new WriteSignals(),
    ping: () => {
      pinged?.();
      return gate;
    },
    close: () => Promise.resolve(),
  };
}

it('a stopping server reports that it is not ready, finishes its requests and accepts no new ones', async () => {
  const gate = Promise.withResolvers<void>();
  const pinged = Promise.withResolvers<void>();
  const server = await startServer({
    database: gatedDatabase(gate.promise, pinged.resolve),
    config,
    logger,
  });
  const pending = fetch(`${server.url}/readyz`);
  await pinged.promise;
  const stopped = server.stop({ drainMs: 2_500 });
  const refused = await fetch(`${server.url}/readyz`);
  expect(refused.status).toBe(503);
  expect(refused.headers.get('connection')).toBe('close');
  expect(Object.keys((await refused.json()) as object)).toEqual(['type', 'title', 'status', 'detail']);
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  await waitUntilRefused(`${server.url}/health`);
  gate.resolve();
  expect((await pending).status).toBe(200);
  await stopped;
});

it('a stopping server refuses new streams at once and says why', async () => {
  const server = await startServer({ database: gatedDatabase(Promise.resolve()), config, logger });
  const stopped = server.stop({ drainMs: 1_000 });
  for (const path of ['/graphql?query=subscription{changes{position}}', '/v1/changes']) {
    const headers = { accept: 'text/event-stream', authorization: 'Bearer wg_x' };
    const answer = await fetch(`${server.url}${path}`, { headers });
    expect([answer.status, answer.headers.get('connection')]).toEqual([503, 'close']);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(await answer.text()).toContain('The server is stopping.');
  }
  await stopped;
});

/** Sends requests until the server accepts no more connections. */
async function waitUntilRefused(url: string): Promise<void> {
  let refusal: unknown;
  await eventually(async () => {
    refusal = await fetch(url).then(
      () => undefined,
      (error: unknown) => error,
    );
    return refusal !== undefined;
  });
  expect(refusal).toMatchObject({ message: 'fetch failed' });
}

it('a stopping server does not wait forever for a request that does not end', async () => {
  const pinged = Promise.withResolvers<void>();
  const database = gatedDatabase(new Promise(() => undefined), pinged.resolve);
  const server = await startServer({ database, config, logger });
  const pending = fetch(`${server.url}/readyz`).catch(() => 'cut off');
  await pinged.promise;
  const startedMs = performance.now();
  await server.stop({ withinMs: 300 });
  expect(performance.now() - startedMs).toBeLessThan(5_000);
  expect(await pending).toBe('cut off');
});

it('a stopping server does not wait for connections on which no request has come', async () => {
  const server = await startServer({ database: gatedDatabase(Promise.resolve()), config, logger });
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname).resume();
  const closed = once(socket, 'close');
  await once(socket, 'connect');
  const startedMs = performance.now();
  await server.stop({ withinMs: 60_000 });
  expect(performance.now() - startedMs).toBeLessThan(30_000);
  await closed;
});

it.each([
  ['that wants a tunnel', 'CONNECT a.example:443 HTTP/1.1\r\nHost: x\r\n\r\n', 501],
  ['that does not speak HTTP', 'Hello\r\n\r\n', 400],
  [
    'whose WebSocket is refused',
    'GET /graphql HTTP/1.1\r\nHost: x\r\nOrigin: https://evil.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    403,
  ],
])(
  'a stopping server does not wait for a client %s and keeps its side open',
  async (_which, request, status) => {
    const server = await startServer({ database: gatedDatabase(Promise.resolve()), config, logger });
    const { hostname, port } = new URL(server.url);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    socket.write(request);
    expect(await text(socket)).toContain(`HTTP/1.1 ${status} `);
    const startedMs = performance.now();
    await server.stop({ withinMs: 8_000 });
    expect(performance.now() - startedMs).toBeLessThan(7_000);
    socket.destroy();
  },
);

it('every request is answered 503 with Retry-After while the database is gone, and only the log has the reason', async () => {
  const server = await startServer({ database: gatedDatabase(Promise.resolve()), config, logger });
  for (const path of ['/graphql?query={viewer{scopes}}', '/v1/teams']) {
    const answer = await fetch(`${server.url}${path}`, { headers: { authorization: 'Bearer wg_x' } });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(await answer.text()).not.toContain('db:5432');
  }
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
  await server.stop();
});

/** Counts the subscribers to signals of writes. */
class CountedSignals extends WriteSignals {
  count = 0;

  override subscribe(...signal: Parameters<WriteSignals['subscribe']>): () => void {
    const unsubscribe = super.subscribe(...signal);
    this.count += 1;
    return () => {
      this.count -= 1;
      unsubscribe();
    };
  }
}

it.each([
  ['port', (host: string, port: number) => ({ host, port })],
  ['metrics port', (host: string, port: number) => ({ metricsAddress: { host, port } })],
])('a start on a %s that is taken throws, and leaves nothing open', async (_name, optionsFor) => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { address, port } = other.address() as AddressInfo;
  const writeSignals = new CountedSignals();
  const database = { ...gatedDatabase(Promise.resolve()), writeSignals };
  await expect(
    startServer({ database, config: { ...config, ...optionsFor(address, port) }, logger }),
  ).rejects.toMatchObject({ code: 'EADDRINUSE' });
  expect(writeSignals.count).toBe(0);
  other.close();
});
