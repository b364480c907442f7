import { describe, expect, it } from '@jest/globals';
import { installAgent } from '../support/issue-world.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { expectRefused } from './refusals.ts';
import { differences } from './specified-fields.ts';
import type { ListBody } from './walk.ts';

type Body = Record<string, unknown> & { id: string; key: string };

const { app, world } = useIssueWorld();

const send = (method: string, path: string, body?: unknown, token?: string) =>
  app.request<Body>(method, `/v1/issues/${path}`, { body, ...(token !== undefined && { token }) });

async function newIssue(fields: Record<string, unknown> = {}): Promise<Body> {
  const body = { teamId: world.eng.id, title: 'Title', description: '', priority: 0, ...fields };
  return (await app.request<Body>('POST', '/v1/issues', { body })).body;
}

const absent = '01h455vb4pex5vsknk084sn02q';

describe('DELETE /v1/issues/{issueKey}', () => {
  it('answers 204 without a body; afterwards every request for the issue is answered 404', async () => {
    const { key } = await newIssue();
    const deleted = await send('DELETE', key.toLowerCase());
    expect(deleted).toMatchObject({ status: 204, body: '' });
    expect(deleted.headers.get('content-type')).toBeNull();
    expect(deleted.headers.get('x-graphql-operation')).toBe('IssueDelete');
    const again = [
      ['DELETE', key],
      ['PATCH', key, { title: 'x' }],
      ['GET', key],
      ['GET', `${key}/comments`],
    ] as const;
    for (const [method, path, body] of again)
      expect(await send(method, path, body)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('ignores a body of any type', async () => {
    const { key } = await newIssue();
    const sent = { body: '{', headers: { 'Content-Type': 'text/plain' } };
    expect((await app.request('DELETE', `/v1/issues/${key}`, sent)).status).toBe(204);
  });

  it('is refused for guests, and finds no issue of another workspace', async () => {
    const { key } = await newIssue();
    expect(await send('DELETE', key, undefined, world.guest.token)).toMatchObject({ status: 403 });
    const second = await app.secondWorkspace();
    expect((await send('DELETE', key, undefined, second.token)).status).toBe(404);
    expect((await send('GET', key)).status).toBe(200);
  });

  it.each([
    'ENG-0',
    'ENG-01',
    'ENG-+1',
    'ENG',
    'ENG-1%20',
    'ENG-2147483648',
    'ENG-99999999999',
    'issue_01h455vb4pex5vsknk084sn02q',
  ])('%s is not a key', async (key) => {
    await newIssue();
    expect((await send('DELETE', key)).status).toBe(404);
  });
});

describe('links of an issue', () => {
  it('answers 201, then 200 with the same link for an equivalent one', async () => {
    const { key } = await newIssue();
    const first = await send('POST', `${key}/links`, { url: ' https://Example.com/a?b=1#c ', title: ' A ' });
    expect(first.status).toBe(201);
    expect(differences(first.body, 'Issue link')).toEqual([]);
    expect(first.body).toMatchObject({
      url: 'https://Example.com/a?b=1#c',
      title: 'A',
      linkId: first.body.id,
    });
    for (const url of ['https://example.com/a?b=1#c', 'HTTPS://EXAMPLE.COM:443/a?b=1#c'])
      expect(await send('POST', `${key}/links`, { url, title: 'Other' })).toMatchObject({
        status: 200,
        body: first.body,
      });
    expect(
      (await send('POST', `${key}/links`, { url: 'https://example.com/A?b=1#c', title: 'x' })).status,
    ).toBe(201);
    expect((await send('GET', key)).body).toMatchObject({ linkCount: 2 });
  });

  it('answers one 201 and seven 200 when the same link is added eight times at once', async () => {
    const { key } = await newIssue();
    const link = { url: 'https://example.com/', title: 'x' };
    const answers = await Promise.all(Array.from({ length: 8 }, () => send('POST', `${key}/links`, link)));
    expect(answers.map(({ status }) => `${status}`).toSorted()).toEqual([
      ...Array.from({ length: 7 }, () => '200'),
      '201',
    ]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  it.each([
    ['nothing', {}, ['url', 'title']],
    ['bad values of both', { url: 'nowhere', title: ' ' }, ['url', 'title']],
    ['another scheme', { url: 'ftp://example.com', title: 'x' }, ['url']],
    ['a script', { url: 'javascript:alert(1)', title: 'x' }, ['url']],
    ['a path', { url: '/a', title: 'x' }, ['url']],
    ['white space within', { url: 'https://example.com/a b', title: 'x' }, ['url']],
    ['a URL of 2,049 characters', { url: `https://example.com/${'x'.repeat(2_029)}`, title: 'x' }, ['url']],
    ['a title of 256 characters', { url: 'https://example.com', title: 'x'.repeat(256) }, ['title']],
    ['numbers', { url: 1, title: 2 }, ['url', 'title']],
  ])('refuses %s', async (_what, body, fields) => {
    expectRefused(await send('POST', `${(await newIssue()).key}/links`, body), fields);
  });

  it('deletes a link once, and only under its own issue', async () => {
    const { key } = await newIssue();
    const other = await newIssue();
    const { body } = await send('POST', `${key}/links`, { url: 'https://example.com', title: 'x' });
    expect((await send('DELETE', `${other.key}/links/${body.id}`)).status).toBe(404);
    expect(await send('DELETE', `${key}/links/${body.id}`)).toMatchObject({ status: 204, body: '' });
    for (const id of [body.id, `link_${absent}`, `comment_${absent}`, 'x'])
      expect(await send('DELETE', `${key}/links/${id}`)).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
  });
});

describe('one comment', () => {
  it('is read, changed and deleted only under its own issue', async () => {
    const [{ key }, other] = [await newIssue(), await newIssue()];
    const created = await send('POST', `${key}/comments`, { body: 'Said.' });
    const path = `comments/${created.body.id}`;
    expect(await send('GET', `${key}/${path}`)).toMatchObject({ status: 200, body: created.body });
    const changed = await send('PATCH', `${key}/${path}`, { body: 'Corrected.' });
    expect(changed).toMatchObject({
      status: 200,
      body: { isEdited: true, createdUtc: created.body['createdUtc'] },
    });
    expect(differences(changed.body, 'Comment')).toEqual([]);
    for (const [method, body] of [['GET'], ['PATCH', { body: 'x' }], ['DELETE']] as const)
      expect((await send(method, `${other.key}/${path}`, body)).status).toBe(404);
    expect(await send('DELETE', `${key}/${path}`)).toMatchObject({ status: 204, body: '' });
    for (const [method, body] of [['GET'], ['PATCH', { body: 'x' }], ['DELETE']] as const)
      expect((await send(method, `${key}/${path}`, body)).status).toBe(404);
  });

  it('is changed and deleted only by its author, owners and admins', async () => {
    const { key } = await newIssue();
    const { body } = await send('POST', `${key}/comments`, { body: 'Said.' }, world.ada.token);
    const path = `${key}/comments/${body.id}`;
    expect((await send('PATCH', path, { body: 'x' }, world.bob.token)).status).toBe(403);
    expect((await send('DELETE', path, undefined, world.bob.token)).status).toBe(403);
    expect((await send('PATCH', path, { body: 'x' }, world.admin.token)).status).toBe(200);
    expect((await send('DELETE', path, undefined, world.ada.token)).status).toBe(204);
  });

  it('validates the body before it looks up the comment', async () => {
    const { key } = await newIssue();
    for (const body of [{}, { body: '' }, { body: null }, { body: 'x'.repeat(50_001) }])
      expectRefused(await send('PATCH', `${key}/comments/comment_${absent}`, body), ['body']);
    expect((await send('PATCH', `${key}/comments/comment_${absent}`, { body: 'x' })).status).toBe(404);
  });
});

describe('the agent thread of an issue', () => {
  it('is answered 404 before the first message, and 409 if the workspace has no agent', async () => {
    const { key } = await newIssue();
    for (const path of ['agent-thread', 'agent-thread/messages'])
      expect(await send('GET', `${key}/${path}`)).toMatchObject({
        status: 404,
        body: { detail: 'There is no such issue, or it has no messages to an agent yet.' },
      });
    expect(await send('POST', `${key}/agent-thread/messages`, { body: 'Hello?' })).toMatchObject({
      status: 409,
      body: { code: 'conflict' },
    });
  });

  it('accepts messages of people and agents, with all their fields', async () => {
    const installation = await installAgent(app, world, world.agent);
    const { key, id: issueId } = await newIssue();
    const path = `${key.toLowerCase()}/agent-thread`;
    const prompt = await send('POST', `${path}/messages`, { body: 'Please.' });
    expect(prompt.status).toBe(201);
    expect(differences(prompt.body, 'Agent thread message')).toEqual([]);
    expect(prompt.body).toMatchObject({
      issueId,
      messageType: 1,
      authorType: 1,
      turnNumber: 1,
      replyToMessageId: '',
      followUpActions: [],
      applicationInstallationId: installation.id,
    });
    const followUpActions = [{ name: 'Go', key: 'go', color: '' }];
    const fields = {
      body: 'Done.',
      messageType: 5,
      turnNumber: 1,
      replyToMessageId: prompt.body.id,
      followUpActions,
    };
    const answer = await send('POST', `${path}/messages`, fields, world.agent.token);
    expect(answer).toMatchObject({ status: 201, body: { ...fields, authorType: 2, authorPrincipalKind: 2 } });
    const thread = await send('GET', path);
    expect(differences(thread.body, 'Agent thread')).toEqual([]);
    expect(thread.body).toMatchObject({ status: 3, messageCount: 2, lastCompletedTurnNumber: 1 });
    const { body } = await send('GET', `${path}/messages`);
    expect(body).toEqual({ thread: thread.body, messages: [prompt.body, answer.body] });
  });

  it.each([
    ['nothing', {}, ['body']],
    [
      'everything wrong',
      { body: 1, messageType: 9, turnNumber: -1, replyToMessageId: 'x', followUpActions: 'x' },
      ['body', 'messageType', 'turnNumber', 'replyToMessageId', 'followUpActions'],
    ],
    ['a type by name', { body: 'x', messageType: 'prompt' }, ['messageType']],
    [
      'eleven actions',
      { body: 'x', followUpActions: Array.from({ length: 11 }, () => ({ name: 'a', key: 'b', color: '' })) },
      ['followUpActions'],
    ],
    [
      'actions with faults',
      { body: 'x', followUpActions: [{ name: '', key: 'k', color: 'c' }, 'x', { name: 'n' }] },
      ['followUpActions[0].name', 'followUpActions', 'followUpActions[2].key', 'followUpActions[2].color'],
    ],
    [
      'a message that is not there',
      { body: 'x', replyToMessageId: `message_${absent}` },
      ['replyToMessageId'],
    ],
  ])('refuses %s, every bad field at once', async (_what, body, fields) => {
    expectRefused(await send('POST', `${(await newIssue()).key}/agent-thread/messages`, body), fields);
  });
});

describe('GET /v1/issues/{issueKey}', () => {
  it('a read of an issue answers the same as its writes', async () => {
    const created = await newIssue({ labelIds: Array.from({ length: 60 }, () => world.eng.bug) });
    expect(created['labelIds']).toEqual([world.eng.bug]);
    expect(await send('GET', created.key)).toMatchObject({ status: 200, body: created });
    const { body } = await app.request<ListBody>('GET', '/v1/issues?page_size=1');
    expect(body.results[0]).toEqual(created);
  });
});
