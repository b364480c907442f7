import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { codeBlocks, importExample } from '../live/page-code.ts';
import { type App, startApp } from '../support/app.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const run = promisify(execFile);
const page = 'webhooks.md';

let app: App;
let receiver: Receiver;
beforeAll(async () => {
  app = await startApp({ demo: true, settings: { WEBHOOK_NETWORKS: '127.0.0.1' } });
  receiver = await startReceiver();
});
afterAll(async () => {
  receiver.close();
  await app.stop();
});

interface Answered {
  secret?: string;
  webhook?: Record<string, unknown> & { id: string };
}

it('the server answers each command of docs/webhooks.md as the page says, and a receiver verifies as it says', async () => {
  const names: Record<string, string> = { URL: app.url, TOKEN: app.token, HOOK: receiver.url };
  const commands = codeBlocks('sh', page);
  expect(commands).toHaveLength(5);
  const [shown = '', message = ''] = codeBlocks('json', page);
  let secret = '';
  for (const command of commands) {
    const expected = Number(/^# (\d+)$/m.exec(command)?.[1]);
    // Makes curl print the status after the body.
    const printed = command.replace('curl -s', "curl -s -w '\\n%{http_code}'");
    const { stdout } = await run('sh', ['-ec', printed], { env: { ...process.env, ...names } });
    const status = Number(stdout.slice(stdout.lastIndexOf('\n') + 1));
    expect([command, status]).toEqual([command, expected]);
    const answer = JSON.parse(stdout.slice(0, stdout.lastIndexOf('\n'))) as Answered;
    if (answer.webhook && !names.WEBHOOK) {
      names.WEBHOOK = answer.webhook.id;
      const example = JSON.parse(shown) as Required<Answered>;
      expect(Object.keys(answer)).toEqual(Object.keys(example));
      expect(Object.keys(answer.webhook)).toEqual(expect.arrayContaining(Object.keys(example.webhook)));
    }
    secret = answer.secret ?? secret;
  }
  await app.request('POST', '/v1/issues/WEB-63/comments', { body: { body: 'Said.' } });
  const [received] = await receiver.until(
    1,
    ({ type, headers }) =>
      type === 'issue-comment.created.v1' && headers['x-workgraph-webhook'] === names.WEBHOOK,
  );
  process.env.WEBHOOK_SECRET = secret;
  const verified = await importExample<(body: string, headers: unknown) => unknown>(
    'verified',
    { Webhook },
    page,
  );
  expect(verified(received?.text ?? '', received?.headers)).toEqual(JSON.parse(received?.text ?? ''));
  const example = JSON.parse(message) as { data: Record<string, object> };
  for (const [name, fields] of Object.entries(example.data))
    expect(Object.keys(received?.data[name] as object)).toEqual(expect.arrayContaining(Object.keys(fields)));
});

it('the server answers the query of the page', async () => {
  const [query = ''] = codeBlocks('graphql', page);
  expect((await app.graphql(query)).body.errors).toBeUndefined();
});

it('the function of the page adds a webhook, whose ping the receiver gets', async () => {
  const addWebhook = await importExample<
    (server: string, token: string, hook: string) => Promise<{ id: string; secret: string }>
  >('addWebhook', {}, page);
  const added = await addWebhook(app.url, app.token, receiver.url);
  expect(added).toMatchObject({ secret: expect.stringMatching(/^whsec_/), isReceived: true });
  const [ping] = await receiver.until(
    1,
    ({ type, headers }) => type === 'webhook.ping.v1' && headers['x-workgraph-webhook'] === added.id,
  );
  expect(() => new Webhook(added.secret).verify(ping?.text ?? '', ping?.headers as never)).not.toThrow();
});
