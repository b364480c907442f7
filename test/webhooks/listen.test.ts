import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { listenAndForward } from '../../src/cli/webhooks-listen.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { eventually } from '../support/eventually.ts';
import { startScripted } from '../client/scripted-server.ts';
import { workgraph } from '../cli/workgraph.ts';
import { startReceiver } from './receiver.ts';

const { app, world, ada } = useIssueWorld({ ownDatabase: true });

interface Listening {
  forwardTo: string;
  server?: string;
  token?: string;
  events?: string[];
  /** The name of the state file. */
  state?: string;
}

/** Listens until `stop` is called, or the server refuses. */
function listening({ forwardTo, server = app.url, token = app.token, events = [], state }: Listening) {
  const stop = new AbortController();
  const printed: Record<string, unknown>[] = [];
  const told: string[] = [];
  const stateFile = join(app.dataDir, state ?? 'listen.json');
  const options = { server, token, forwardTo, events, stateFile, isJson: true };
  const done = listenAndForward(options, {
    stdout: (text) => printed.push(JSON.parse(text) as Record<string, unknown>),
    stderr: (text) => told.push(text),
    signal: stop.signal,
  });
  return {
    printed,
    /** What was written to standard error. */
    told,
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
  const first = listening({ forwardTo: receiver.url });
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
  const second = listening({ forwardTo: receiver.url });
  const [, commented] = await receiver.until(2);
  expect(second.printed[0]).toMatchObject({ secret });
  expect(commented).toMatchObject({
    type: 'issue-comment.created.v1',
    data: { issue: { key }, comment: { body: expect.anything() } },
  });
  await second.stop();
  receiver.close();
});

it('webhooks listen says why the server refuses the token, before it makes a secret', async () => {
  const { done, printed, stateFile } = listening({
    forwardTo: nowhere,
    token: `wg_${'0'.repeat(48)}`,
    state: 'refused.json',
  });
  await expect(done).rejects.toThrow(/^The server answers 401: .*token/);
  expect(printed).toEqual([]);
  expect(existsSync(stateFile)).toBe(false);
});

it('webhooks listen names the scope that its token lacks', async () => {
  const token = await app.tokenFor({ scopes: ['teams:read'] });
  const { done } = listening({ forwardTo: nowhere, token, state: 'scope.json' });
  await expect(done).rejects.toThrow(/^The server answers 403: .*issues:read/);
});

it.each([
  ['404 of another service', 404, '{"error":"not found"}'],
  ['404 with a reason', 404, '{"detail":"There is no such page."}'],
  ['page of another service', 200, '<html></html>'],
  ['answer without data', 200, '{"data":null}'],
  ['redirect', 302, ''],
])('webhooks listen ends with an answer that is not of workgraph: %s', async (_name, status, body) => {
  await using other = await startScripted((_request, response) => response.writeHead(status).end(body));
  const { done, printed } = listening({ forwardTo: nowhere, server: other.url, state: 'other.json' });
  await expect(done).rejects.toThrow(
    `${other.url}/graphql answers ${status}: is --url the URL of workgraph?`,
  );
  expect(printed).toEqual([]);
  expect(other.seen).toHaveLength(1);
});

it('webhooks listen ends with the reason of a GraphQL answer that has errors and no data', async () => {
  const answer = '{"data":null,"errors":[{"message":"Cannot be read."}]}';
  await using other = await startScripted((_request, response) => response.end(answer));
  const { done } = listening({ forwardTo: nowhere, server: other.url, state: 'other.json' });
  await expect(done).rejects.toThrow('The server answers 200: Cannot be read.');
});

it('webhooks listen says once that the server cannot answer, and once that it answers again', async () => {
  let status = 503;
  await using server = await startScripted((_request, response) => {
    if (status === 503) return void response.writeHead(status).end('{"errors":[{"message":"Busy."}]}');
    response.end('{"data":{"workspace":{"changeCursor":"c1-0-0"},"changes":{"nodes":[],"cursor":"c1-0-0"}}}');
  });
  const { told, stop } = listening({ forwardTo: nowhere, server: server.url, state: 'again.json' });
  await eventually(() => server.seen.length === 2);
  status = 200;
  await eventually(() => told.length === 2);
  await stop();
  expect(told).toEqual([
    `${server.url} answers 503: Busy; trying again every 2 s.\n`,
    `${server.url} answers again.\n`,
  ]);
});

it('webhooks listen says that nothing listens at the URL', async () => {
  const { url: server, ...stopped } = await startScripted(() => undefined);
  await stopped[Symbol.asyncDispose]();
  const { told, stop } = listening({ forwardTo: nowhere, server, state: 'nobody.json' });
  await eventually(() => told.length === 1);
  await stop();
  expect(told).toEqual([
    `${server} cannot be reached: the connection was refused; trying again every 2 s.\n`,
  ]);
});

it.each([
  ['issue.update.v1', '--events: "issue.update.v1" is not a type of event; did you mean issue.updated.v1?\n'],
  ['issue.created.v1,', '--events: "" is not a type of event; GET /v1/meta/codes lists them.\n'],
  ['--json', '--events needs a value; --help shows the usage.\n'],
])('webhooks listen refuses the event types %j', async (types, told) => {
  const args = ['webhooks', 'listen', '--forward-to', 'http://127.0.0.1:9/', '--events', types];
  expect(await workgraph(args, { WORKGRAPH_TOKEN: 'wg_none' })).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: told,
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
