import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { type App, startApp } from '../support/app.ts';
import { revokeToken } from '../support/revoke-token.ts';
import { numberAllChanges } from './logged.ts';
import { codeBlocks, importExample } from './page-code.ts';
import { newestCursor } from './subscribing.ts';

const run = promisify(execFile);

let app: App;
beforeAll(async () => {
  app = await startApp({ demo: true, settings: { CHANGES_WAIT_MS: '25000' } });
  await numberAllChanges(app.database);
});
afterAll(() => app.stop());

interface Page {
  results: Record<string, unknown>[];
  cursor: string;
}

it('the server answers each command of docs/live.md as the page says, in the order of the page', async () => {
  const variables: Record<string, string> = { URL: app.url, TOKEN: app.token };
  const commands = codeBlocks('sh');
  expect(commands.length).toBeGreaterThan(2);
  for (const command of commands) {
    const { stdout } = await run('sh', ['-ec', command], { env: { ...process.env, ...variables } });
    if (command.endsWith('# stream')) {
      // A slow machine may send a heartbeat, or the cursor alone, before the event.
      expect(stdout).toMatch(
        /^retry: 2000\n((id)?:.*\n\n)*id: c1-.*\nevent: next\ndata: \{"data":\{"changes":/,
      );
      continue;
    }
    const { results, cursor } = JSON.parse(stdout) as Page;
    expect([command, results.length > 0]).toEqual([command, true]);
    // This command waits at the end of the log.
    variables.CURSOR = command.includes('$CURSOR') ? await newestCursor(app) : cursor;
  }
});

it('an answer of REST has the fields that the page shows', async () => {
  const [exampleText = ''] = codeBlocks('json');
  const { body } = await app.request<Page>('GET', '/v1/changes?page_size=1');
  const example = JSON.parse(exampleText) as Page;
  expect(Object.keys(example)).toEqual(Object.keys(body));
  expect(Object.keys(example.results[0] ?? {})).toEqual(Object.keys(body.results[0] ?? {}));
});

it('the server answers each query of the page', async () => {
  const queries = codeBlocks('graphql');
  expect(queries).toHaveLength(3);
  for (const query of queries) {
    if (query.startsWith('subscription')) continue;
    expect((await app.graphql(query)).body.errors).toBeUndefined();
  }
});

it('the loop of the page receives a change, and says when its cursor has expired', async () => {
  const follow = await importExample<Follow>('follow');
  const received = Promise.withResolvers<Record<string, unknown>>();
  const stop = new Error('enough');
  const loop = follow(app.url, app.token, await newestCursor(app), (change) => {
    received.resolve(change);
    throw stop;
  });
  const ended = loop.catch((error: unknown) => error);
  await app.graphql(
    'mutation { commentCreate(input: { issueKey: "WEB-2", body: "Hi" }) { comment { id } } }',
  );
  expect(await received.promise).toMatchObject({ eventType: 'issue-comment.created.v1', issueKey: 'WEB-2' });
  expect(await ended).toBe(stop);
  expect(await follow(app.url, app.token, 'c1-1-zzz', () => undefined)).toBe('read the lists again');
});

it('the loop of the page continues after a lost connection, and says when it is refused', async () => {
  let losses = 0;
  const lossy = (...args: Parameters<typeof fetch>) => {
    losses += 1;
    return losses === 1 ? Promise.reject(new TypeError('fetch failed')) : fetch(...args);
  };
  const setTimeout = (resolve: () => void) => setImmediate(resolve);
  const follow = await importExample<Follow>('follow', { fetch: lossy, setTimeout });
  const stop = new Error('received');
  const loop = follow(app.url, app.token, await newestCursor(app), () => {
    throw stop;
  }).catch((error: unknown) => error);
  await app.graphql(
    'mutation { commentCreate(input: { issueKey: "WEB-2", body: "Hi again" }) { comment { id } } }',
  );
  expect(await loop).toBe(stop);
  await expect(follow(app.url, `wg_${'0'.repeat(48)}`, '', () => undefined)).rejects.toThrow(/^401 /);
});

it('the stream of the page receives a change', async () => {
  const stream = await importExample<Stream>('stream');
  const events = stream(app.url, app.token, await newestCursor(app));
  const received = events.next();
  await app.graphql(
    'mutation { commentCreate(input: { issueKey: "WEB-3", body: "Hi" }) { comment { id } } }',
  );
  expect(await received).toMatchObject({
    value: { eventType: 'issue-comment.created.v1', issueKey: 'WEB-3' },
  });
  await events.return(undefined);
});

it('the reader of subscriptions of the page follows the live list of the page, and is told of a refusal', async () => {
  const events = await importExample<Events>('events');
  const query = codeBlocks('graphql').find((text) => text.startsWith('subscription')) ?? '';
  const stream = events(app.url, app.token, query, {}, await newestCursor(app));
  const received = stream.next();
  const { body } = await app.graphql<{ issueUpdate: { issue: { id: string } } }>(
    'mutation { issueUpdate(input: { key: "WEB-4", priority: URGENT }) { issue { id } } }',
  );
  const { value } = await received;
  expect(value).toMatchObject({ data: { issues: { issueId: body.data?.issueUpdate.issue.id } } });
  expect(value?.id).toMatch(/^c1-/);
  await stream.return(undefined);
  await expect(events(app.url, app.token, query, { after: 'c1-1-zzz' }).next()).rejects.toThrow(
    'CURSOR_EXPIRED',
  );
});

it('the subscription over a WebSocket of the page receives a change', async () => {
  const createWsClient = (options: Parameters<typeof createClient>[0]) =>
    createClient({ ...options, webSocketImpl: WebSocket });
  const subscribe = await importExample<OverSocket>('subscribeOverSocket', { createClient: createWsClient });
  const received = Promise.withResolvers<Record<string, unknown>>();
  const { client, follow } = subscribe(app.url, app.token, await newestCursor(app), received.resolve);
  const loop = follow();
  await app.graphql(
    'mutation { commentCreate(input: { issueKey: "WEB-5", body: "Hi" }) { comment { id } } }',
  );
  expect(await received.promise).toMatchObject({
    eventType: 'issue-comment.created.v1',
    issue: { key: 'WEB-5' },
  });
  await client.dispose();
  await loop;
});

it('the subscription over a WebSocket of the page says why it was ended', async () => {
  const token = await app.tokenFor();
  const createWsClient = (options: Parameters<typeof createClient>[0]) =>
    createClient({ ...options, webSocketImpl: WebSocket });
  const subscribe = await importExample<OverSocket>('subscribeOverSocket', { createClient: createWsClient });
  const received = Promise.withResolvers<unknown>();
  const { client, follow } = subscribe(app.url, token, await newestCursor(app), received.resolve);
  const ended = follow().catch((error: unknown) => error);
  const comment = () =>
    app.graphql('mutation { commentCreate(input: { issueKey: "WEB-5", body: "Hi" }) { comment { id } } }');
  await comment();
  await received.promise;
  await revokeToken(app, token);
  await comment();
  expect(await ended).toMatchObject({ message: 'UNAUTHENTICATED' });
  await client.dispose();
});

type Events = (
  url: string,
  token: string,
  query: string,
  variables: object,
  cursor?: string,
) => AsyncGenerator<{ id: string; data: Record<string, Record<string, unknown>> }, undefined, undefined>;

type Stream = (
  url: string,
  token: string,
  cursor: string,
) => AsyncGenerator<Record<string, unknown>, undefined, undefined>;

type OverSocket = (
  url: string,
  token: string,
  cursor: string,
  onChange: (change: Record<string, unknown>) => void,
) => { client: Client; follow: () => Promise<void> };

type Follow = (
  url: string,
  token: string,
  cursor: string,
  onChange: (change: Record<string, unknown>) => void,
) => Promise<string>;
