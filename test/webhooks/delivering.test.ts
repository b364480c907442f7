import { newUuid } from '../../src/resolvers/ids.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { resetChanges } from '../../src/resolvers/changes/changes-reset.ts';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { numberAllChanges } from '../live/logged.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { webhookCalls } from './calls.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { eventually } from '../support/eventually.ts';

const { app, world, ada } = useIssueWorld({ ownDatabase: true, settings: { WEBHOOK_NETWORKS: '127.0.0.1' } });

const webhooks = webhookCalls(app);
const created: { receiver: Receiver; id: string }[] = [];
afterEach(async () => {
  for (const { receiver, id } of created.splice(0)) {
    await webhooks.call('webhookDelete', { id });
    receiver.close();
  }
});

async function createWebhook(fields: Record<string, unknown> = {}) {
  const receiver = await startReceiver();
  // A change that gets its position only after the webhook was created would be sent to it.
  await numberAllChanges(app.database);
  const { webhook, secret } = await webhooks.call('webhookCreate', { url: receiver.url, ...fields });
  created.push({ receiver, id: webhook.id });
  return { receiver, id: webhook.id, secret };
}

const newIssue = (title = 'An issue') => ada.create({ teamId: world.eng.id, title });

describe('the deliverer', () => {
  it('sends each change in order, signed, with the issue and the comment', async () => {
    const { receiver, id, secret } = await createWebhook();
    const issue = await newIssue('Grüße 🦉');
    await ada.mutate('commentCreate', { issueKey: issue.key, body: 'Said.' });
    await ada.update(issue.key, { title: 'Another' });
    const messages = await receiver.until(3);
    expect(messages.map(({ type }) => type)).toEqual([
      'issue.created.v1',
      'issue-comment.created.v1',
      'issue.updated.v1',
    ]);
    for (const { text, headers, data } of messages) {
      const verified = new Webhook(secret).verify(text, headers as Record<string, string>);
      expect(verified).toMatchObject({ data: { issue: { id: issue.id } } });
      expect(headers).toMatchObject({
        'x-workgraph-webhook': id,
        'content-type': 'application/json; charset=utf-8',
      });
      expect(headers['webhook-id']).toBe((data.change as { id: string }).id);
    }
    expect(messages[1]?.data).toMatchObject({ comment: { body: { content: expect.anything() } } });
    await eventually(async () => (await webhooks.read(id))?.waitingCount === 0);
    const deliveries = await webhooks.deliveries(id);
    expect(deliveries).toHaveLength(3);
    expect(deliveries[0]).toMatchObject({
      state: 'DELIVERED',
      attemptCount: 1,
      attempts: [{ status: 204, error: null }],
      nextAttemptUtc: null,
      body: messages[2]?.text,
    });
    expect(await webhooks.read(id)).toMatchObject({ state: 'ACTIVE', backlog: 0, failures: 0 });
  });

  it('sends only the chosen events of the chosen team', async () => {
    const { receiver } = await createWebhook({ eventTypes: ['issue-comment.created.v1'] });
    const { receiver: teamReceiver } = await createWebhook({ teamId: world.eng.id });
    const { key } = await newIssue();
    await ada.mutate('commentCreate', { issueKey: key, body: 'Said.' });
    await ada.create({ teamId: world.ops.id, title: 'Of another team' });
    const last = await newIssue();
    await ada.mutate('commentCreate', { issueKey: last.key, body: 'The last.' });
    const comments = await receiver.until(2);
    expect(comments.map(({ type }) => type)).toEqual([
      'issue-comment.created.v1',
      'issue-comment.created.v1',
    ]);
    const messages = await teamReceiver.until(4);
    expect(new Set(messages.map(({ data }) => (data.change as { teamId: string }).teamId))).toEqual(
      new Set([world.eng.id]),
    );
  });

  it('retries a message with the same id and body until it is accepted, and keeps the order within the issue', async () => {
    const { receiver, id } = await createWebhook();
    let failing = true;
    receiver.answer(() => (failing ? { status: 500, body: 'not now' } : { status: 200 }));
    const { key, id: issueId } = await newIssue();
    await receiver.until(1);
    await ada.mutate('commentCreate', { issueKey: key, body: 'Said.' });
    const other = await newIssue();
    await receiver.until(1, ({ data }) => (data.issue as { id: string }).id === other.id);
    await eventually(async () => (await webhooks.deliveries(id, { state: { eq: 'WAITING' } })).length === 3);
    failing = false;
    await webhooks.call('webhookPing', { id });
    await retryNow(id);
    const ofIssue = await receiver.until(
      3,
      ({ data }) => (data.issue as { id: string } | undefined)?.id === issueId,
    );
    expect(ofIssue.map(({ type, status }) => [type, status])).toEqual([
      ['issue.created.v1', 500],
      ['issue.created.v1', 200],
      ['issue-comment.created.v1', 200],
    ]);
    expect(ofIssue[1]).toMatchObject({ id: ofIssue[0]?.id, text: ofIssue[0]?.text });
    await eventually(async () => (await webhooks.read(id))?.waitingCount === 0);
    const [, comment, created] = await webhooks.deliveries(id);
    expect(comment).toMatchObject({ attemptCount: 1 });
    expect(created).toMatchObject({
      attempts: [
        { status: 500, head: 'not now' },
        { status: 200, head: '' },
      ],
    });
  });

  it('signs with both secrets after a rotation', async () => {
    const { receiver, id, secret: before } = await createWebhook();
    const { secret: after, webhook } = await webhooks.call('webhookSecretRotate', { id });
    expect(after).not.toBe(before);
    expect(webhook.previousSecretUntilUtc).not.toBeNull();
    await newIssue();
    const [message] = await receiver.until(1);
    for (const secret of [before, after]) {
      new Webhook(secret).verify(message?.text ?? '', message?.headers as Record<string, string>);
    }
    expect(message?.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
  });

  it('disables a webhook at once when the receiver is gone, with an event and an entry in the audit log', async () => {
    const { receiver, id } = await createWebhook();
    const { receiver: eventReceiver } = await createWebhook({ eventTypes: ['webhook.disabled.v1'] });
    receiver.answer(() => ({ status: 410 }));
    await newIssue();
    const [event] = await eventReceiver.until(1);
    expect(event?.data).toMatchObject({ change: { subjectId: id, origin: 'system' } });
    expect(await webhooks.read(id)).toMatchObject({
      state: 'DISABLED',
      disabledReason: 'The receiver answered 410 Gone.',
    });
    const { body } = await app.graphql<{ auditEntries: { nodes: unknown[] } }>(
      'query ($id: String) { auditEntries(filter: { subjectId: { eq: $id }, act: { eq: "webhook.disabled" } }) { nodes { actorKind } } }',
      { id },
    );
    expect(body.data?.auditEntries.nodes).toEqual([{ actorKind: 'SYSTEM' }]);
    receiver.answer(() => ({ status: 200 }));
    expect(await webhooks.call('webhookPing', { id })).toMatchObject({
      isReceived: true,
      status: 200,
      webhook: { state: 'ACTIVE', disabledReason: null },
    });
    await receiver.until(1, ({ type, status }) => type === 'issue.created.v1' && status === 200);
  });

  it('stops serving the webhook of a member who is no longer an admin', async () => {
    const token = await app.tokenFor({ role: 'admin' });
    const receiver = await startReceiver();
    const { webhook } = await webhookCalls(app, { token }).call('webhookCreate', { url: receiver.url });
    created.push({ receiver, id: webhook.id });
    await newIssue();
    await receiver.until(1);
    await app.database
      .of(app.workspaceId)
      .updateTable('member')
      .set({ role: 3 })
      .where('userAccountId', 'in', (eb) =>
        eb.selectFrom('webhook as w').select('w.userAccountId').where('w.url', '=', receiver.url),
      )
      .execute();
    await newIssue();
    await eventually(async () => (await webhooks.read(webhook.id))?.state === 'DISABLED');
    expect(receiver.messages).toHaveLength(1);
  });

  it('repeats deliveries on request', async () => {
    const { receiver, id } = await createWebhook();
    await newIssue();
    const [first] = await receiver.until(1);
    await eventually(async () => (await webhooks.read(id))?.waitingCount === 0);
    const [delivery] = await webhooks.deliveries(id);
    expect(await webhooks.call('webhookDeliveryRedeliver', { ids: [delivery?.id] })).toEqual({ count: 1 });
    const [, again] = await receiver.until(2);
    expect(again).toMatchObject({ id: first?.id, text: first?.text });
  });

  it('reports missing changes when the log does not go back to them', async () => {
    const { receiver, id } = await createWebhook();
    await app.database
      .of(app.workspaceId)
      .updateTable('webhook')
      .set({ tag: 1 })
      .where('url', '=', receiver.url)
      .execute();
    await newIssue();
    const [lost] = await receiver.until(1);
    expect(lost).toMatchObject({
      type: 'changes.lost.v1',
      data: { fromCursor: expect.stringMatching(/^c1-/), toCursor: expect.stringMatching(/^c1-/) },
    });
    await newIssue('After it');
    const [, next] = await receiver.until(2);
    expect(next?.type).toBe('issue.created.v1');
    expect(await webhooks.read(id)).toMatchObject({ state: 'ACTIVE' });
  });

  it('reports once that the log has started over, whenever the event gets its position', async () => {
    const { receiver } = await createWebhook();
    await newIssue();
    await receiver.until(1);
    await resetChanges(app.database, { id: app.workspaceId, name: 'Test' }, systemActor);
    const [, lost] = await receiver.until(2);
    expect(lost).toMatchObject({ type: 'changes.lost.v1', data: { fromCursor: expect.any(String) } });
    // A copy of the event that begins the new log. It gets its position now, as if the deliverer had noticed the new log before
    // the event had one.
    const log = app.database.of(app.workspaceId);
    const beginning = log
      .selectFrom('change')
      .select(['eventType', 'occurredUtc', 'subjectId', 'origin'])
      .where('eventType', '=', 'changes.lost.v1');
    await eventually(async () => (await beginning.executeTakeFirst()) !== undefined);
    const event = await beginning.executeTakeFirstOrThrow();
    await log
      .insertInto('changeInbox')
      .values({ ...event, changeId: newUuid() })
      .execute();
    await newIssue('After it');
    const [, , next] = await receiver.until(3);
    expect(next?.type).toBe('issue.created.v1');
  });
});

/** Makes waiting retries due at once. */
async function retryNow(id: string): Promise<void> {
  await webhooks.call('webhookUpdate', { id, state: 'DISABLED' });
  await webhooks.call('webhookUpdate', { id, state: 'ACTIVE' });
}
