import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { listenAndForward } from '../../src/cli/webhooks-listen.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { eventually } from '../support/eventually.ts';
import { workgraph } from '../cli/workgraph.ts';
import { startReceiver } from './receiver.ts';

const { app, world, ada } = useIssueWorld({ ownDatabase: true });

/** Listens until the returned function is called, which returns the output. */
function listening(forwardTo: string, events: string[] = []) {
  const stop = new AbortController();
  const printed: Record<string, unknown>[] = [];
  const stateFile = join(app.dataDir, 'listen.json');
  const options = { server: app.url, token: app.token, forwardTo, events, stateFile, isJson: true };
  const done = listenAndForward(options, {
    stdout: (text) => printed.push(JSON.parse(text) as Record<string, unknown>),
    signal: stop.signal,
  });
  return {
    printed,
    stateFile,
    stop: async () => {
      stop.abort();
      await done;
    },
  };
}

const cursorIn = (file: string) => (JSON.parse(readFileSync(file, 'utf8')) as { cursor?: string }).cursor;

it('webhooks listen forwards signed changes, and continues where it stopped with the same secret', async () => {
  const receiver = await startReceiver();
  const first = listening(receiver.url);
  await eventually(() =>
    Promise.resolve(first.printed.length > 0 && cursorIn(first.stateFile) !== undefined),
  );
  const secret = String(first.printed[0]?.secret);
  const { key } = await ada.create({ teamId: world.eng.id, title: 'One' });
  const [created] = await receiver.until(1);
  expect(
    new Webhook(secret).verify(created?.text ?? '', created?.headers as Record<string, string>),
  ).toMatchObject({
    type: 'issue.created.v1',
    data: { issue: { key }, change: { issueKey: key } },
  });
  await eventually(() => Promise.resolve(first.printed.length === 2));
  expect(first.printed[1]).toMatchObject({ eventType: 'issue.created.v1', issueKey: key, status: 204 });
  await first.stop();
  expect(statSync(first.stateFile).mode & 0o777).toBe(0o600);

  await ada.mutate('commentCreate', { issueKey: key, body: 'Meanwhile.' });
  const second = listening(receiver.url);
  const [, commented] = await receiver.until(2);
  expect(second.printed[0]).toMatchObject({ secret });
  expect(commented).toMatchObject({
    type: 'issue-comment.created.v1',
    data: { issue: { key }, comment: { body: expect.anything() } },
  });
  await second.stop();
  receiver.close();
});

it('webhooks listen says why the server refuses', async () => {
  const options = { server: app.url, forwardTo: 'http://127.0.0.1:9/', events: [], isJson: true };
  const stateFile = join(app.dataDir, 'refused.json');
  const listen = listenAndForward(
    { ...options, token: 'wg_none', stateFile },
    { stdout: () => undefined, signal: new AbortController().signal },
  );
  await expect(listen).rejects.toThrow('The server answers 401');
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
