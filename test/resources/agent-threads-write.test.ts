import { beforeAll, describe, expect, it } from '@jest/globals';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { installAgent } from '../support/issue-world.ts';
import { type Caller, callerOf } from '../support/mutations.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';

const { app, world, ada } = useIssueWorld();

const create = () => ada.create({ teamId: world.eng.id, title: 'An issue' });

describe('agentMessageCreate without an installed agent', () => {
  it('refuses a message of a person with CONFLICT, and starts a thread with an agent that posts', async () => {
    const { key } = await create();
    expect(await ada.refusalOf('agentMessageCreate', { issueKey: key, body: 'Anybody?' })).toMatchObject({
      code: 'CONFLICT',
      message: 'No agent is installed in this workspace, so there is no agent to write to.',
    });
    const agent = callerOf(app, world.otherAgent.token);
    const { thread, message } = await agent.mutate('agentMessageCreate', {
      issueKey: key,
      body: 'Here I am',
    });
    const identity = {
      agentUserAccountId: world.otherAgent.id,
      applicationId: null,
      applicationInstallationId: null,
    };
    expect(thread).toMatchObject(identity);
    expect(message).toMatchObject({
      ...identity,
      authorType: 'AGENT',
      messageType: 'RESPONSE',
      turnNumber: 1,
    });
  });
});

describe('agentMessageCreate', () => {
  let installation: { id: string; applicationId: string };
  let agent: Caller;
  const post = (caller: Caller, issueKey: string, input: Record<string, unknown> = {}) =>
    caller.mutate('agentMessageCreate', { issueKey, body: 'A message', ...input });

  beforeAll(async () => {
    installation = await installAgent(app, world, world.agent);
    agent = callerOf(app, world.agent.token);
  });

  it('starts a thread with the installed agent, and adds an entry to the feed', async () => {
    const { key, id, updatedUtc } = await create();
    const followUpActions = [{ name: 'Go on', key: 'go-on', color: '#00f' }];
    const { message, thread, issue } = await post(ada, key, { body: 'Please \n fix\tthis', followUpActions });
    const identity = {
      agentUserAccountId: world.agent.id,
      applicationId: installation.applicationId,
      applicationInstallationId: installation.id,
      issueId: id,
    };
    expect(thread).toEqual({
      ...identity,
      id: expect.stringMatching(/^thread_/),
      status: 'PENDING',
      lastMessageAuthorType: 'USER',
      lastMessageType: 'PROMPT',
      currentTurnNumber: 1,
      lastCompletedTurnNumber: 0,
      messageCount: 1,
      lastMessagePreview: 'Please fix this',
      lastMessageUtc: issue.lastActivityUtc,
      startedUtc: issue.lastActivityUtc,
    });
    expect(message).toEqual({
      ...identity,
      id: expect.stringMatching(/^message_/),
      threadId: thread.id,
      authorUserAccountId: world.ada.id,
      authorType: 'USER',
      messageType: 'PROMPT',
      turnNumber: 1,
      body: 'Please \n fix\tthis',
      replyToMessageId: null,
      followUpActions,
      createdUtc: issue.lastActivityUtc,
    });
    expect(issue).toMatchObject({ updatedUtc, revision: 1 });
    expect(await ada.feed(key)).toMatchObject([
      { eventType: 'agent-message.created.v1', text: 'Ada Member wrote to the agent', iconCss: 'icon-robot' },
    ]);
  });

  it.each([
    ['THOUGHT', 'ACTIVE', 0],
    ['ACTION', 'ACTIVE', 0],
    ['ELICITATION', 'AWAITING_INPUT', 0],
    ['RESPONSE', 'COMPLETED', 1],
    ['ERROR', 'FAILED', 0],
    ['PROMPT', 'PENDING', 0],
  ])(
    'with a %s of the agent changes the thread to %s',
    async (messageType, status, lastCompletedTurnNumber) => {
      const { key } = await create();
      await post(ada, key);
      const { thread, message } = await post(agent, key, { messageType });
      expect(thread).toMatchObject({
        status,
        lastCompletedTurnNumber,
        lastMessageType: messageType,
        messageCount: 2,
      });
      expect(message).toMatchObject({ turnNumber: 1, authorType: 'AGENT' });
      expect((await post(ada, key)).thread).toMatchObject({ status: 'PENDING' });
    },
  );

  it('starts the next turn only when a person writes after a completed or failed turn', async () => {
    const { key } = await create();
    const turnOf = async (caller: Caller, input = {}) => (await post(caller, key, input)).message.turnNumber;
    expect(await turnOf(ada)).toBe(1);
    expect(await turnOf(ada)).toBe(1);
    expect(await turnOf(agent, { messageType: 'THOUGHT' })).toBe(1);
    expect(await turnOf(ada)).toBe(1);
    expect(await turnOf(agent)).toBe(1);
    expect(await turnOf(agent)).toBe(1);
    expect(await turnOf(ada)).toBe(2);
    expect(await turnOf(agent, { messageType: 'ERROR' })).toBe(2);
    expect(await turnOf(ada)).toBe(3);
    const late = await post(agent, key, { turnNumber: 2 });
    expect(late.thread).toMatchObject({
      currentTurnNumber: 3,
      lastCompletedTurnNumber: 2,
      status: 'COMPLETED',
    });
    const { thread } = await post(ada, key, { turnNumber: 4, messageType: 'RESPONSE' });
    expect(thread).toMatchObject({ currentTurnNumber: 4, lastCompletedTurnNumber: 2, status: 'PENDING' });
  });

  it('refuses a turn beyond the next one, so that the thread stays usable', async () => {
    const { key } = await create();
    await post(ada, key);
    const refused = (turnNumber: number) =>
      agent.violationsOf('agentMessageCreate', { issueKey: key, body: 'x', turnNumber });
    expect(await refused(2_147_483_647)).toEqual([
      'turnNumber: must be at most 2, the next turn of the thread',
    ]);
    expect(await refused(3)).toEqual(['turnNumber: must be at most 2, the next turn of the thread']);
    await post(agent, key, { turnNumber: 2 });
    expect((await post(ada, key)).thread).toMatchObject({ currentTurnNumber: 3, lastCompletedTurnNumber: 2 });
    const { key: fresh } = await create();
    expect(
      await ada.violationsOf('agentMessageCreate', { issueKey: fresh, body: 'x', turnNumber: 2 }),
    ).toEqual(['turnNumber: must be at most 1, the next turn of the thread']);
    expect((await post(ada, fresh, { turnNumber: 1 })).message).toMatchObject({ turnNumber: 1 });
  });

  it('has the author type SYSTEM when a service writes', async () => {
    const { key } = await create();
    const { message, thread } = await post(callerOf(app, world.service.token), key);
    expect(message).toMatchObject({
      authorType: 'SYSTEM',
      messageType: 'PROMPT',
      agentUserAccountId: world.agent.id,
    });
    expect(thread).toMatchObject({ lastMessageAuthorType: 'SYSTEM', status: 'PENDING' });
  });

  it('accepts a reply only to a message of the same thread', async () => {
    const { key } = await create();
    const first = { issueKey: key, body: 'x', replyToMessageId: encodeId('message', newUuid()) };
    const notOfThread = ['replyToMessageId: does not belong to the thread'];
    expect(await ada.violationsOf('agentMessageCreate', first)).toEqual(notOfThread);
    const { message } = await post(ada, key);
    expect((await post(agent, key, { replyToMessageId: message.id })).message).toMatchObject({
      replyToMessageId: message.id,
    });
    const other = await create();
    await post(ada, other.key);
    const elsewhere = { issueKey: other.key, body: 'x', replyToMessageId: message.id };
    expect(await ada.violationsOf('agentMessageCreate', elsewhere)).toEqual(notOfThread);
  });

  it('stores a one-line preview of the last message with 200 code points', async () => {
    const { key } = await create();
    const { thread } = await post(ada, key, { body: ` ${'🐞\n'.repeat(150)}` });
    expect(thread.lastMessagePreview).toBe('🐞 '.repeat(100));
  });

  it('reports all bad fields at once', async () => {
    const { key, id } = await create();
    const action = { name: 'Go', key: 'go', color: '' };
    expect(
      await ada.violationsOf('agentMessageCreate', {
        issueKey: key,
        body: '',
        turnNumber: -1,
        replyToMessageId: id,
        followUpActions: [
          { ...action, name: '' },
          { ...action, key: 'x'.repeat(256), color: 'x'.repeat(256) },
          ...Array.from({ length: 9 }, () => action),
        ],
      }),
    ).toEqual([
      'body: must not be empty',
      'turnNumber: must be a whole number from 0 to 2147483647',
      'followUpActions: must have at most 10 items',
      'followUpActions[0].name: must not be empty',
      'followUpActions[1].key: must have at most 255 characters',
      'followUpActions[1].color: must have at most 255 characters',
      'replyToMessageId: expected a message id, got an issue id',
    ]);
    expect(await ada.violationsOf('agentMessageCreate', { issueKey: key, body: 'x'.repeat(50_001) })).toEqual(
      ['body: must have at most 50000 characters'],
    );
  });

  it('refuses guests, and issues that do not exist', async () => {
    const { key } = await create();
    const guest = callerOf(app, world.guest.token);
    expect(await guest.refusalOf('agentMessageCreate', { issueKey: key, body: 'x' })).toMatchObject({
      code: 'FORBIDDEN',
    });
    expect(await ada.refusalOf('agentMessageCreate', { issueKey: 'NOPE-1', body: 'x' })).toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});
