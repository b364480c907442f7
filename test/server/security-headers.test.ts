import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { type App, startApp } from '../support/app.ts';
import { sendRaw } from '../support/raw-http.ts';
import { fileDesk } from '../attachments/files.ts';

let app: App;
let narrow: string;
let used: string;
/** Clients come to it over TLS, and it answers each token once a minute. */
let limited: App;
let gone: App;
beforeAll(async () => {
  app = await startApp({ demo: true });
  narrow = await app.tokenFor({ scopes: ['teams:read'], role: 'guest' });
  limited = await startApp({
    sharesDatabase: true,
    settings: { REQUESTS_PER_MINUTE: '1', PUBLIC_URL: 'https://work.example' },
  });
  used = await limited.tokenFor();
  await limited.request('GET', '/v1/teams', { token: used });
  gone = await startApp();
  await gone.database.close();
});
afterAll(async () => {
  await app?.stop();
  await limited?.stop();
  await gone?.stop();
});

interface Seen {
  status: number;
  headers: Headers;
}

/** The answers of a test. */
const seen = new Map<string, Seen>();
afterEach(() => {
  const answers = [...seen];
  seen.clear();
  const bare = answers.filter(([, { headers }]) => {
    const policy = headers.get('content-security-policy') ?? '';
    return !(
      headers.get('x-content-type-options') === 'nosniff' &&
      headers.get('x-frame-options') === 'DENY' &&
      headers.get('referrer-policy') === 'no-referrer' &&
      headers.get('cross-origin-opener-policy') === 'same-origin' &&
      /^(same|cross)-origin$/.test(headers.get('cross-origin-resource-policy') ?? '') &&
      policy.includes("default-src 'none'") &&
      headers.has('x-request-id') &&
      headers.has('cache-control')
    );
  });
  expect(bare.map(([what]) => what)).toEqual([]);
});
const note = (what: string, { status, headers }: Seen) => void seen.set(what, { status, headers });

const ask = async (what: string, ...[method, path, sent]: Parameters<App['request']>) =>
  note(`${what}: ${method} ${path}`, await app.request(method, path, sent));

/** A path of the table with something that is not there, or no id at all, in each of its braces. */
const filled = (path: string, part: string) => path.replaceAll(/\{\w+\}/g, part);

it('every route answers every kind of request with the security headers', async () => {
  for (const { method, path } of routeTable) {
    const absent = filled(path, 'issue_00000000000000000000000000');
    const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} };
    await ask('as it is', method, absent, body);
    await ask('no token', method, absent, { token: null, ...body });
    await ask('bad token', method, absent, { token: 'wg_none', ...body });
    await ask('no scope', method, absent, { token: narrow, ...body });
    await ask('no id', method, filled(path, '%00'), body);
    await ask('bad parameter', method, `${absent}?page_size=x`, body);
    await ask('no JSON', method, absent, {
      headers: { 'content-type': 'application/json' },
      ...('body' in body && { body: '{' }),
    });
    await ask('options', 'OPTIONS', absent);
    await ask('wrong method', 'PURGE', absent);
    if ('body' in body) {
      await ask('wrong type', method, absent, { body: 'a=b', headers: { 'content-type': 'text/plain' } });
      await ask('too large', method, absent, { body: 'x'.repeat(1_000_001) });
    } else await ask('head', 'HEAD', absent);
    note(`no quota: ${method} ${path}`, await limited.request(method, absent, { token: used, ...body }));
    note(`no database: ${method} ${path}`, await gone.request(method, absent, body));
  }
  expect(seen.size).toBeGreaterThan(400);
  // A database that this process has closed itself is a fault of it: 500 where another engine's loss is 503.
  const statuses = Map.groupBy([...seen], ([what]) => what.startsWith('no database'));
  const statusesWhen = (lost: boolean) => new Set(statuses.get(lost)?.map(([, { status }]) => status));
  expect(statusesWhen(false)).toEqual(new Set([200, 204, 400, 401, 403, 404, 405, 413, 415, 429]));
  expect([...statusesWhen(true)].filter((status) => status >= 500)).not.toEqual([]);
});

it('the graph, the pages, the probes and files answer with the security headers', async () => {
  const html = { headers: { accept: 'text/html' }, token: null };
  for (const path of [
    '/',
    '/graphql',
    '/v1/docs',
    '/v1/docs/assets/swagger-ui.css',
    '/assets/page.css',
    '/issues/ENG-1',
  ])
    await ask('page', 'GET', path, html);
  for (const path of [
    '/health',
    '/healthz',
    '/readyz',
    '/v1/openapi.json',
    '/v1/meta/codes',
    '/nowhere',
    '/v1',
  ])
    await ask('open', 'GET', path, { token: null });
  note('probe without a database', await gone.request('GET', '/readyz', { token: null }));
  const tag = (await app.request('GET', '/v1/openapi.json')).headers.get('etag') ?? '';
  await ask('known', 'GET', '/v1/openapi.json', { headers: { 'if-none-match': tag } });
  for (const query of [
    '{ viewer { scopes } }',
    '{',
    '{ nothing }',
    '{ members { totalCount } }',
    '{ issue(key: "x") { key } }',
  ])
    for (const token of [app.token, narrow, null, 'wg_none'])
      note(`graph ${query} ${String(token).slice(0, 7)}`, await app.graphql(query, {}, { token }));
  note('graph without a database', await gone.graphql('{ viewer { scopes } }'));
  note('graph without quota', await limited.graphql('{ viewer { scopes } }', {}, { token: used }));
  await ask('graph by GET', 'GET', '/graphql?query={health{status}}');
  await ask('graph by PUT', 'PUT', '/graphql', { body: {} });
  await ask('graph in a form', 'POST', '/graphql', {
    body: 'query=x',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  await ask('graph for nobody', 'POST', '/graphql', { body: {}, headers: { accept: 'image/png' } });

  const desk = await fileDesk(app);
  const { signedDownloadUrl } = await desk.attach('a.txt', 'text/plain', Buffer.from('abc'));
  const url = new URL(signedDownloadUrl ?? '');
  const file = url.pathname + url.search;
  const bare = { token: null };
  await ask('file', 'GET', file, bare);
  await ask('file', 'HEAD', file, bare);
  await ask('file', 'GET', url.pathname, bare);
  await ask('file', 'GET', `${file}x`, bare);
  await ask('file', 'PUT', file, { token: null, body: 'abc' });
  await ask('file', 'DELETE', file, bare);
  await ask('file', 'OPTIONS', file, bare);
  await ask('file', 'GET', '/files/x', bare);
  await ask('part of a file', 'GET', file, { token: null, headers: { range: 'bytes=0-1' } });
  await ask('no part of a file', 'GET', file, { token: null, headers: { range: 'bytes=9-' } });
  expect(seen.size).toBeGreaterThan(40);
});

it('what is not valid HTTP is answered with the security headers', async () => {
  const close = 'Connection: close\r\n\r\n';
  for (const [bytes, status] of [
    ['HELLO\r\n\r\n', 400],
    [`GET / HTTP/1.1\r\n${close}`, 400],
    [`GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n${close}`, 400],
    [`GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(20_000)}\r\n${close}`, 431],
    [`GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n${close}`, 400],
    [`GET / HTTP/1.1\r\nHost: x y\r\n${close}`, 400],
    [`GET / HTTP/2.0\r\nHost: x\r\n${close}`, 505],
    [`GET / HTTP/9.9\r\nHost: x\r\n${close}`, 505],
    [`GET /nowhere HTTP/1.0\r\n\r\n`, 404],
    [`GET /nowhere HTTP/1.1\r\nHost: x\r\nExpect: the-unexpected\r\n${close}`, 404],
    [`GET /nowhere HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: upgrade, close\r\n\r\n`, 404],
    [`TRACE /v1/teams HTTP/1.1\r\nHost: x\r\n${close}`, 405],
    [`OPTIONS * HTTP/1.1\r\nHost: x\r\n${close}`, 404],
  ] as const) {
    const answer = await sendRaw(app.url, bytes);
    expect([bytes.slice(0, 80), answer.status]).toEqual([bytes.slice(0, 80), status]);
    note(bytes.slice(0, 80), answer);
  }
});
