import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { connect, type Workgraph } from '../../src/client/client.ts';
import {
  CommentCreateDocument,
  LiveIssuesDocument,
  OpenIssuesDocument,
} from '../../src/client/documents.generated.ts';
import { startProxy } from '../live/cut-proxy.ts';
import { numberAllChanges } from '../live/logged.ts';
import { itInBrowser, openBrowser, openPage } from '../pages/browser.ts';
import { type App, startApp } from '../support/app.ts';
import { bundleClient } from './bundle.ts';
import { failureOf } from './failure-of.ts';
import { type FaultyProxy, startFaultyProxy } from './faulty-proxy.ts';

let app: App;
let site: Server;
let proxy: FaultyProxy;
/** Clients that send to the server itself, and through the proxy. */
let direct: Workgraph;
let faulty: Workgraph;

beforeAll(async () => {
  site = createServer((_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>A page</title>');
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  app = await startApp({ demo: true, settings: { CORS_ORIGINS: siteUrl() } });
  await numberAllChanges(app.database);
  proxy = await startFaultyProxy(app.url);
  direct = connect({ url: app.url, token: app.token });
  faulty = connect({ url: proxy.url, token: app.token });
});

afterAll(async () => {
  await proxy.stop();
  site.close();
  await app.stop();
});

beforeEach(() => {
  proxy.seen.length = 0;
  proxy.faults = [];
});

const siteUrl = () => `http://127.0.0.1:${(site.address() as AddressInfo).port}`;

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

it('the client sends a write whose answer is lost again with its key, and the server does it once', async () => {
  proxy.faults = ['lost', { status: 502 }, 'none', 'lost'];
  const input = { issueKey: 'WEB-1', body: 'Written over GraphQL.' };
  const { commentCreate } = await faulty.graph.request(CommentCreateDocument, { input });
  expect(commentCreate.comment.bodyText).toBe(input.body);
  const params = { path: { issueKey: 'WEB-1' } };
  const body = { body: 'Written over REST.' };
  const { data } = await faulty.rest.POST('/v1/issues/{issueKey}/comments', { params, body });
  const comments = (await collect(direct.rest.items('/v1/issues/{issueKey}/comments', { params }))).slice(-2);
  expect(comments).toEqual([expect.objectContaining({ id: commentCreate.comment.id }), data]);
  const keys = proxy.seen.map(({ key }) => key);
  expect(proxy.seen.map(({ request }) => request)).toEqual([
    ...Array<string>(3).fill('POST /graphql'),
    ...Array<string>(2).fill('POST /v1/issues/WEB-1/comments'),
  ]);
  expect(new Set(keys.slice(0, 3)).size + new Set(keys.slice(3)).size).toBe(2);
  expect(keys[0]).not.toBe(keys[3]);
});

it('the client sends a write that takes no key again only if the server has not begun it', async () => {
  const two = `mutation {
    a: commentCreate(input: { issueKey: "WEB-2", body: "One" }) { comment { id } }
    b: commentCreate(input: { issueKey: "WEB-2", body: "Two" }) { comment { id } }
  }`;
  proxy.faults = ['lost'];
  expect(await failureOf(faulty.graph.request(two))).toMatchObject({ code: 'unreachable', status: 0 });
  expect(proxy.seen).toEqual([{ request: 'POST /graphql', key: undefined }]);
  proxy.faults = [{ status: 429 }, { status: 503 }];
  expect(await failureOf(faulty.graph.request(two))).toMatchObject({ code: 'unavailable', status: 503 });
  const secret = 'mutation { accessTokenCreate(input: { name: "a", scopes: ["issues:read"] }) { token } }';
  await faulty.graph.request(secret);
  const body = {
    url: 'https://example.com/hook',
    name: 'A hook',
    filter: { eventTypes: ['issue.created.v1'] },
  };
  await faulty.rest.POST('/v1/webhooks', { body });
  expect(proxy.seen.map(({ key }) => key)).toEqual(Array(5).fill(undefined));
});

it('the client sends a read again, unless the server asks it to wait for longer than it may', async () => {
  proxy.faults = ['lost', { status: 503 }];
  const params = { path: { teamCode: 'WEB' } };
  const { data } = await faulty.rest.GET('/v1/teams/{teamCode}', { params });
  expect(data.name).toBe('Booking Web');
  proxy.faults = ['lost'];
  await faulty.graph.request('{ viewer { member { displayName } } }');
  proxy.faults = [{ status: 429, headers: { 'Retry-After': '3600' } }];
  const refused = await failureOf(faulty.rest.GET('/v1/teams'));
  expect(refused).toMatchObject({ code: 'unexpected_answer', status: 429, retryAfterSeconds: 3600 });
  proxy.faults = Array.from({ length: 9 }, () => ({ status: 503 }));
  const impatient = connect({ url: proxy.url, token: app.token, retries: 1 });
  expect(await failureOf(impatient.rest.GET('/v1/teams'))).toMatchObject({ code: 'unavailable' });
  expect(proxy.seen).toHaveLength(8);
});

it('both APIs throw errors of one class, with the code and every invalid field', async () => {
  const query = { state: ['activ' as 'active'], page_size: 0 };
  const rest = await failureOf(direct.rest.GET('/v1/teams', { params: { query } }));
  expect(rest).toMatchObject({ code: 'invalid_request', status: 400 });
  expect(rest.violations.map(({ field }) => field)).toEqual(['state', 'page_size']);
  expect(rest.requestId).toBeTruthy();
  const input = { issueKey: 'WEB-1', body: ' ' };
  const graph = await failureOf(direct.graph.request(CommentCreateDocument, { input }));
  expect(graph.code).toBe('validation_failed');
  expect(graph.violations).toEqual([expect.objectContaining({ field: 'body' })]);
  expect(graph.requestId).toBeTruthy();
  const unknownCaller = connect({ url: app.url, token: 'wg_unknown' });
  for (const call of [
    () => unknownCaller.rest.GET('/v1/teams'),
    () => unknownCaller.graph.request('{ teams { totalCount } }'),
    () => unknownCaller.changes().next(),
  ])
    expect(await failureOf(call())).toMatchObject({ code: 'unauthenticated', status: 401 });
  const unparsed = await failureOf(direct.graph.request('query {'));
  expect(unparsed).toMatchObject({ code: 'graphql_parse_failed', requestId: expect.any(String) });
});

it('loops over connections and lists see every item of every page once', async () => {
  const filter = { team: { code: { eq: 'WEB' } } };
  const nodes = direct.graph.nodes(OpenIssuesDocument, { filter }, ({ issues }) => issues);
  const keys = (await collect(nodes)).map(({ key }) => key);
  const init = { params: { query: { team_code: 'WEB', page_size: 7 } } };
  const listed = (await collect(direct.rest.items('/v1/issues', init))).map(({ key }) => key);
  expect(keys.toSorted()).toEqual(listed.toSorted());
  expect(new Set(keys).size).toBe(keys.length);
  const { data } = await direct.rest.GET('/v1/issues', init);
  expect(data.pagination.totalCount).toBe(keys.length);
  expect(keys.length).toBeGreaterThan(14);
});

it('streams of both APIs continue after a broken connection, and miss nothing', async () => {
  const cutProxy = await startProxy(app.url);
  const workgraph = connect({ url: cutProxy.url, token: app.token });
  const { workspace, issues } = await direct.graph.request(OpenIssuesDocument);
  const key = issues.nodes[0]?.key;
  const after = workspace.changeCursor;
  const lists = workgraph.subscribe(LiveIssuesDocument, {}, { after });
  const changes = workgraph.changes({ event_type: 'issue.updated.v1' }, { after });
  const update =
    'mutation ($key: String!, $title: String!) { issueUpdate(input: { key: $key, title: $title }) { issue { key } } }';
  for (const title of ['Before the cut', 'After the cut']) {
    const events = [lists.next(), changes.next()] as const;
    if (title.startsWith('After')) cutProxy.redirect(app.url);
    await direct.graph.request(update, { key, title } as never);
    const [list, change] = await Promise.all(events);
    expect(list.value).toMatchObject({ reset: false, data: { issues: { issue: { key, title } } } });
    expect(change.value).toMatchObject({ issueKey: key, fields: ['title'] });
  }
  await Promise.all([lists.return(), changes.return()]);
  const expired = workgraph.subscribe(LiveIssuesDocument, {}, { after: 'c1-1-zzz' });
  expect(await failureOf(expired.next())).toMatchObject({ code: 'cursor_expired', status: 410 });
  await cutProxy.stop();
});

it('a stream of changes ignores a filter whose value is undefined', async () => {
  const { workspace } = await direct.graph.request(OpenIssuesDocument);
  const changes = direct.changes({ event_type: undefined }, { after: workspace.changeCursor });
  const events = changes.next();
  await direct.rest.PATCH('/v1/issues/{issueKey}', {
    params: { path: { issueKey: 'WEB-2' } },
    body: { title: 'Told without a filter' },
  });
  expect((await events).value).toMatchObject({ eventType: 'issue.updated.v1', issueKey: 'WEB-2' });
  await changes.return();
});

it('a signal ends a request and a stream with its reason', async () => {
  const reason = new Error('The page was left.');
  await expect(
    direct.graph.request('{ viewer { id } }', {} as never, { signal: AbortSignal.abort(reason) }),
  ).rejects.toBe(reason);
  const leaving = new AbortController();
  const waiting = direct.changes({}, { signal: leaving.signal }).next();
  leaving.abort(reason);
  await expect(waiting).rejects.toBe(reason);
});

it('the client has at most 15 KB gzipped, without documents and graphql', async () => {
  expect(gzipSync(await bundleClient(['graphql']), { level: 9 }).length).toBeLessThanOrEqual(15_000);
});

itInBrowser('the client works on a page of another origin', async () => {
  const code = await bundleClient([]);
  const browser = await openBrowser();
  const { page, complaints } = await openPage(browser, siteUrl());
  await page.goto(siteUrl());
  const seen: unknown = await page.evaluate(`(async () => {
    const { connect } = await import(URL.createObjectURL(new Blob([${JSON.stringify(code)}], { type: 'text/javascript' })));
    const workgraph = connect(${JSON.stringify({ url: app.url, token: app.token })});
    const { workspace } = await workgraph.graph.request('{ workspace { changeCursor } }');
    const changes = workgraph.changes({}, { after: workspace.changeCursor });
    const next = changes.next();
    const { data } = await workgraph.rest.POST('/v1/issues/{issueKey}/comments', {
      params: { path: { issueKey: 'WEB-4' } }, body: { body: 'From a page.' },
    });
    const { value } = await next;
    await changes.return();
    return [data.authorDisplayName, value.eventType, value.issueKey];
  })()`);
  expect(seen).toEqual([expect.any(String), 'issue-comment.created.v1', 'WEB-4']);
  expect(complaints).toEqual([]);
  await browser.close();
});
