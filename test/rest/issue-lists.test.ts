import { beforeAll, describe, expect, it } from '@jest/globals';
import { newUuid } from '../../src/resolvers/ids.ts';
import { differences } from './specified-fields.ts';
import type { ListBody } from './walk.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { uuidOf } from '../support/ids.ts';

type Body = Record<string, unknown> & { id: string; key: string };

const { app, world } = useIssueWorld({ changesRows: true });

const get = (path: string) => app.request<ListBody>('GET', path);
const shown = async (path: string, field = 'id') => {
  const { status, body } = await get(path);
  expect([path, status]).toEqual([path, 200]);
  expect(body.pagination.totalCount).toBe(body.results.length);
  return body.results.map((result) => result[field]);
};

async function newIssue(fields: Record<string, unknown> = {}): Promise<Body> {
  const body = { teamId: world.eng.id, title: 'Title', description: '', priority: 0, ...fields };
  const answer = await app.request<Body>('POST', '/v1/issues', { body });
  expect(answer.status).toBe(201);
  return answer.body;
}

const expectBad = async (path: string, field: string) => {
  const answer = await get(path);
  expect([path, answer]).toMatchObject([
    path,
    { status: 400, body: { code: 'invalid_request', errors: [{ field }] } },
  ]);
};

describe('GET /v1/issues/{issueKey}/activity', () => {
  let path: string;
  const times = ['2026-01-01T10:00:00.000Z', '2026-01-01T11:00:00.000Z', '2026-01-01T12:00:00.000Z'];

  beforeAll(async () => {
    const { key, id } = await newIssue();
    path = `/v1/issues/${key}/activity`;
    await app.request('POST', `/v1/issues/${key}/comments`, { body: { body: 'x' }, token: world.ada.token });
    await app.request('PATCH', `/v1/issues/${key}`, { body: { priority: 1 } });
    await app.request('PATCH', `/v1/issues/${key}`, { body: { priority: 2 }, token: world.ada.token });
    for (const [index, time] of times.entries())
      await app.database.unscoped
        .updateTable('activity')
        .set({ occurredUtc: new Date(time) })
        .where('workspaceId', '=', app.workspaceId)
        .where('issueId', '=', uuidOf(id))
        .where('sortOrder', '=', index + 1)
        .execute();
  });

  it('lists the events in order', async () => {
    const { body } = await get(path);
    for (const entry of body.results) expect(differences(entry, 'Activity entry')).toEqual([]);
    expect(body.results).toMatchObject([
      { sortOrder: 1, eventType: 'issue-comment.created.v1', actorUserAccountId: world.ada.id },
      { sortOrder: 2, eventType: 'issue.updated.v1', actorUserAccountId: world.owner.id },
      { sortOrder: 3, eventType: 'issue.updated.v1', actorUserAccountId: world.ada.id },
    ]);
  });

  it.each([
    ['actor', () => `actor_user_account_id=${world.ada.id}`, [1, 3]],
    ['actor who did nothing', () => `actor_user_account_id=${world.bob.id}`, []],
    ['event type', () => 'event_type=issue.updated.v1', [2, 3]],
    ['event type in another case', () => 'event_type=Issue.Updated.V1', [2, 3]],
    ['unknown event type', () => 'event_type=issue.sung.v1', []],
    ['lower bound, included', () => `from_utc=${times[1]}`, [2, 3]],
    ['upper bound, included', () => `to_utc=${times[1]}`, [1, 2]],
    ['lower bound, a nanosecond later', () => `from_utc=${times[1]?.replace('Z', '000001Z')}`, [3]],
    ['upper bound, a nanosecond later', () => `to_utc=${times[1]?.replace('Z', '000001Z')}`, [1, 2]],
    ['both bounds', () => `from_utc=${times[1]}&to_utc=${times[1]}`, [2]],
    ['reversed bounds', () => `from_utc=${times[2]}&to_utc=${times[0]}`, []],
    ['an offset', () => 'from_utc=2026-01-01T13:00:00%2B02:00', [2, 3]],
    ['an offset whose plus was not encoded', () => 'from_utc=2026-01-01T13:00:00+02:00', [2, 3]],
    [
      'everything at once',
      () => `event_type=issue.updated.v1&actor_user_account_id=${world.ada.id}&to_utc=${times[2]}`,
      [3],
    ],
  ])('filters by %s', async (_what, query, expected) => {
    expect(await shown(`${path}?${query()}`, 'sortOrder')).toEqual(expected);
  });

  it.each([
    ['actor_user_account_id', 'actor_user_account_id=ada'],
    ['from_utc', 'from_utc=2026-01-01'],
    ['from_utc', 'from_utc=2026-01-01T10:00:00'],
    ['to_utc', 'to_utc=2026-02-30T10:00:00Z'],
    ['to_utc', 'to_utc=yesterday'],
    ['event_type', 'event_type=a&event_type=b'],
  ])('refuses a bad %s: %s', async (field, query) => expectBad(`${path}?${query}`, field));
});

describe('GET /v1/issues/{issueKey}/attachments', () => {
  let path: string;

  beforeAll(async () => {
    const { key, id } = await newIssue();
    path = `/v1/issues/${key}/attachments`;
    const files = [
      ['a.png', 'image/png', world.ada],
      ['b.jpg', 'image/jpeg', world.bob],
      ['c.txt', 'text/plain', world.ada],
    ] as const;
    for (const [index, [fileName, contentType, by]] of files.entries())
      await app.database.unscoped
        .insertInto('attachment')
        .values({
          workspaceId: app.workspaceId,
          id: newUuid(),
          issueId: uuidOf(id),
          fileName,
          contentType,
          sizeBytes: index,
          uploadedByUserAccountId: by.uuid,
          uploadedUtc: new Date(Date.UTC(2026, 0, 1, index)),
          createdUtc: new Date(Date.UTC(2026, 0, 1, index)),
        })
        .execute();
  });

  it.each([
    ['', ['a.png', 'b.jpg', 'c.txt']],
    ['content_type=image/png', ['a.png']],
    ['content_type=IMAGE/PNG', ['a.png']],
    ['content_type=image/*', ['a.png', 'b.jpg']],
    ['content_type=Image%2F*', ['a.png', 'b.jpg']],
    ['content_type=*/*', ['a.png', 'b.jpg', 'c.txt']],
    ['content_type=image/gif', []],
    ['content_type=text/plain%3B charset=utf-8', ['c.txt']],
    ['content_type=image/*%3Bq=0.5', ['a.png', 'b.jpg']],
    ['content_type=', ['a.png', 'b.jpg', 'c.txt']],
  ])('%j lets through %j', async (query, names) => {
    expect(await shown(`${path}?${query}`, 'fileName')).toEqual(names);
  });

  it.each(['image', 'text*', '/*', '*/plain', 'image/', 'image/p*', '%25/*'])('refuses %s', async (type) => {
    await expectBad(`${path}?content_type=${type}`, 'content_type');
  });

  it('filters by who uploaded it', async () => {
    expect(await shown(`${path}?created_by_user_account_id=${world.ada.id}`, 'fileName')).toEqual([
      'a.png',
      'c.txt',
    ]);
    await expectBad(`${path}?created_by_user_account_id=x`, 'created_by_user_account_id');
  });

  it('reads an attachment only under its own issue, and answers with its own paths', async () => {
    const [id] = await shown(path);
    const one = await app.request<Body>('GET', `${path}/${String(id)}`);
    expect(differences(one.body, 'Attachment')).toEqual([]);
    expect(one.body).toMatchObject({ downloadUrl: `${path}/${String(id)}/content`, codeLanguage: '' });
    const { key } = await newIssue();
    for (const suffix of ['', '/content', '/preview'])
      expect((await get(`/v1/issues/${key}/attachments/${String(id)}${suffix}`)).status).toBe(404);
    expect(await get(`${path}/${String(id)}/preview`)).toMatchObject({
      status: 404,
      body: {
        code: 'not_found',
        detail: 'There is no such issue or attachment, or the attachment has no preview.',
      },
    });
    for (const other of [
      'attachment_01h455vb4pex5vsknk084sn02q',
      'issue_01h455vb4pex5vsknk084sn02q',
      'x',
      '%00',
    ])
      expect((await get(`${path}/${other}`)).status).toBe(404);
  });
});

describe('GET /v1/issues/{issueKey}/subissues', () => {
  let path: string;
  let issues: Body[];

  beforeAll(async () => {
    const parent = await newIssue();
    path = `/v1/issues/${parent.key}/subissues`;
    const fields = { parentIssueId: parent.id };
    issues = [
      await newIssue({ ...fields, title: 'First', primaryAssigneeUserAccountId: world.ada.id }),
      await newIssue({ ...fields, initialStatusId: world.eng.doing }),
      await newIssue({
        ...fields,
        initialStatusId: world.eng.done,
        primaryAssigneeUserAccountId: world.bob.id,
      }),
    ];
    await app.graphql(
      `mutation ($input: IssueUpdateInput!) { issueUpdate(input: $input) { issue { id } } }`,
      {
        input: { key: issues[1]?.key, assigneeUserAccountIds: [world.bob.id, world.ada.id] },
      },
    );
  });

  const idsAt = (...indexes: number[]) => indexes.map((index) => issues[index]?.id);

  it('lists messages oldest first, with empty strings for absent values', async () => {
    const { body } = await get(path);
    for (const entry of body.results) expect(differences(entry, 'Sub-issue entry')).toEqual([]);
    expect(body.results[0]).toMatchObject({
      issueId: issues[0]?.id,
      issueKey: issues[0]?.key,
      title: 'First',
      detailsUrl: `/issues/${issues[0]?.key}`,
      statusId: world.eng.todo,
      statusName: 'Todo',
      isCompleted: false,
      primaryAssigneeDisplayName: 'Ada Member',
      primaryAssigneePrincipalKind: 1,
    });
    expect(body.results[2]).toMatchObject({ isCompleted: true });
    const { key } = await newIssue({ parentIssueId: issues[0]?.id });
    const [only] = (await get(`/v1/issues/${issues[0]?.key}/subissues`)).body.results;
    expect(only).toMatchObject({
      issueKey: key,
      primaryAssigneeUserAccountId: '',
      primaryAssigneeDisplayName: '',
      primaryAssigneeAvatarUrl: '',
      primaryAssigneePrincipalKind: 0,
    });
  });

  it.each([
    ['', [0, 1, 2]],
    ['include_completed=true', [0, 1, 2]],
    ['include_completed=false', [0, 1]],
    ['status_id={doing}', [1]],
    ['status_id={doing}&status_id={done}', [1, 2]],
    ['status_id={done}&include_completed=false', []],
    ['assignee_user_account_id={ada}', [0, 1]],
    ['assignee_user_account_id={ada}&assignee_user_account_id={bob}', [0, 1, 2]],
    ['assignee_user_account_id={bob}&status_id={doing}', [1]],
  ])('%j lets through %j', async (query, indexes) => {
    const ids = { doing: world.eng.doing, done: world.eng.done, ada: world.ada.id, bob: world.bob.id };
    const filled = query.replaceAll(/\{(\w+)\}/g, (_all, name: keyof typeof ids) => ids[name]);
    expect(await shown(`${path}?${filled}`, 'issueId')).toEqual(idsAt(...indexes));
  });

  it.each([
    ['status_id', 'status_id=done'],
    ['assignee_user_account_id', 'assignee_user_account_id=status_01h455vb4pex5vsknk084sn02q'],
    ['include_completed', 'include_completed=1'],
    ['include_completed', 'include_completed=true&include_completed=false'],
  ])('refuses a bad %s: %s', async (field, query) => expectBad(`${path}?${query}`, field));
});
