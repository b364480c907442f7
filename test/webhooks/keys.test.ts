import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { replaceSecrets } from '../../src/db/webhook-secrets.ts';
import type { WebhookRow } from '../../src/db/webhooks.ts';
import { newUuid } from '../../src/resolvers/ids.ts';
import { choresOf, tidy } from '../../src/server/janitor.ts';
import { Webhooks } from '../../src/server/webhooks.ts';
import { readConfig } from '../../src/server/config.ts';
import { uuidOf } from '../support/ids.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { webhookCalls } from './calls.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const oldKey = 'o'.repeat(32);
const newKey = 'n'.repeat(32);
const { app } = useIssueWorld({
  ownDatabase: true,
  settings: { WEBHOOK_NETWORKS: '127.0.0.1', SIGNING_KEYS: oldKey },
});
const webhooks = webhookCalls(app);

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());
beforeEach(() => app.database.unscoped.deleteFrom('webhook').execute());

const servers: Webhooks[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

/** The webhooks of a server with these keys. */
function serverWith(...keys: string[]): Webhooks {
  const server = new Webhooks(
    readConfig({ WEBHOOK_NETWORKS: '127.0.0.1', SIGNING_KEYS: keys.join(',') }, {}),
  );
  servers.push(server);
  return server;
}

/** Runs the chores of a server's janitor once, and returns what it logs about secrets. */
async function runJanitor(server: Webhooks): Promise<unknown[]> {
  const logged: unknown[] = [];
  const log = (fields: unknown, message?: string) => logged.push([fields, message]);
  const { database, store } = app;
  const chores = choresOf({ database, store, changesDays: 7, additionalChores: server.choresOf(database) });
  await tidy(chores, { info: log, warn: log });
  return logged.filter((line) => JSON.stringify(line).includes('secrets'));
}

async function rowOf(id: string): Promise<WebhookRow> {
  const rows = app.database.of(app.workspaceId).selectFrom('webhook').selectAll();
  return rows.where('id', '=', uuidOf(id)).executeTakeFirstOrThrow();
}

/** Makes a server send a message, and expects signatures with all of the secrets. */
async function expectSigned(server: Webhooks, id: string, secrets: readonly string[]): Promise<void> {
  const count = receiver.messages.length;
  const body = '{"type":"issue.created.v1","data":{}}';
  const answer = await server.sending.send(await rowOf(id), { id: newUuid(), body }, 5_000);
  expect(answer).toMatchObject({ status: 204, error: null });
  const { headers } = receiver.messages[count] ?? {};
  for (const secret of secrets)
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body));
}

const expectedLog = (done: number) => [
  [{ done }, 'the janitor is done with webhook secrets under other keys than the first'],
];

it('the janitor encrypts secrets with the first key, so that the old key may be taken out', async () => {
  const { webhook, secret } = await webhooks.call('webhookCreate', { url: receiver.url });
  const { id } = webhook;
  const { secret: next } = await webhooks.call('webhookSecretRotate', { id });
  const { webhook: single } = await webhooks.call('webhookCreate', { url: receiver.url });
  const before = await rowOf(id);
  expect(await runJanitor(serverWith(newKey, oldKey))).toEqual(expectedLog(2));
  expect(await runJanitor(serverWith(newKey, oldKey))).toEqual([]);
  await expectSigned(serverWith(newKey), id, [secret, next]);
  const { secret: _secret, previousSecret: _previous, ...rest } = before;
  expect(await rowOf(id)).toMatchObject(rest);
  expect((await rowOf(single.id)).previousSecret).toBeNull();
});

it('a server on which the old key is still the first reads what the others have encrypted, and may undo it', async () => {
  const { webhook, secret } = await webhooks.call('webhookCreate', { url: receiver.url });
  await runJanitor(serverWith(newKey, oldKey));
  await expectSigned(serverWith(oldKey, newKey), webhook.id, [secret]);
  expect(await runJanitor(serverWith(oldKey, newKey))).toEqual(expectedLog(1));
  await expectSigned(serverWith(newKey, oldKey), webhook.id, [secret]);
  expect(await runJanitor(serverWith(newKey, oldKey))).toEqual(expectedLog(1));
  await expectSigned(serverWith(newKey), webhook.id, [secret]);
});

it('a secret that no key decrypts is left alone, and the others are encrypted', async () => {
  const { webhook: lost } = await webhooks.call('webhookCreate', { url: receiver.url });
  await runJanitor(serverWith(newKey, oldKey));
  const { webhook, secret } = await webhooks.call('webhookCreate', { url: receiver.url });
  const third = 't'.repeat(32);
  const before = await rowOf(lost.id);
  expect(await runJanitor(serverWith(third, oldKey))).toEqual(expectedLog(1));
  expect(await rowOf(lost.id)).toEqual(before);
  await expectSigned(serverWith(third), webhook.id, [secret]);
  const answer = await serverWith(third).sending.send(before, { id: newUuid(), body: '{}' }, 5_000);
  expect(answer).toMatchObject({
    status: null,
    error:
      'None of the keys decrypts the secret: add the key that encrypted it to SIGNING_KEYS again, or rotate the secret.',
  });
});

it('a secret that a member changes meanwhile is not overwritten', async () => {
  const { webhook } = await webhooks.call('webhookCreate', { url: receiver.url });
  const read = await rowOf(webhook.id);
  const { secrets } = serverWith(newKey, oldKey).sending;
  const secret = secrets.reencrypted(read.secret, read.id);
  const { secret: next } = await webhooks.call('webhookSecretRotate', { id: webhook.id });
  const changed = await rowOf(webhook.id);
  const db = app.database.of(app.workspaceId);
  expect(await replaceSecrets(db, read, { secret, previousSecret: null })).toBe(false);
  expect(await rowOf(webhook.id)).toEqual(changed);
  await runJanitor(serverWith(newKey, oldKey));
  await expectSigned(serverWith(newKey), webhook.id, [next]);
});

it('the janitor of a server with one key looks for no secrets', () => {
  expect(serverWith(oldKey).choresOf(app.database)).toEqual([]);
  expect(new Webhooks({}).choresOf(app.database)).toEqual([]);
});
