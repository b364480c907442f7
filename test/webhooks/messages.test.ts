import { expect, it } from '@jest/globals';
import { printOpenApi } from '../../src/rest-compat/openapi.ts';
import { type OpenApi, schemaDifferences } from '../support/openapi.ts';
import { installAgent } from '../support/issue-world.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { webhookCalls } from './calls.ts';
import { startReceiver } from './receiver.ts';

const { app, world, ada } = useIssueWorld({ ownDatabase: true, settings: { WEBHOOK_NETWORKS: '127.0.0.1' } });
const { webhooks } = JSON.parse(printOpenApi()) as OpenApi & {
  webhooks: Record<
    string,
    { post: { requestBody: { content: { 'application/json': { schema: Record<string, unknown> } } } } }
  >;
};
const schemaOf = (name: string) => webhooks[name]?.post.requestBody.content['application/json'].schema ?? {};

it('messages match openapi.json', async () => {
  const receiver = await startReceiver();
  const { call } = webhookCalls(app);
  const { webhook } = await call('webhookCreate', { url: receiver.url });
  await installAgent(app, world, world.agent);
  const { key } = await ada.create({ teamId: world.eng.id, title: 'One', labelIds: [world.shared] });
  await ada.update(key, { description: 'Said.', estimateValue: 3 });
  await ada.mutate('commentCreate', { issueKey: key, body: 'Said.' });
  await ada.mutate('agentMessageCreate', { issueKey: key, body: 'Please.' });
  await ada.mutate('issueDelete', { key });
  await call('webhookPing', { id: webhook.id });
  const messages = await receiver.until(6);
  for (const { type, text } of messages) {
    const schema = schemaOf(type === 'webhook.ping.v1' ? 'ping' : 'change');
    expect([type, schemaDifferences(schema, JSON.parse(text))]).toEqual([type, []]);
  }
  const deleted = messages.find(({ type }) => type === 'issue.deleted.v1');
  expect(deleted?.data).toMatchObject({ issue: null, change: { issueKey: null } });
  receiver.close();
});

it('long texts are cut, and the message says so', async () => {
  const receiver = await startReceiver();
  await webhookCalls(app).call('webhookCreate', { url: receiver.url });
  const { key } = await ada.create({
    teamId: world.eng.id,
    title: 'Long',
    description: `${'a'.repeat(7_999)}🦉b`,
  });
  const [long] = await receiver.until(1);
  expect(long?.data).toMatchObject({ isTruncated: true, issue: { key, description: 'a'.repeat(7_999) } });
  const body = Array.from({ length: 200 }, () => '🦉'.repeat(200)).join('\n');
  await ada.mutate('commentCreate', { issueKey: key, body });
  const [, huge] = await receiver.until(2);
  expect(Object.keys(huge?.data ?? {})).toEqual(['change', 'isTruncated']);
  expect(huge?.data).toMatchObject({ isTruncated: true, change: { issueKey: key } });
  receiver.close();
});
