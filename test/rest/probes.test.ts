import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { BorrowedConnection } from '../../src/db/engine/borrowed-connection.ts';
import { readinessTimeoutMs } from '../../src/server/context.ts';
import { hasServer } from '../db/engines.ts';
import { type App, startApp } from '../support/app.ts';

let app: App;
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
});
afterAll(() => app.stop());

const probes = ['/health', '/healthz', '/readyz'];

it.each(probes)('GET %s answers { status: "ok" } without a token', async (path) => {
  const answer = await app.request('GET', path, { token: null });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  expect(answer.body).toEqual({ status: 'ok' });
});

it.each(probes)('GET %s ignores an invalid credential and does not look up its token', async (path) => {
  const sent = { token: null, headers: { authorization: 'Bearer wg_not_a_token' } };
  const answer = await app.request('GET', path, sent);
  expect(answer).toMatchObject({ status: 200, body: { status: 'ok' } });
  expect(answer.statements).toBeLessThanOrEqual(path === '/readyz' ? 1 : 0);
});

it.each(probes)(
  '%s answers HEAD with the headers of GET, OPTIONS with Allow, anything else with 405',
  async (path) => {
    const get = await app.request('GET', path);
    const head = await app.request('HEAD', path);
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
    const options = await app.request('OPTIONS', path, { token: null });
    expect(options).toMatchObject({ status: 204, body: '' });
    expect(options.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
    const post = await app.request('POST', path, { body: '{' });
    expect(post).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
    expect(post.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  },
);

describe('when the data store is gone', () => {
  let broken: App;
  beforeAll(async () => {
    broken = await startApp();
    await broken.database.close();
  });
  afterAll(() => broken.stop());

  it('/readyz answers 503 with exactly four fields, and names the wait', async () => {
    const startedMs = performance.now();
    const answer = await broken.request<{ detail: string }>('GET', '/readyz', { token: null });
    const tookMs = performance.now() - startedMs;
    expect(answer.status).toBe(503);
    expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(answer.body).toEqual({
      type: 'about:blank',
      title: expect.any(String),
      status: 503,
      detail: expect.stringMatching(/^The data store did not answer within \d+ ms\.$/),
    });
    const [waitedMs] = /\d+/.exec(answer.body.detail) ?? [];
    expect(Number(waitedMs)).toBeGreaterThan(0);
    expect(Number(waitedMs)).toBeLessThanOrEqual(Math.ceil(tookMs));
  });

  it.each(['/health', '/healthz'])('%s still answers', async (path) => {
    expect(await broken.request('GET', path)).toMatchObject({ status: 200, body: { status: 'ok' } });
  });
});

// The one connection of the embedded engine can be taken; test/faults/postgres-frozen.ts does the same to PostgreSQL.
(hasServer ? describe.skip : describe)('while the data store hangs', () => {
  let hanging: App;
  let connection: BorrowedConnection;
  beforeAll(async () => {
    hanging = await startApp();
    connection = await hanging.database.connect();
  });
  afterAll(async () => {
    connection.release();
    await hanging.stop();
  });

  it('/readyz answers 503 after its limit, and names it', async () => {
    const startedMs = performance.now();
    const answer = await hanging.request('GET', '/readyz', { token: null });
    expect(performance.now() - startedMs).toBeGreaterThan(readinessTimeoutMs - 5);
    const detail = `The data store did not answer within ${readinessTimeoutMs} ms.`;
    expect(answer).toMatchObject({ status: 503, body: { detail } });
  });
});
