import { beforeAll, expect, it } from '@jest/globals';
import { type EventType, eventTypes, events } from '../../src/model/events.ts';
import type { MutationEvents } from '../../src/schema/builder/mutation.ts';
import { schema } from '../../src/schema/index.ts';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { put } from '../attachments/files.ts';
import { installAgent } from '../support/issue-world.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { changesOf, type LoggedChange, parentIdsOf } from './logged.ts';
import { recordUnmoved, unmovedChanges } from './unmoved-positions.ts';
import { uuidOf } from '../support/ids.ts';

const { app, world, ada } = useIssueWorld({ ownDatabase: true, settings: { WEBHOOK_NETWORKS: '127.0.0.1' } });
beforeAll(() => recordUnmoved(app.database));

type Input = Record<string, unknown>;

/** Creates what each mutation needs, and returns an input that it accepts and one that it refuses. */
const calls: Readonly<Record<string, () => Promise<{ accepted: Input; refused: Input }>>> = {
  issueCreate: async () => ({
    accepted: { teamId: world.eng.id, title: 'New', labelIds: [world.shared] },
    refused: { teamId: world.eng.id, title: '' },
  }),
  issueUpdate: async () => {
    const { key } = await newIssue();
    return { accepted: { key, title: 'Another' }, refused: { key, title: 'A', expectedRevision: 99 } };
  },
  issueBatchUpdate: async () => {
    const keys = [(await newIssue()).key, (await newIssue()).key];
    return {
      accepted: { keys, priority: 'HIGH' },
      refused: { keys: [...keys, 'ENG-9999'], priority: 'LOW' },
    };
  },
  issueDelete: async () => {
    const { key, id } = await newIssue();
    await ada.create({ teamId: world.eng.id, title: 'Sub-issue', parentIssueId: id });
    return { accepted: { key }, refused: { key: 'ENG-9999' } };
  },
  issueRestore: async () => {
    const { key, id } = await newIssue();
    await ada.create({ teamId: world.eng.id, title: 'Sub-issue', parentIssueId: id });
    await ada.mutate('issueDelete', { key });
    return { accepted: { key }, refused: { key: 'ENG-9999' } };
  },
  issueSubscribe: async () => ({ accepted: { key: (await newIssue()).key }, refused: { key: 'ENG-9999' } }),
  issueUnsubscribe: async () => ({ accepted: { key: (await newIssue()).key }, refused: { key: 'ENG-9999' } }),
  commentCreate: async () => {
    const { key } = await newIssue();
    return { accepted: { issueKey: key, body: 'Hello' }, refused: { issueKey: key, body: '' } };
  },
  commentUpdate: async () => {
    const { id } = await newComment();
    return { accepted: { id, body: 'Edited' }, refused: { id, body: 'Edited', expectedRevision: 99 } };
  },
  commentDelete: async () => {
    const { id } = await newComment();
    return { accepted: { id }, refused: { id, expectedRevision: 99 } };
  },
  issueLinkCreate: async () => {
    const { key: issueKey } = await newIssue();
    const link = { issueKey, url: 'https://example.com/', title: 'Example' };
    return { accepted: link, refused: { ...link, url: 'nothing' } };
  },
  issueLinkDelete: async () => {
    const { key: issueKey } = await newIssue();
    const link = { issueKey, url: 'https://example.com/', title: 'Example' };
    const { issueLink } = await ada.mutate('issueLinkCreate', link);
    return { accepted: { id: issueLink.id }, refused: { id: encodeId('link', newUuid()) } };
  },
  agentMessageCreate: async () => {
    await (agent ??= installAgent(app, world, world.agent));
    const { key: issueKey } = await newIssue();
    return { accepted: { issueKey, body: 'Please' }, refused: { issueKey, body: '' } };
  },
  attachmentCreate: async () => {
    const { key: issueKey } = await newIssue();
    const file = { issueKey, fileName: 'a.txt', contentType: 'text/plain', sizeBytes: 5 };
    return { accepted: file, refused: { ...file, fileName: '' } };
  },
  attachmentDelete: async () => {
    const { id, uploadUrl } = await createUpload();
    await put(uploadUrl, Buffer.from('12345'));
    return { accepted: { id }, refused: { id, expectedRevision: 99 } };
  },
  webhookCreate: async () => ({
    accepted: { url: 'https://example.com/' },
    refused: { url: 'https://10.0.0.1/' },
  }),
  webhookUpdate: async () => {
    const id = await newWebhook();
    return { accepted: { id, description: 'Another' }, refused: { id, expectedRevision: 99 } };
  },
  webhookDelete: async () => ({
    accepted: { id: await newWebhook() },
    refused: { id: encodeId('webhook', newUuid()) },
  }),
  webhookSecretRotate: async () => ({
    accepted: { id: await newWebhook() },
    refused: { id: encodeId('webhook', newUuid()) },
  }),
  webhookPing: async () => ({
    accepted: { id: await newWebhook() },
    refused: { id: encodeId('webhook', newUuid()) },
  }),
  webhookDeliveryRedeliver: async () => ({
    accepted: { webhookId: await newWebhook() },
    refused: { ids: [encodeId('whdelivery', newUuid())] },
  }),
  accessTokenCreate: async () => ({
    accepted: { name: 'a token', scopes: ['issues:read'] },
    refused: { name: '', scopes: ['issues:read'] },
  }),
  accessTokenRevoke: async () => {
    const { accessTokenCreate } = await succeed(
      'accessTokenCreate',
      {
        name: 'child',
        scopes: ['issues:read'],
      },
      'accessToken { id }',
    );
    const { accessToken } = accessTokenCreate as { accessToken: { id: string } };
    return { accepted: { id: accessToken.id }, refused: { id: encodeId('token', newUuid()) } };
  },
};

let agent: Promise<unknown> | undefined;

const newIssue = () => ada.create({ teamId: world.eng.id, title: 'An issue' });

async function newWebhook() {
  const data = await succeed('webhookCreate', { url: 'http://127.0.0.1:9/' }, 'webhook { id }');
  return (data.webhookCreate as { webhook: { id: string } }).webhook.id;
}

async function newComment() {
  const { key } = await newIssue();
  return (await ada.mutate('commentCreate', { issueKey: key, body: 'Hello' })).comment;
}

async function createUpload() {
  const { key: issueKey } = await newIssue();
  const file = { issueKey, fileName: 'a.txt', contentType: 'text/plain', sizeBytes: 5 };
  const { attachmentCreate } = await succeed('attachmentCreate', file, 'attachment { id } uploadUrl');
  const { attachment, uploadUrl } = attachmentCreate as { attachment: { id: string }; uploadUrl: string };
  return { id: attachment.id, uploadUrl };
}

async function send(name: string, input: Input, selection: string) {
  const type = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}Input`;
  const { body } = await app.graphql(
    `mutation ($input: ${type}!) { ${name}(input: $input) { ${selection} } }`,
    { input },
    {
      // Webhooks are for owners and admins.
      token: name.startsWith('webhook') ? app.token : world.ada.token,
      headers: { 'X-Request-Id': `of-${name}` },
    },
  );
  return body;
}

async function succeed(name: string, input: Input, selection = '__typename') {
  const { data, errors } = await send(name, input, selection);
  if (errors || !data) throw new Error(JSON.stringify(errors));
  return data;
}

const mutations = Object.values(schema.getMutationType()?.getFields() ?? {}).map(({ name, extensions }) => ({
  name,
  declared: extensions.events as MutationEvents,
}));

const typesOf = (changes: readonly LoggedChange[]) =>
  [...new Set(changes.map(({ eventType }) => eventType))].sort();
const changesIn = (work: () => Promise<unknown>) => changesOf(app.database, app.workspaceId, work);

it('every mutation of the schema is tried here', () => {
  expect(Object.keys(calls).sort()).toEqual(mutations.map(({ name }) => name).sort());
});

it.each(mutations)('$name logs exactly the events that it declares', async ({ name, declared }) => {
  const { accepted, refused } = (await calls[name]?.()) ?? { accepted: {}, refused: {} };
  const refusedChanges = await changesIn(async () => {
    const { errors } = await send(name, refused, '__typename');
    expect(errors).toHaveLength(1);
  });
  expect(refusedChanges).toEqual([]);
  const changes = await changesIn(() => succeed(name, accepted));
  const expected = 'none' in declared ? [] : [...declared].sort();
  expect(typesOf(changes)).toEqual(expected);
  for (const change of changes) {
    expect(change).toMatchObject({
      actorUserAccountId: world.ada.uuid,
      requestId: `of-${name}`,
      origin: 1,
      ...parentIdsOf(change.eventType, world.eng.uuid),
    });
  }
});

it('an equal link, an issue that is not deleted and a canceled upload log no events', async () => {
  const { key } = await newIssue();
  const link = { issueKey: key, url: 'https://example.com/', title: 'Example' };
  await ada.mutate('issueLinkCreate', link);
  const { id } = await createUpload();
  const changes = await changesIn(async () => {
    await ada.mutate('issueLinkCreate', link);
    await ada.mutate('issueRestore', { key });
    await succeed('attachmentDelete', { id });
  });
  expect(changes).toEqual([]);
});

it('an upload logs the event of its attachment', async () => {
  const { uploadUrl } = await createUpload();
  const changes = await changesIn(() => put(uploadUrl, Buffer.from('12345')));
  expect(typesOf(changes)).toEqual(['issue-attachment.created.v1']);
});

it('a change of fields logs the fields and their previous values', async () => {
  const { key } = await ada.create({
    teamId: world.eng.id,
    title: 'Old title',
    description: 'Old description',
    estimateValue: 3,
    labelIds: [world.shared],
  });
  const changes = await changesIn(async () => {
    await ada.update(key, { title: 'New title', description: 'New description', estimateValue: null });
    await ada.update(key, { labelIds: [], dueDate: '2026-01-31' });
  });
  expect(changes).toMatchObject([
    {
      fields: ['title', 'description', 'estimateValue'],
      previous: { title: 'Old title', description: null, estimateValue: 3 },
    },
    {
      fields: ['dueDate', 'labelIds'],
      previous: { dueDate: null, labelIds: [expect.stringMatching(/^[0-9a-f-]{36}$/)] },
    },
  ]);
});

it('several comments written by one statement are logged in their order', async () => {
  const { key } = await newIssue();
  const bodies = Array.from({ length: 20 }, (_, number) => `Comment ${number}`);
  const changes = await changesIn(() =>
    Promise.all(bodies.map((body) => ada.mutate('commentCreate', { issueKey: key, body }))),
  );
  expect(changes.map(({ sortOrder }) => sortOrder)).toEqual(bodies.map((_, index) => index + 2));
});

it('every event that needs issues:read is logged by a mutation, except those of uploads and imports', () => {
  const typesOfMutations = new Set(
    mutations.flatMap(({ declared }): EventType[] => ('none' in declared ? [] : [...declared])),
  );
  const loggedElsewhere = eventTypes.filter(
    (type) => !typesOfMutations.has(type) && events[type].scope === 'issues:read',
  );
  expect(loggedElsewhere).toEqual(['issue-attachment.created.v1', 'import.finished.v1']);
});

it('no mutation or upload changed what may be read without moving the position of the data', async () => {
  expect(await unmovedChanges(app.database)).toEqual([]);
  const { id } = await newComment();
  await app.database
    .of(app.workspaceId)
    .updateTable('comment')
    .set({ body: 'Past the service' })
    .where('id', '=', uuidOf(id))
    .execute();
  expect(await unmovedChanges(app.database)).toEqual(['UPDATE comment']);
});
