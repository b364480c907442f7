import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { type App, startApp } from '../support/app.ts';
import { sendRaw } from '../support/raw-http.ts';
import { newAttachmentCaller } from '../attachments/files.ts';

let app: App;
let narrowToken: string;
let exhaustedToken: string;
/** Its clients use TLS, and it answers one request of each token a minute. */
let limitedApp: App;
let appWithoutDatabase: App;
beforeAll(async () => {
  app = await startApp({ demo: true });
  narrowToken = await app.tokenFor({ scopes: ['teams:read'], role: 'guest' });
  limitedApp = await startApp({
    sharesDatabase: true,
    settings: { REQUESTS_PER_MINUTE: '1', PUBLIC_URL: 'https://work.example' },
  });
  exhaustedToken = await limitedApp.tokenFor();
  await limitedApp.request('GET', '/v1/teams', { token: exhaustedToken });
  appWithoutDatabase = await startApp();
  await appWithoutDatabase.database.close();
});
afterAll(async () => {
  await app?.stop();
  await limitedApp?.stop();
  await appWithoutDatabase?.stop();
});

interface RecordedAnswer {
  status: number;
  headers: Headers;
}

/** The answers of a test. */
const recorded = new Map<string, RecordedAnswer>();
afterEach(() => {
  const answers = [...recorded];
  recorded.clear();
  const withoutHeaders = answers.filter(([, { headers }]) => {
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
  expect(withoutHeaders.map(([what]) => what)).toEqual([]);
});
const record = (what: string, { status, headers }: RecordedAnswer) =>
  void recorded.set(what, { status, headers });

const requestAndRecord = async (what: string, ...[method, path, sent]: Parameters<App['request']>) =>
  record(`${what}: ${method} ${path}`, await app.request(method, path, sent));

/** A path of the table with this text in place of each parameter. */
const withPathValues = (path: string, part: string) => path.replaceAll(/\{\w+\}/g, part);

it('every route answers every kind of request with the security headers', async () => {
  for (const { method, path } of routeTable) {
    const absent = withPathValues(path, 'issue_00000000000000000000000000');
    const body = method === 'GET' || method === 'DELETE' ? {} : { body: {} };
    await requestAndRecord('as it is', method, absent, body);
    await requestAndRecord('no token', method, absent, { token: null, ...body });
    await requestAndRecord('bad token', method, absent, { token: 'wg_none', ...body });
    await requestAndRecord('no scope', method, absent, { token: narrowToken, ...body });
    await requestAndRecord('no id', method, withPathValues(path, '%00'), body);
    await requestAndRecord('bad parameter', method, `${absent}?page_size=x`, body);
    await requestAndRecord('no JSON', method, absent, {
      headers: { 'content-type': 'application/json' },
      ...('body' in body && { body: '{' }),
    });
    await requestAndRecord('options', 'OPTIONS', absent);
    await requestAndRecord('wrong method', 'PURGE', absent);
    if ('body' in body) {
      await requestAndRecord('wrong type', method, absent, {
        body: 'a=b',
        headers: { 'content-type': 'text/plain' },
      });
      await requestAndRecord('too large', method, absent, { body: 'x'.repeat(1_000_001) });
    } else await requestAndRecord('head', 'HEAD', absent);
    record(
      `no quota: ${method} ${path}`,
      await limitedApp.request(method, absent, { token: exhaustedToken, ...body }),
    );
    record(`no database: ${method} ${path}`, await appWithoutDatabase.request(method, absent, body));
  }
  expect(recorded.size).toBeGreaterThan(400);
  // A database that this process has closed itself is a fault, answered with 500; the loss of another engine is 503.
  const statuses = Map.groupBy([...recorded], ([what]) => what.startsWith('no database'));
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
    await requestAndRecord('page', 'GET', path, html);
  for (const path of [
    '/health',
    '/healthz',
    '/readyz',
    '/v1/openapi.json',
    '/v1/meta/codes',
    '/nowhere',
    '/v1',
  ])
    await requestAndRecord('open', 'GET', path, { token: null });
  record('probe without a database', await appWithoutDatabase.request('GET', '/readyz', { token: null }));
  const tag = (await app.request('GET', '/v1/openapi.json')).headers.get('etag') ?? '';
  await requestAndRecord('known', 'GET', '/v1/openapi.json', { headers: { 'if-none-match': tag } });
  for (const query of [
    '{ viewer { scopes } }',
    '{',
    '{ nothing }',
    '{ members { totalCount } }',
    '{ issue(key: "x") { key } }',
  ])
    for (const token of [app.token, narrowToken, null, 'wg_none'])
      record(`graph ${query} ${String(token).slice(0, 7)}`, await app.graphql(query, {}, { token }));
  record('graph without a database', await appWithoutDatabase.graphql('{ viewer { scopes } }'));
  record(
    'graph without quota',
    await limitedApp.graphql('{ viewer { scopes } }', {}, { token: exhaustedToken }),
  );
  await requestAndRecord('graph by GET', 'GET', '/graphql?query={health{status}}');
  await requestAndRecord('graph by PUT', 'PUT', '/graphql', { body: {} });
  await requestAndRecord('graph in a form', 'POST', '/graphql', {
    body: 'query=x',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  await requestAndRecord('graph for nobody', 'POST', '/graphql', {
    body: {},
    headers: { accept: 'image/png' },
  });

  const caller = await newAttachmentCaller(app);
  const { signedDownloadUrl } = await caller.attach('a.txt', 'text/plain', Buffer.from('abc'));
  const url = new URL(signedDownloadUrl ?? '');
  const file = url.pathname + url.search;
  const noToken = { token: null };
  await requestAndRecord('file', 'GET', file, noToken);
  await requestAndRecord('file', 'HEAD', file, noToken);
  await requestAndRecord('file', 'GET', url.pathname, noToken);
  await requestAndRecord('file', 'GET', `${file}x`, noToken);
  await requestAndRecord('file', 'PUT', file, { token: null, body: 'abc' });
  await requestAndRecord('file', 'DELETE', file, noToken);
  await requestAndRecord('file', 'OPTIONS', file, noToken);
  await requestAndRecord('file', 'GET', '/files/x', noToken);
  await requestAndRecord('part of a file', 'GET', file, { token: null, headers: { range: 'bytes=0-1' } });
  await requestAndRecord('no part of a file', 'GET', file, { token: null, headers: { range: 'bytes=9-' } });
  expect(recorded.size).toBeGreaterThan(40);
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
    record(bytes.slice(0, 80), answer);
  }
});
