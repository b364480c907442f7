import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { schema } from '../../src/schema/index.ts';
import { objectType, selectionOf } from '../graph/schema-walk.ts';
import { startApp } from '../support/app.ts';
import { type KeyedWorld, keyedWorld, type TestObjects } from '../support/keyed-writes.ts';

let keyed: KeyedWorld;
beforeAll(async () => {
  keyed = await keyedWorld(await startApp({ sharesDatabase: true }));
});
afterAll(() => keyed.app.stop());

/** Every route that takes a key. */
const routes = routeTable.filter(({ parameters }) => Object.hasOwn(parameters, 'Idempotency-Key'));
const bodies: Readonly<Record<string, (objects: TestObjects) => Record<string, unknown>>> = {
  'POST /v1/issues': () => ({ title: 'New', teamId: keyed.world.eng.id, description: '“Ü”', priority: 1 }),
  'PATCH /v1/issues/{issueKey}': () => ({ title: 'Other', clearProject: true, priority: 3 }),
  'POST /v1/issues/{issueKey}/attachments': () => ({ fileName: 'b.txt', contentType: '', sizeBytes: 2 }),
  'POST /v1/issues/{issueKey}/links': () => ({ url: 'https://example.com/b', title: 'B' }),
  'POST /v1/issues/{issueKey}/comments': () => ({ body: 'Two\nlines.' }),
  'PATCH /v1/issues/{issueKey}/comments/{commentId}': () => ({ body: 'Better.' }),
  'POST /v1/issues/{issueKey}/agent-thread/messages': () => ({ body: 'Do it.' }),
  'PATCH /v1/webhooks/{webhookId}': () => ({ description: 'Other.' }),
};

/** Every mutation that takes a key. */
const mutations = Object.values(objectType('Mutation').getFields()).filter(
  ({ extensions }) => extensions['takesNoKey'] === undefined,
);
const inputs: Readonly<Record<string, (objects: TestObjects) => Record<string, unknown>>> = {
  issueCreate: () => ({ teamId: keyed.world.eng.id, title: 'New', labelIds: [keyed.world.eng.bug] }),
  issueUpdate: ({ key }) => ({ key, title: 'Other' }),
  issueBatchUpdate: ({ key }) => ({ keys: [key], priority: 'HIGH' }),
  issueDelete: ({ key }) => ({ key }),
  issueRestore: ({ deletedKey }) => ({ key: deletedKey }),
  issueSubscribe: ({ key }) => ({ key }),
  issueUnsubscribe: ({ key }) => ({ key }),
  commentCreate: ({ key }) => ({ issueKey: key, body: 'Said.' }),
  commentUpdate: ({ comment }) => ({ id: comment, body: 'Better.' }),
  commentDelete: ({ comment }) => ({ id: comment }),
  issueLinkCreate: ({ key }) => ({ issueKey: key, url: 'https://example.com/b', title: 'B' }),
  issueLinkDelete: ({ link }) => ({ id: link }),
  agentMessageCreate: ({ key }) => ({ issueKey: key, body: 'Do it.' }),
  attachmentCreate: ({ key }) => ({ issueKey: key, fileName: 'b', contentType: '', sizeBytes: 2 }),
  attachmentDelete: ({ attachment }) => ({ id: attachment }),
  accessTokenRevoke: ({ token }) => ({ id: token }),
  webhookUpdate: ({ webhook }) => ({ id: webhook, description: 'Other' }),
  webhookDelete: ({ webhook }) => ({ id: webhook }),
  webhookDeliveryRedeliver: ({ webhookDelivery }) => ({ ids: [webhookDelivery] }),
};

/** Appends to the first text of an input, or of a list in it, so that it is another request. */
function altered(input: Record<string, unknown>): Record<string, unknown> {
  const [name = '', value] = Object.entries(input)[0] ?? [];
  return { ...input, [name]: Array.isArray(value) ? value.map((each) => `${each}x`) : `${String(value)}x` };
}

function pathOf(path: string, { key, comment, link, webhook, webhookDelivery }: TestObjects): string {
  const parts: Record<string, string> = {
    issueKey: key,
    commentId: comment,
    linkId: link,
    webhookId: webhook,
    deliveryId: webhookDelivery,
  };
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => parts[name] ?? `no ${name}`);
}

/** Other webhooks, for a path that differs. */
const others = { webhook: encodeId('webhook', newUuid()) };

describe('on REST', () => {
  it.each(routes.map(({ method, path }) => [method, path]))(
    '%s %s is done once under a key, and answered as often as it is asked',
    async (method, path) => {
      const objects = await keyed.newObjects();
      const body = bodies[`${method} ${path}`]?.(objects);
      const takesBody = routes.find((route) => route.method === method && route.path === path)?.body;
      if (takesBody) expect(body).toBeDefined();
      const key = keyed.newKey();
      const first = await keyed.rest(method, pathOf(path, objects), key, body);
      expect([first.status < 300, first.headers.get('idempotency-replayed')]).toEqual([true, null]);
      const written = await keyed.tables();
      const again = await keyed.rest(method, pathOf(path, objects), key, body);
      expect(again).toMatchObject({ status: first.status, body: first.body });
      expect(again.headers.get('idempotency-replayed')).toBe('true');
      for (const name of ['content-type', 'etag', 'x-graphql-operation'])
        expect(again.headers.get(name)).toBe(first.headers.get(name));
      const other = body
        ? await keyed.rest(method, pathOf(path, objects), key, altered(body))
        : await keyed.rest(method, pathOf(path, { ...objects, ...others, key: objects.deletedKey }), key);
      expect(other).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
      expect(await keyed.tables()).toEqual(written);
    },
  );
});

describe('on the graph', () => {
  it.each(mutations.map(({ name }) => name))(
    '%s is done once under a key, and answered as often as it is asked',
    async (name) => {
      const objects = await keyed.newObjects();
      const input = inputs[name]?.(objects) ?? {};
      const { type, args } = objectType('Mutation').getFields()[name] ?? {};
      const selection = selectionOf(String(type).replaceAll(/\W/g, ''));
      const query = `mutation ($input: ${String(args?.[0]?.type)}) { ${name}(input: $input) { ${selection} } }`;
      const key = keyed.newKey();
      const first = await keyed.graph(query, { input }, key);
      expect([first.body.errors, first.headers.get('idempotency-replayed')]).toEqual([undefined, null]);
      const written = await keyed.tables();
      const again = await keyed.graph(query, { input }, key);
      expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body));
      expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true']);
      const other = await keyed.graph(query, { input: altered(input) }, key);
      expect(other.body.errors).toMatchObject([{ extensions: { code: 'IDEMPOTENCY_KEY_REUSED' } }]);
      expect(other.body).not.toHaveProperty('data');
      expect(await keyed.tables()).toEqual(written);
    },
  );

  it('lets no other token of the member repeat the revocation of a token, which it may not read', async () => {
    const { token: id } = await keyed.newObjects();
    const key = keyed.newKey();
    const query = 'mutation ($id: ID!) { accessTokenRevoke(input: { id: $id }) { accessToken { name } } }';
    const revoke = async (token?: string) => (await keyed.graph(query, { id }, key, token)).body;
    const first = await revoke();
    expect(first.errors).toBeUndefined();
    expect(await revoke()).toEqual(first);
    const sibling = await keyed.app.tokenFor();
    expect((await revoke(sibling)).errors).toMatchObject([
      { extensions: { code: 'IDEMPOTENCY_KEY_REUSED' } },
    ]);
  });

  it('refuses a key where the answer contains a secret, and says why', async () => {
    const refusing = Object.keys(schema.getMutationType()?.getFields() ?? {}).filter((name) => !inputs[name]);
    expect(refusing.toSorted()).toEqual([
      'accessTokenCreate',
      'webhookCreate',
      'webhookPing',
      'webhookSecretRotate',
    ]);
    const before = await keyed.tables();
    const query = 'mutation { accessTokenCreate(input: { name: "t", scopes: ["issues:read"] }) { token } }';
    const { body } = await keyed.graph(query, {}, keyed.newKey());
    expect(body.errors).toMatchObject([{ extensions: { code: 'INVALID_REQUEST' } }]);
    expect(body.errors?.[0]?.message).toMatch(/Idempotency-Key: is not taken by accessTokenCreate: .*secret/);
    expect(await keyed.tables()).toEqual(before);
  });
});

it('a write whose client disconnects and retries is done once', async () => {
  const { key: issue } = await keyed.newObjects();
  const key = keyed.newKey();
  const url = new URL(`/v1/issues/${issue}/comments`, keyed.app.url);
  const headers = {
    Authorization: `Bearer ${keyed.app.token}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': key,
  };
  const sent = request(url, { method: 'POST', headers });
  sent.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    sent.end('{"body":"Said."}', resolve);
  });
  sent.destroy();
  const again = () => keyed.rest('POST', url.pathname, key, { body: 'Said.' });
  let answer = await again();
  while (answer.status === 409) answer = await again();
  expect(answer.status).toBe(201);
  expect((await again()).body).toEqual(answer.body);
  const list = await keyed.app.request('GET', url.pathname);
  // The comment that existed before, and this one.
  expect(list.body).toMatchObject({ pagination: { totalCount: 2 } });
});
