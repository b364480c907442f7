import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { printOpenApi } from '../../src/rest-compat/openapi.ts';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { type App, startApp } from '../support/app.ts';
import { installAgent, type IssueWorld, issueWorld } from '../support/issue-world.ts';
import type { OpenApi, OpenApiLink } from '../support/openapi.ts';

const document = JSON.parse(printOpenApi()) as OpenApi;
const creations = routeTable
  .filter(({ method, successes }) => method === 'POST' && successes.some(({ status }) => status === 201))
  .map((route) => [`POST ${route.path}`, route] as const);

let app: App;
let world: IssueWorld;
let issueKey: string;
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
  world = await issueWorld(app);
  await installAgent(app, world, world.agent);
  issueKey = (await app.request<{ key: string }>('POST', '/v1/issues', { body: bodies()['/v1/issues'] })).body
    .key;
});
afterAll(() => app.stop());

let links = 0;

/** The bodies that create an object at each path. */
const bodies = (): Readonly<Record<string, Readonly<Record<string, unknown>>>> => ({
  '/v1/issues': { teamId: world.eng.id, title: 'New', description: '', priority: 0 },
  '/v1/issues/{issueKey}/comments': { body: 'Said.' },
  '/v1/issues/{issueKey}/links': { url: `https://example.com/${(links += 1)}`, title: 'Elsewhere' },
  '/v1/issues/{issueKey}/attachments': { fileName: 'a.txt', sizeBytes: 3 },
  '/v1/issues/{issueKey}/agent-thread/messages': { body: 'Please.' },
  '/v1/webhooks': { url: 'https://hooks.example.com/', eventTypes: ['webhook.disabled.v1'] },
});

/** Creates an object at a path. The file of an attachment is uploaded too, because the attachment is hidden until then. */
async function make(path: string): Promise<{ headers: Headers; body: Record<string, unknown> }> {
  const target = path.replace('{issueKey}', issueKey.toLowerCase());
  const created = await app.request<Record<string, unknown>>('POST', target, { body: bodies()[path] });
  expect(created.status).toBe(201);
  const { uploadUrl } = created.body;
  if (typeof uploadUrl === 'string') {
    const url = new URL(uploadUrl, app.url);
    const sent = await fetch(new URL(`${url.pathname}${url.search}`, app.url), {
      method: 'PUT',
      body: 'abc',
    });
    expect(sent.ok).toBe(true);
  }
  return created;
}

/** Builds the request of a link by evaluating its runtime expressions. */
function follow({ operationId, parameters }: OpenApiLink, body: unknown): { method: string; path: string } {
  const [path = '', method = ''] =
    Object.entries(document.paths)
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => [path, method, operation.operationId] as const),
      )
      .find(([, , id]) => id === operationId) ?? [];
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const [, pointer] = /^\$response\.body#\/(.+)$/.exec(parameters[name] ?? '') ?? [];
    if (pointer === undefined) return parameters[name] === `$request.path.${name}` ? issueKey : '';
    return String(pointer.split('/').reduce((value, step) => (value as Record<string, unknown>)[step], body));
  });
  return { method: method.toUpperCase(), path: filled };
}

describe('the result of a POST', () => {
  it.each(creations)(
    'can be read at its Location where it has a GET: %s',
    async (_name, { path, successes }) => {
      const [{ created, hasLocation } = {}] = successes;
      const isReadable = routeTable.some((route) => route.method === 'GET' && route.path === created?.path);
      expect(hasLocation ?? false).toBe(isReadable);
      const { headers, body } = await make(path);
      const location = headers.get('location');
      expect(location !== null).toBe(isReadable);
      if (location === null) return;
      expect(location).toMatch(/^\/v1\/(?:issues\/ENG-\d+|webhooks\/webhook_)/);
      const read = await app.request<Record<string, unknown>>('GET', location);
      expect(read.status).toBe(200);
      const shown = (body['attachment'] ?? body['webhook'] ?? body) as Record<string, unknown>;
      expect(read.body['id']).toBe(shown['id']);
    },
  );

  it.each(creations)('is linked to what reads, changes and deletes it: %s', async (_name, { path }) => {
    const { body } = await make(path);
    const links = Object.values(document.paths[path]?.['post']?.responses['201']?.links ?? {});
    const followed = links.map((link) => follow(link, body));
    expect(followed.map(({ method }) => method)).toContain('GET');
    // The deletion comes last.
    const order = ['GET', 'PATCH', 'DELETE'];
    for (const { method, path: target } of followed.toSorted(
      (a, b) => order.indexOf(a.method) - order.indexOf(b.method),
    )) {
      const changes: Record<string, object> = {
        '/v1/issues': { title: 'Newer' },
        '/v1/webhooks': { description: 'Newer.' },
      };
      const change = changes[path] ?? { body: 'Said again.' };
      const answer = await app.request(method, target, method === 'PATCH' ? { body: change } : {});
      expect([method, target, answer.status]).toEqual([method, target, method === 'DELETE' ? 204 : 200]);
    }
  });

  it('has all links that the table declares', () => {
    const linked = creations.map(([name, { path }]) => {
      const { links = {} } = document.paths[path]?.['post']?.responses['201'] ?? {};
      return [name, Object.keys(links).toSorted()];
    });
    expect(Object.fromEntries(linked)).toEqual({
      'POST /v1/issues': ['issue', 'issueDelete', 'issueUpdate'],
      'POST /v1/issues/{issueKey}/comments': ['comment', 'commentDelete', 'commentUpdate'],
      'POST /v1/issues/{issueKey}/links': ['issueLinkDelete', 'issueLinks'],
      'POST /v1/issues/{issueKey}/attachments': ['attachment'],
      'POST /v1/issues/{issueKey}/agent-thread/messages': ['agentThreadMessages'],
      'POST /v1/webhooks': ['webhook', 'webhookDelete', 'webhookUpdate'],
    });
  });

  it('has the same Location when the write is repeated', async () => {
    const sent = { body: bodies()['/v1/issues'], headers: { 'Idempotency-Key': 'once' } };
    const [first, second] = [
      await app.request('POST', '/v1/issues', sent),
      await app.request('POST', '/v1/issues', sent),
    ];
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(second.headers.get('location')).toBe(first.headers.get('location'));
    expect(first.headers.get('location')).toMatch(/^\/v1\/issues\/ENG-\d+$/);
  });
});
