import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { type App, startApp } from '../support/app.ts';
import { fileDesk } from '../attachments/files.ts';

const origin = 'https://app.example';
const other = 'https://evil.example';

let closed: App;
let open: App;
beforeAll(async () => {
  closed = await startApp({ sharesDatabase: true });
  open = await startApp({
    sharesDatabase: true,
    settings: { CORS_ORIGINS: `http://localhost:5173, ${origin}` },
  });
});
afterAll(async () => {
  await closed?.stop();
  await open?.stop();
});

const paths = [
  '/graphql',
  '/v1/teams',
  '/v1/issues',
  '/health',
  '/nowhere',
  '/',
  '/v1/openapi.json',
  '/files/x',
];
const corsOf = (headers: Headers) => [...headers].filter(([name]) => name.startsWith('access-control-'));
const preflight = (app: App, path: string, from: string, method = 'POST') =>
  app.request('OPTIONS', path, {
    token: null,
    headers: {
      origin: from,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization,content-type,idempotency-key',
    },
  });

it('CORS is off on every path and for every request when nothing is configured', async () => {
  for (const path of paths) {
    for (const from of [origin, 'null', closed.url]) {
      const asked = await preflight(closed, path, from);
      const answer = await closed.request('GET', path, { headers: { origin: from } });
      expect([path, from, ...corsOf(asked.headers), ...corsOf(answer.headers)]).toEqual([path, from]);
    }
  }
});

describe('with origins configured', () => {
  it.each(paths)('%s allows those and no others', async (path) => {
    const asked = await preflight(open, path, origin);
    expect(asked.status).toBe(204);
    expect(asked.headers.get('access-control-allow-origin')).toBe(origin);
    expect(asked.headers.get('access-control-allow-headers')).toMatch(/Authorization.*Idempotency-Key/);
    const answer = await open.request('GET', path, { headers: { origin } });
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    for (const headers of [asked.headers, answer.headers]) {
      expect(headers.get('access-control-allow-credentials')).toBeNull();
      expect(headers.get('vary')).toMatch(/\bOrigin\b/);
    }
    for (const from of [other, 'null', `${origin}:444`, `${origin}.evil.example`, 'http://app.example']) {
      const refused = await preflight(open, path, from);
      const unread = await open.request('GET', path, { headers: { origin: from } });
      expect([from, ...corsOf(refused.headers), ...corsOf(unread.headers)]).toEqual([from]);
      expect(unread.headers.get('vary')).toMatch(/\bOrigin\b/);
    }
    expect((await open.request('GET', path)).headers.get('vary')).toMatch(/\bOrigin\b/);
  });

  it('a page can send every method of the table', async () => {
    for (const { method, path } of routeTable) {
      const { headers } = await preflight(open, path, origin, method);
      expect(headers.get('access-control-allow-methods')?.split(', ')).toContain(method);
    }
  });

  it('a page can read refusals: no token, no such path, a bad body, a file without a signature', async () => {
    const sent = { headers: { origin } };
    for (const answer of [
      await open.request('GET', '/v1/teams', { ...sent, token: null }),
      await open.graphql('{ viewer { scopes } }', {}, { ...sent, token: 'wg_none' }),
      await open.request('POST', '/v1/issues', {
        headers: { origin, 'content-type': 'text/plain' },
        body: 'x',
      }),
      await open.request('GET', '/v1/nothing', sent),
      await open.request('GET', '/files/attachment_00000000000000000000000000/content', sent),
    ]) {
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    }
  });

  it('a page can read every header that answers have', async () => {
    const desk = await fileDesk(open);
    const bytes = Buffer.from('abc');
    const made = await desk.create({ sizeBytes: 3, fileName: 'a.txt', contentType: 'text/plain' });
    const put = await fetch(made.uploadUrl, { method: 'PUT', headers: { origin }, body: bytes });
    const key = { origin, 'idempotency-key': 'cors-1' };
    const teams = await open.request<{ results: { id: string }[] }>('GET', '/v1/teams', {
      headers: { origin },
    });
    const issue = { teamId: teams.body.results[0]?.id, title: 'One', description: '', priority: 0 };
    const first = await open.request('POST', '/v1/issues', { headers: key, body: issue });
    const again = await open.request('POST', '/v1/issues', { headers: key, body: issue });
    expect([put.status, first.status, again.status]).toEqual([204, 201, 201]);
    const answers = [
      teams,
      first,
      again,
      put,
      await open.request('GET', '/v1/issues?page_size=1', { headers: { origin } }),
      await open.request('PUT', '/v1/issues', { headers: { origin } }),
      await open.request('GET', '/v1/issues', { token: null, headers: { origin } }),
      await open.graphql('query Named { viewer { scopes } }', {}, { headers: { origin } }),
    ];
    const unread = answers.flatMap(({ headers }) => {
      const exposed = (headers.get('access-control-expose-headers') ?? '').toLowerCase().split(', ');
      return [...headers.keys()].filter((name) => !exposed.includes(name) && !unexposedHeaders.has(name));
    });
    expect([...new Set(unread)]).toEqual([]);
  });
});

/** Headers that need no exposing: a page may always read them, or they are for the browser alone. */
const unexposedHeaders: ReadonlySet<string> = new Set([
  'cache-control',
  'content-length',
  'content-type',
  'connection',
  'content-encoding',
  'content-security-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'date',
  'keep-alive',
  'referrer-policy',
  'transfer-encoding',
  'vary',
  'x-content-type-options',
  'x-frame-options',
  'access-control-allow-origin',
  'access-control-expose-headers',
]);
