import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { listenAndForward } from '../../src/cli/webhooks-listen.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { revokeToken } from '../support/revoke-token.ts';
import { eventually } from '../support/eventually.ts';
import { startScriptedServer } from '../client/scripted-server.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { inProcess, workgraph } from '../cli/workgraph.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { resetChanges } from '../../src/resolvers/changes/changes-reset.ts';
import { installAgent } from '../support/issue-world.ts';
import { numberAllChanges } from '../live/logged.ts';
import { webhookCalls } from './calls.ts';
import { type ReceivedMessage, startReceiver } from './receiver.ts';

const { app, world, ada } = useIssueWorld({ ownDatabase: true, settings: { WEBHOOK_NETWORKS: '127.0.0.1' } });

interface ListenOptions {
  forwardTo: string;
  server?: string;
  token?: string;
  events?: string[];
  hasImports?: boolean;
  /** The name of the state file. */
  state?: string;
}

/** Listens until `stop` is called, or the server refuses. */
function startListening({ state = 'listen.json', ...more }: ListenOptions) {
  const stop = new AbortController();
  const printed: Record<string, unknown>[] = [];
  const stderrLines: string[] = [];
  const stateFile = join(app.dataDir, state);
  const standard = { server: app.url, token: app.token, events: [], hasImports: false };
  const options = { ...standard, stateFile, isJson: true, ...more };
  const done = listenAndForward(options, {
    stdout: (text) => printed.push(JSON.parse(text) as Record<string, unknown>),
    stderr: (text) => stderrLines.push(text),
    signal: stop.signal,
  });
  return {
    printed,
    /** What was written to standard error. */
    stderrLines,
    stateFile,
    done,
    stop: async () => {
      stop.abort();
      await done;
    },
  };
}

/** Nothing listens here, and nothing is forwarded. */
const nowhere = 'http://127.0.0.1:9/';

const cursorIn = (file: string) => (JSON.parse(readFileSync(file, 'utf8')) as { cursor?: string }).cursor;

it('webhooks listen forwards signed changes, and continues where it stopped with the same secret', async () => {
  const receiver = await startReceiver();
  const first = startListening({ forwardTo: receiver.url });
  await eventually(() => first.printed.length > 0 && cursorIn(first.stateFile) !== undefined);
  const secret = String(first.printed[0]?.secret);
  const { key } = await ada.create({ teamId: world.eng.id, title: 'One' });
  const [created] = await receiver.until(1);
  expect(
    new Webhook(secret).verify(created?.text ?? '', created?.headers as Record<string, string>),
  ).toMatchObject({
    type: 'issue.created.v1',
    data: { issue: { key }, change: { issueKey: key } },
  });
  await eventually(() => first.printed.length === 2);
  expect(first.printed[1]).toMatchObject({ eventType: 'issue.created.v1', issueKey: key, status: 204 });
  await first.stop();
  expect(statSync(first.stateFile).mode & 0o777).toBe(0o600);

  await ada.mutate('commentCreate', { issueKey: key, body: 'Meanwhile.' });
  const second = startListening({ forwardTo: receiver.url });
  const [, commented] = await receiver.until(2);
  expect(second.printed[0]).toMatchObject({ secret });
  expect(commented).toMatchObject({
    type: 'issue-comment.created.v1',
    data: { issue: { key }, comment: { body: expect.anything() } },
  });
  await second.stop();
  receiver.close();
});

it('webhooks listen sends what a webhook sends', async () => {
  await installAgent(app, world, world.agent);
  const receiver = await startReceiver();
  const { call } = webhookCalls(app);
  await numberAllChanges(app.database);
  const listener = startListening({ forwardTo: receiver.url, state: 'same.json' });
  await eventually(() => listener.printed.length === 1);
  const { webhook } = await call('webhookCreate', { url: receiver.url });
  const { key } = await ada.create({ teamId: world.eng.id, title: 'One', description: 'a'.repeat(8_001) });
  // Each message shows the issue as it is when the message is made, so both must have theirs before the next change.
  await receiver.until(2);
  await ada.mutate('agentMessageCreate', { issueKey: key, body: 'Please.' });
  await receiver.until(4);
  await ada.mutate('commentCreate', { issueKey: key, body: '🦉'.repeat(20_000) });
  await receiver.until(6);
  await ada.mutate('issueDelete', { key });
  const messages = await receiver.until(8);
  const isOfWebhook = ({ headers }: ReceivedMessage) => headers['x-workgraph-webhook'] === webhook.id;
  const ofWebhook = messages.filter(isOfWebhook);
  const ofListener = messages.filter((message) => !isOfWebhook(message));
  const parsed = ({ text }: ReceivedMessage) => JSON.parse(text) as unknown;
  expect(ofWebhook.map(({ type }) => type)).toEqual([
    'issue.created.v1',
    'agent-message.created.v1',
    'issue-comment.created.v1',
    'issue.deleted.v1',
  ]);
  expect(ofListener.map(parsed)).toEqual(ofWebhook.map(parsed));
  const headerNames = ({ headers }: ReceivedMessage) => Object.keys(headers).toSorted();
  expect(ofListener.map(headerNames)).toEqual(ofWebhook.map(headerNames));
  for (const { headers } of ofListener) {
    expect(headers).toMatchObject({
      'content-type': ofWebhook[0]?.headers['content-type'],
      'user-agent': 'workgraph',
      'x-workgraph-webhook': ofListener[0]?.headers['x-workgraph-webhook'],
    });
  }
  expect(ofListener[0]?.headers['x-workgraph-webhook']).toMatch(/^webhook_\w{26}$/);
  await listener.stop();
  await call('webhookDelete', { id: webhook.id });
  receiver.close();
});

it.each([
  [false, ['issue-comment.created.v1']],
  [true, ['issue.created.v1', 'issue-comment.created.v1']],
])(
  'webhooks listen forwards the chosen types, and imports only on request: %j',
  async (hasImports, types) => {
    const receiver = await startReceiver();
    const { key } = await ada.create({ teamId: world.eng.id, title: 'Before' });
    await numberAllChanges(app.database);
    const events = ['issue.created.v1', 'issue-comment.created.v1'];
    const listener = startListening({
      forwardTo: receiver.url,
      events,
      hasImports,
      state: `${hasImports}.json`,
    });
    await eventually(() => listener.printed.length === 1);
    const line = {
      id: `b-${hasImports}`,
      title: 'Imported',
      status: 'open',
      issue_type: 'task',
      priority: 1,
    };
    const times = { created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' };
    writeFileSync(join(app.dataDir, 'one.jsonl'), `${JSON.stringify({ ...line, ...times })}\n`);
    const workspace = encodeId('workspace', app.workspaceId);
    const words = ['one.jsonl', '--from', 'beads', '--team', 'ENG', '--workspace', workspace];
    expect(await inProcess(app, 'import', words)).toMatchObject({ exitCode: 0 });
    await numberAllChanges(app.database);
    await ada.update(key, { title: 'Of a type that is not chosen' });
    await ada.mutate('commentCreate', { issueKey: key, body: 'Said.' });
    await receiver.until(types.length);
    expect(receiver.messages.map(({ type }) => type)).toEqual(types);
    await listener.stop();
    receiver.close();
  },
);

it('webhooks listen refuses a URL to which nothing can be sent', async () => {
  const { done } = startListening({ forwardTo: 'http://ada@127.0.0.1/', state: 'refused.json' });
  await expect(done).rejects.toThrow('--forward-to must not contain a user name or a password.');
});

it.each([
  ['while it does not run', false],
  ['while it runs', true],
])(
  'webhooks listen reports once that changes are missing, if the log starts over %s',
  async (_when, isRunning) => {
    const receiver = await startReceiver();
    const state = `lost-${isRunning}.json`;
    await numberAllChanges(app.database);
    const before = startListening({ forwardTo: receiver.url, state });
    await eventually(() => before.printed.length === 1);
    const fromCursor = cursorIn(before.stateFile);
    if (!isRunning) await before.stop();
    await resetChanges(app.database, { id: app.workspaceId, name: 'Test' }, systemActor);
    const after = isRunning ? before : startListening({ forwardTo: receiver.url, state });
    const [lost] = await receiver.until(1);
    const toCursor = expect.stringMatching(/^c1-/) as unknown;
    expect(lost).toMatchObject({ type: 'changes.lost.v1', data: { fromCursor, toCursor } });
    expect(lost?.id).toMatch(/^whdelivery_/);
    const secret = String(before.printed[0]?.secret);
    new Webhook(secret).verify(lost?.text ?? '', lost?.headers as Record<string, string>);
    await ada.create({ teamId: world.eng.id, title: 'After it' });
    const [, next] = await receiver.until(2);
    expect(next?.type).toBe('issue.created.v1');
    await after.stop();
    expect(after.printed[0]).toMatchObject({ secret });
    receiver.close();
  },
);

it('webhooks listen says why the server refuses the token, before it makes a secret', async () => {
  const { done, printed, stateFile } = startListening({
    forwardTo: nowhere,
    token: `wg_${'0'.repeat(48)}`,
    state: 'refused.json',
  });
  await expect(done).rejects.toThrow(/^The server answers 401: .*token/);
  expect(printed).toEqual([]);
  expect(existsSync(stateFile)).toBe(false);
});

it('webhooks listen ends when its token is revoked, and leaves no connection open', async () => {
  const token = await app.tokenFor({ scopes: ['issues:read'] });
  await using receiver = await startScriptedServer((_request, response) => response.writeHead(204).end());
  await numberAllChanges(app.database);
  const { done, printed } = startListening({ forwardTo: receiver.url, token, state: 'revoked.json' });
  const failed = done.then(
    () => undefined,
    (error: unknown) => error,
  );
  await eventually(() => printed.length === 1);
  await ada.create({ teamId: world.eng.id, title: 'One' });
  await eventually(() => printed.length === 2);
  await revokeToken(app, token);
  // The read that waits ends with the next change at the latest.
  await ada.create({ teamId: world.eng.id, title: 'Two' });
  expect(await failed).toMatchObject({
    message: expect.stringMatching(/^The server answers 401: .*revoked/),
  });
  const endedMs = performance.now();
  await eventually(() => receiver.seen.every(({ socket }) => socket.destroyed));
  expect(performance.now() - endedMs).toBeLessThan(2_000);
});

it('webhooks listen names the scope that its token lacks', async () => {
  const token = await app.tokenFor({ scopes: ['teams:read'] });
  const { done } = startListening({ forwardTo: nowhere, token, state: 'scope.json' });
  await expect(done).rejects.toThrow(/^The server answers 403: .*issues:read/);
});

it.each([
  ['404 of another service', 404, '{"error":"not found"}'],
  ['404 with a reason', 404, '{"detail":"There is no such page."}'],
  ['page of another service', 200, '<html></html>'],
  ['answer without data', 200, '{"data":null}'],
  ['redirect', 302, ''],
])(
  'webhooks listen ends at the answer of a server that is not workgraph: %s',
  async (_name, status, body) => {
    await using other = await startScriptedServer((_request, response) =>
      response.writeHead(status).end(body),
    );
    const { done, printed } = startListening({ forwardTo: nowhere, server: other.url, state: 'other.json' });
    await expect(done).rejects.toThrow(
      `${other.url}/graphql answers ${status}: is --url the URL of workgraph?`,
    );
    expect(printed).toEqual([]);
    expect(other.seen).toHaveLength(1);
  },
);

it('webhooks listen ends with the reason of a GraphQL answer that has errors and no data', async () => {
  const answer = '{"data":null,"errors":[{"message":"Cannot be read."}]}';
  await using other = await startScriptedServer((_request, response) => response.end(answer));
  const { done } = startListening({ forwardTo: nowhere, server: other.url, state: 'other.json' });
  await expect(done).rejects.toThrow('The server answers 200: Cannot be read.');
});

it('webhooks listen says once why the server cannot answer, and that it answers again', async () => {
  const busy = '{"data":null,"errors":[{"message":"Busy.","extensions":{"code":"UNAVAILABLE"}}]}';
  const answers = [[503, 'Later.'] as const, [200, busy] as const, [200, busy] as const];
  await using server = await startScriptedServer((_request, response) => {
    const [status, body] = answers[server.seen.length - 1] ?? [
      200,
      '{"data":{"workspace":{"changeCursor":"c1-0-0"},"changes":{"nodes":[],"cursor":"c1-0-0"}}}',
    ];
    response.writeHead(status).end(body);
  });
  const { stderrLines, stop } = startListening({
    forwardTo: nowhere,
    server: server.url,
    state: 'again.json',
  });
  await eventually(() => stderrLines.length === 3);
  await stop();
  expect(stderrLines).toEqual([
    `${server.url} answers 503; trying again every 2 s.\n`,
    `${server.url} answers 503: Busy; trying again every 2 s.\n`,
    `${server.url} answers again.\n`,
  ]);
});

it('webhooks listen says that nothing listens at the URL', async () => {
  const { url: server, ...stopped } = await startScriptedServer(() => undefined);
  await stopped[Symbol.asyncDispose]();
  const { stderrLines, stop } = startListening({ forwardTo: nowhere, server, state: 'nobody.json' });
  await eventually(() => stderrLines.length === 1);
  await stop();
  expect(stderrLines).toEqual([
    `${server} cannot be reached: the connection was refused; trying again every 2 s.\n`,
  ]);
});

it.each([
  ['issue.update.v1', '--events: "issue.update.v1" is not a type of event; did you mean issue.updated.v1?\n'],
  ['issue.created.v1,', '--events: "" is not a type of event; GET /v1/meta/codes lists them.\n'],
  ['--json', '--events needs a value; --help shows the usage.\n'],
])('webhooks listen refuses the event types %j', async (types, stderr) => {
  const args = ['webhooks', 'listen', '--forward-to', 'http://127.0.0.1:9/', '--events', types];
  expect(await workgraph(args, { WORKGRAPH_TOKEN: 'wg_none' })).toEqual({
    exitCode: 2,
    stdout: '',
    stderr,
  });
});

it('webhooks listen refuses a token that no header can hold', async () => {
  const args = ['webhooks', 'listen', '--forward-to', nowhere];
  const { exitCode, stderr } = await workgraph(args, { WORKGRAPH_TOKEN: 'wg_one\nwg_two' });
  expect([exitCode, stderr]).toEqual([
    2,
    'WORKGRAPH_TOKEN must hold an access token with the scope issues:read.\n',
  ]);
});
