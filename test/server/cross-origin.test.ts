import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { type App, startApp } from '../support/app.ts';
import { newAttachmentCaller } from '../attachments/files.ts';

const origin = 'https://app.example';
const foreignOrigin = 'https://evil.example';

let defaultApp: App;
let corsApp: App;
beforeAll(async () => {
  defaultApp = await startApp({ sharesDatabase: true });
  corsApp = await startApp({
    sharesDatabase: true,
    settings: { CORS_ORIGINS: `http://localhost:5173, ${origin}` },
  });
});
afterAll(async () => {
  await defaultApp?.stop();
  await corsApp?.stop();
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
    for (const from of [origin, 'null', defaultApp.url]) {
      const preflightAnswer = await preflight(defaultApp, path, from);
      const answer = await defaultApp.request('GET', path, { headers: { origin: from } });
      expect([path, from, ...corsOf(preflightAnswer.headers), ...corsOf(answer.headers)]).toEqual([
        path,
        from,
      ]);
    }
  }
});

describe('with origins configured', () => {
  it.each(paths)('%s allows these origins and no others', async (path) => {
    const preflightAnswer = await preflight(corsApp, path, origin);
    expect(preflightAnswer.status).toBe(204);
    expect(preflightAnswer.headers.get('access-control-allow-origin')).toBe(origin);
    expect(preflightAnswer.headers.get('access-control-allow-headers')).toMatch(
      /Authorization.*Idempotency-Key/,
    );
    const answer = await corsApp.request('GET', path, { headers: { origin } });
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    for (const headers of [preflightAnswer.headers, answer.headers]) {
      expect(headers.get('access-control-allow-credentials')).toBeNull();
      expect(headers.get('vary')).toMatch(/\bOrigin\b/);
    }
    for (const from of [
      foreignOrigin,
      'null',
      `${origin}:444`,
      `${origin}.evil.example`,
      'http://app.example',
    ]) {
      const refused = await preflight(corsApp, path, from);
      const withoutPreflight = await corsApp.request('GET', path, { headers: { origin: from } });
      expect([from, ...corsOf(refused.headers), ...corsOf(withoutPreflight.headers)]).toEqual([from]);
      expect(withoutPreflight.headers.get('vary')).toMatch(/\bOrigin\b/);
    }
    expect((await corsApp.request('GET', path)).headers.get('vary')).toMatch(/\bOrigin\b/);
  });

  it('a page can send every method of the table', async () => {
    for (const { method, path } of routeTable) {
      const { headers } = await preflight(corsApp, path, origin, method);
      expect(headers.get('access-control-allow-methods')?.split(', ')).toContain(method);
    }
  });

  it('a page can read refusals: no token, no such path, a bad body, a file without a signature', async () => {
    const sent = { headers: { origin } };
    for (const answer of [
      await corsApp.request('GET', '/v1/teams', { ...sent, token: null }),
      await corsApp.graphql('{ viewer { scopes } }', {}, { ...sent, token: 'wg_none' }),
      await corsApp.request('POST', '/v1/issues', {
        headers: { origin, 'content-type': 'text/plain' },
        body: 'x',
      }),
      await corsApp.request('GET', '/v1/nothing', sent),
      await corsApp.request('GET', '/files/attachment_00000000000000000000000000/content', sent),
    ]) {
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
    }
  });

  it('a page can read every header that answers have', async () => {
    const caller = await newAttachmentCaller(corsApp);
    const bytes = Buffer.from('abc');
    const attachment = await caller.create({ sizeBytes: 3, fileName: 'a.txt', contentType: 'text/plain' });
    const put = await fetch(attachment.uploadUrl, { method: 'PUT', headers: { origin }, body: bytes });
    const key = { origin, 'idempotency-key': 'cors-1' };
    const teams = await corsApp.request<{ results: { id: string }[] }>('GET', '/v1/teams', {
      headers: { origin },
    });
    const issue = { teamId: teams.body.results[0]?.id, title: 'One', description: '', priority: 0 };
    const first = await corsApp.request('POST', '/v1/issues', { headers: key, body: issue });
    const again = await corsApp.request('POST', '/v1/issues', { headers: key, body: issue });
    expect([put.status, first.status, again.status]).toEqual([204, 201, 201]);
    const answers = [
      teams,
      first,
      again,
      put,
      await corsApp.request('GET', '/v1/issues?page_size=1', { headers: { origin } }),
      await corsApp.request('PUT', '/v1/issues', { headers: { origin } }),
      await corsApp.request('GET', '/v1/issues', { token: null, headers: { origin } }),
      await corsApp.graphql('query Named { viewer { scopes } }', {}, { headers: { origin } }),
    ];
    const unexposed = answers.flatMap(({ headers }) => {
      const exposed = (headers.get('access-control-expose-headers') ?? '').toLowerCase().split(', ');
      return [...headers.keys()].filter((name) => !exposed.includes(name) && !unexposedHeaders.has(name));
    });
    expect([...new Set(unexposed)]).toEqual([]);
  });
});

/** Headers that need not be exposed: pages may always read them, or only the browser uses them. */
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
