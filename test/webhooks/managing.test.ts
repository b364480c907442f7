import { describe, expect, it } from '@jest/globals';
import { limits } from '../../src/model/limits.ts';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { storeWebhook } from '../support/stored-webhook.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { webhookCalls } from './calls.ts';

const { app, world } = useIssueWorld({ ownDatabase: true, settings: { WEBHOOK_NETWORKS: '127.0.0.1' } });

const webhooks = webhookCalls(app);
const url = 'https://hooks.example/in';

async function createWebhook(fields: Record<string, unknown> = {}) {
  const { webhook, secret } = await webhooks.call('webhookCreate', { url, ...fields });
  return { id: webhook.id, webhook, secret };
}

async function auditEntriesOf(id: string): Promise<unknown[]> {
  const { body } = await app.graphql<{ auditEntries: { nodes: unknown[] } }>(
    `query ($id: String) { auditEntries(filter: { subjectId: { eq: $id } }, orderBy: { field: OCCURRED, direction: ASC })
      { nodes { act subjectName changes { field before after } } } }`,
    { id },
  );
  return body.data?.auditEntries.nodes ?? [];
}

describe('webhookCreate', () => {
  it('shows the secret once, and stores it encrypted', async () => {
    const { id, webhook, secret } = await createWebhook({ description: 'For the dashboard.' });
    expect(secret).toMatch(/^whsec_[\w+/]{43}=$/);
    expect(webhook).toMatchObject({
      url,
      description: 'For the dashboard.',
      state: 'ACTIVE',
      revision: 1,
      backlog: 0,
    });
    const shown = JSON.stringify([await webhooks.read(id), await auditEntriesOf(id)]);
    expect(shown).not.toContain(secret.slice('whsec_'.length, -1));
    const row = await app.database
      .of(app.workspaceId)
      .selectFrom('webhook')
      .selectAll()
      .executeTakeFirstOrThrow();
    const bytes = Buffer.from(secret.slice('whsec_'.length), 'base64');
    expect(row.secret.includes(bytes)).toBe(false);
    expect(await auditEntriesOf(id)).toMatchObject([
      { act: 'webhook.created', subjectName: 'hooks.example' },
    ]);
  });

  it.each([
    ['http to a public host', { url: 'http://93.184.215.14/' }, ['url']],
    ['an address that is not public', { url: 'https://192.168.1.1/' }, ['url']],
    ['a user name', { url: 'https://me@hooks.example/' }, ['url']],
    ['a URL that is too long', { url: `https://hooks.example/${'a'.repeat(limits.url)}` }, ['url']],
    ['an unknown event', { url, eventTypes: ['issue.sung.v1'] }, ['eventTypes']],
    ['a team that is not there', { url, teamId: encodeId('team', newUuid()) }, ['teamId']],
    ['an id of something else', { url, teamId: encodeId('issue', newUuid()) }, ['teamId']],
    ['a long description', { url, description: 'a'.repeat(1_001) }, ['description']],
  ])('refuses %s', async (_what, input, fields) => {
    const { id } = await createWebhook();
    const refusal = { code: 'VALIDATION_FAILED', fields };
    expect(await webhooks.refusalOf('webhookCreate', input)).toMatchObject(refusal);
    expect(await webhooks.refusalOf('webhookUpdate', { ...input, id })).toMatchObject(refusal);
  });

  it('enforces the limit of a workspace, even for concurrent requests', async () => {
    const other = await app.secondWorkspace();
    const otherWebhooks = webhookCalls(app, { token: other.token });
    const all = await Promise.allSettled(
      Array.from({ length: limits.webhooks + 3 }, () => otherWebhooks.call('webhookCreate', { url })),
    );
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(limits.webhooks);
    expect(await otherWebhooks.refusalOf('webhookCreate', { url })).toMatchObject({ code: 'CONFLICT' });
  });

  it('permits only owners and admins whose token may read issues', async () => {
    const member = webhookCalls(app, { token: world.ada.token });
    expect(await member.refusalOf('webhookCreate', { url })).toMatchObject({ code: 'FORBIDDEN' });
    await expect(member.read(encodeId('webhook', newUuid()))).rejects.toThrow('Only owners and admins');
    const admin = await app.tokenFor({ role: 'admin', scopes: ['workspace:admin'] });
    expect(await webhookCalls(app, { token: admin }).refusalOf('webhookCreate', { url })).toMatchObject({
      code: 'VALIDATION_FAILED',
      message: expect.stringContaining('issues:read'),
    });
    const narrow = await app.tokenFor({ role: 'admin', scopes: ['workspace:admin', 'issues:read'] });
    expect(
      await webhookCalls(app, { token: narrow }).refusalOf('webhookCreate', {
        url,
        eventTypes: ['member.updated.v1'],
      }),
    ).toMatchObject({ code: 'VALIDATION_FAILED', fields: ['eventTypes'] });
  });

  it('refuses an Idempotency-Key, because its answer contains a secret', async () => {
    const keyed = webhookCalls(app, { headers: { 'Idempotency-Key': 'k1' } });
    expect((await keyed.refusalOf('webhookCreate', { url })).message).toContain('secret');
  });
});

describe('a webhook', () => {
  it('is updated in the given fields, and then reads with the rights of the member who changed it', async () => {
    const { id } = await createWebhook({ eventTypes: ['issue.created.v1'], teamId: world.eng.id });
    const admin = await app.tokenFor({ role: 'admin', scopes: ['workspace:admin', 'issues:read'] });
    const { webhook } = await webhookCalls(app, { token: admin }).call('webhookUpdate', {
      id,
      teamId: null,
      state: 'DISABLED',
      expectedRevision: 1,
    });
    expect(webhook).toMatchObject({
      eventTypes: ['issue.created.v1'],
      teamId: null,
      state: 'DISABLED',
      disabledReason: null,
      revision: 2,
    });
    expect(new Set(webhook.scopes as string[])).toEqual(new Set(['workspace:admin', 'issues:read']));
    expect(await auditEntriesOf(id)).toMatchObject([
      {},
      {
        act: 'webhook.updated',
        changes: expect.arrayContaining([{ field: 'state', before: 'active', after: 'disabled' }]),
      },
    ]);
  });

  it('sends no messages made with more scopes after a change by a token with fewer', async () => {
    const db = app.database.of(app.workspaceId);
    const { webhookId, deliveryId } = await storeWebhook(db, app.ownerUserAccountId);
    const id = encodeId('webhook', webhookId);
    await db
      .updateTable('webhookDelivery')
      .set({ eventType: 'member.updated.v1', state: 1, finishedUtc: null, nextAttemptUtc: new Date() })
      .where('id', '=', deliveryId)
      .execute();
    const token = await app.tokenFor({ role: 'admin', scopes: ['workspace:admin', 'issues:read'] });
    const narrow = webhookCalls(app, { token });
    await narrow.call('webhookUpdate', { id, description: 'Mine now.' });
    expect(await narrow.deliveries(id)).toMatchObject([
      { state: 'FAILED', nextAttemptUtc: null, body: null },
    ]);
    await webhooks.call('webhookDeliveryRedeliver', { ids: [encodeId('whdelivery', deliveryId)] });
    expect(await webhooks.deliveries(id)).toMatchObject([{ state: 'FAILED', body: '{}' }]);
  });

  it('refuses a wrong expected revision, and the state that only the service sets', async () => {
    const { id } = await createWebhook();
    for (const name of ['webhookUpdate', 'webhookDelete', 'webhookSecretRotate'] as const)
      expect(await webhooks.refusalOf(name, { id, expectedRevision: 7 })).toMatchObject({
        code: 'PRECONDITION_FAILED',
      });
    expect(await webhooks.refusalOf('webhookUpdate', { id, state: 'BACKING_OFF' })).toMatchObject({
      fields: ['state'],
    });
  });

  it('cannot be read after its deletion', async () => {
    const { id } = await createWebhook();
    await webhooks.call('webhookDelete', { id });
    expect(await webhooks.read(id)).toBeUndefined();
    for (const name of ['webhookUpdate', 'webhookDelete', 'webhookSecretRotate', 'webhookPing'] as const)
      expect(await webhooks.refusalOf(name, { id })).toMatchObject({ code: 'NOT_FOUND' });
    const node = await app.graphql<{ node: unknown }>('query ($id: ID!) { node(id: $id) { id } }', { id });
    expect(node.body.data?.node).toBeNull();
  });

  it('of another workspace does not exist', async () => {
    const { id } = await createWebhook();
    const { token } = await app.secondWorkspace();
    expect(await webhookCalls(app, { token }).refusalOf('webhookUpdate', { id })).toMatchObject({
      code: 'NOT_FOUND',
    });
    expect(await webhookCalls(app, { token }).read(id)).toBeUndefined();
  });
});

describe('webhookPing', () => {
  it('returns the reason of a failure', async () => {
    const { id } = await createWebhook({ url: 'http://127.0.0.1:9/' });
    expect(await webhooks.call('webhookPing', { id })).toMatchObject({
      isReceived: false,
      status: null,
      error: 'The connection was refused.',
      head: '',
    });
  });
});

describe('webhookDeliveryRedeliver', () => {
  it.each([
    ['nothing', {}, ['ids']],
    ['no ids', { ids: [] }, ['ids']],
    ['an id of something else', { ids: [encodeId('issue', newUuid())] }, ['ids']],
    ['another state', { webhookId: encodeId('webhook', newUuid()), state: 'WAITING' }, ['state']],
  ])('refuses %s', async (_what, input, fields) => {
    expect(await webhooks.refusalOf('webhookDeliveryRedeliver', input)).toMatchObject({
      code: 'VALIDATION_FAILED',
      fields,
    });
  });

  it('refuses a webhook that does not exist', async () => {
    const webhookId = encodeId('webhook', newUuid());
    expect(await webhooks.refusalOf('webhookDeliveryRedeliver', { webhookId })).toMatchObject({
      code: 'NOT_FOUND',
      message: 'There is no such webhook.',
    });
  });

  it('sends only those deliveries again that meet all conditions', async () => {
    const db = app.database.of(app.workspaceId);
    const { webhookId, deliveryId } = await storeWebhook(db, app.ownerUserAccountId);
    const { webhookId: otherId } = await storeWebhook(db, app.ownerUserAccountId);
    const ids = [encodeId('whdelivery', deliveryId)];
    for (const condition of [
      { state: 'FAILED' },
      { sinceUtc: '9999-01-01T00:00:00Z' },
      { webhookId: encodeId('webhook', otherId) },
    ]) {
      expect(await webhooks.refusalOf('webhookDeliveryRedeliver', { ids, ...condition })).toMatchObject({
        code: 'NOT_FOUND',
        message: 'There are no such webhook deliveries.',
      });
    }
    const met = { webhookId: encodeId('webhook', webhookId), sinceUtc: '2000-01-01T00:00:00Z' };
    expect(await webhooks.call('webhookDeliveryRedeliver', { ids, ...met })).toEqual({ count: 1 });
  });
});
