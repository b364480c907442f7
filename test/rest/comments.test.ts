import { beforeAll, describe, expect, it } from '@jest/globals';
import { comment as commentTable, expectFields, pagination } from './fields.ts';
import { expectRefused } from './refusals.ts';
import { type ListBody, walk } from './walk.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { uuidOf } from '../support/ids.ts';

type Body = Record<string, unknown> & { id: string };

const { app, world } = useIssueWorld({ changesRows: true });

const post = (key: string, body: unknown, token?: string) =>
  app.request<Body>('POST', `/v1/issues/${key}/comments`, { body, ...(token && { token }) });
const list = (key: string, query = '', token?: string) =>
  app.request<ListBody>('GET', `/v1/issues/${key}/comments${query}`, token ? { token } : {});
const idsOf = ({ body }: { body: ListBody }) => body.results.map(({ id }) => id);

async function newIssue(): Promise<string> {
  const body = { teamId: world.eng.id, title: 'To be discussed', description: '', priority: 0 };
  return (await app.request<{ key: string }>('POST', '/v1/issues', { body })).body.key;
}

async function newComment(key: string, fields: Record<string, unknown> = {}, token?: string): Promise<Body> {
  const { status, body } = await post(key, { body: 'Said.', ...fields }, token);
  expect(status).toBe(201);
  return body;
}

function paragraphs(...lines: string[]) {
  const content = lines.map((text) => ({
    type: 'paragraph',
    content: text === '' ? [] : [{ type: 'text', text }],
  }));
  return { schemaVersion: 1, content: { type: 'doc', content } };
}

const unknownComment = 'comment_01h455vb4pex5vsknk084sn02q';

describe('POST /v1/issues/{issueKey}/comments', () => {
  it('answers 201 with the fields of the specification; a top-level comment has an empty parent', async () => {
    const key = await newIssue();
    const { status, body } = await post(key.toLowerCase(), { body: 'First.' });
    expect(status).toBe(201);
    expectFields(body, commentTable);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^comment_/),
      parentCommentId: '',
      parentAuthorDisplayName: '',
      authorUserAccountId: world.owner.id,
      authorDisplayName: 'Olive Owner',
      authorAvatarUrl: '',
      body: paragraphs('First.'),
      canManage: true,
      isEdited: false,
    });
    expect(body.updatedUtc).toBe(body.createdUtc);
  });

  it('makes a paragraph of each line, without empty text nodes', async () => {
    const { body } = await newComment(await newIssue(), { body: 'one\r\n\ntwo ' });
    expect(body).toEqual(paragraphs('one', '', 'two '));
  });

  it('shows a text in a list as it does alone, whatever its characters', async () => {
    const key = await newIssue();
    const texts = [
      'a line',
      'said "so"\\ and\tleft',
      'größer 🎉',
      'one\ntwo',
      'one\rtwo',
      `long ${'é"'.repeat(200)}`,
    ];
    for (const text of texts) await newComment(key, { body: text });
    const { body } = await list(key);
    const bodies = body.results.map((comment) => (comment as Body).body);
    expect(bodies).toEqual(texts.map((text) => paragraphs(...text.split(/[\r\n]/))));
  });

  it('accepts as the parent only a comment of the same issue', async () => {
    const key = await newIssue();
    const parent = await newComment(key, {}, world.ada.token);
    const reply = await newComment(key, { parentCommentId: parent.id });
    expect(reply).toMatchObject({ parentCommentId: parent.id, parentAuthorDisplayName: 'Ada Member' });
    const elsewhere = await newComment(await newIssue());
    for (const parentCommentId of [elsewhere.id, unknownComment]) {
      const refused = await post(key, { body: 'x', parentCommentId });
      expect(refused).toMatchObject({
        status: 400,
        body: { code: 'validation_failed', errors: [{ field: 'parentCommentId' }] },
      });
    }
  });

  it.each([
    ['no body', {}, ['body']],
    ['null', { body: null }, ['body']],
    ['an empty text', { body: '' }, ['body']],
    ['a text of 50,001 characters', { body: 'x'.repeat(50_001) }, ['body']],
    ['NUL', { body: 'a\0b' }, ['body']],
    ['rich text', { body: paragraphs('x') }, ['body']],
    [
      'a number, and a text that is not an id',
      { body: 1, parentCommentId: 'x' },
      ['parentCommentId', 'body'],
    ],
    [
      'an id of another kind',
      { body: 'x', parentCommentId: 'issue_01h455vb4pex5vsknk084sn02q' },
      ['parentCommentId'],
    ],
  ])('refuses %s', async (_what, body, fields) => {
    expectRefused(await post(await newIssue(), body), fields);
  });

  it('validates the body first, then looks up the issue, then the parent', async () => {
    expect((await post('ENG-9999', { body: '' })).status).toBe(400);
    const absent = await post('ENG-9999', { body: 'x', parentCommentId: unknownComment });
    expect(absent).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('lets guests comment', async () => {
    expect(await newComment(await newIssue(), {}, world.guest.token)).toMatchObject({
      authorDisplayName: 'Gus Guest',
    });
  });
});

describe('GET /v1/issues/{issueKey}/comments', () => {
  let key: string;
  /** Oldest first; the second and the third were written in the same millisecond. */
  let written: Body[];

  beforeAll(async () => {
    key = await newIssue();
    const first = await newComment(key, {}, world.ada.token);
    const replies = [];
    for (const token of [world.bob.token, world.ada.token, undefined]) {
      replies.push(await newComment(key, { parentCommentId: first.id }, token));
    }
    written = [first, ...replies, await newComment(key)];
    const times = ['01', '02', '02', '03', '04'];
    for (const [index, { id }] of written.entries()) {
      await app.database.unscoped
        .updateTable('comment')
        .set({ createdUtc: new Date(`2026-01-01T00:00:${times[index]}.000Z`) })
        .where('workspaceId', '=', app.workspaceId)
        .where('id', '=', uuidOf(id))
        .execute();
    }
    const tied = written.slice(1, 3).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    written.splice(1, 2, ...tied);
  });

  it('answers with the fields of the specification, oldest first', async () => {
    const answer = await list(key.toLowerCase());
    expect(answer.status).toBe(200);
    for (const result of answer.body.results) expectFields(result, commentTable);
    expectFields(answer.body.pagination, pagination);
    expect(idsOf(answer)).toEqual(written.map(({ id }) => id));
    expect(answer.body.pagination).toMatchObject({
      pageSize: 100,
      hasMore: false,
      returnedCount: 5,
      totalCount: 5,
    });
  });

  it.each([
    '',
    '&sort=created',
    '&sort=created&direction=ascending',
    '&direction=desc',
    '&sort=created&direction=descending',
  ])('walks in pages of two with %j, every comment once', async (query) => {
    const pages = await walk(app, `/v1/issues/${key}/comments?page_size=2${query}`);
    const ids = written.map(({ id }) => id);
    expect(pages.flatMap(idsOf)).toEqual(query.includes('desc') ? ids.toReversed() : ids);
    expect(pages.map(({ body }) => body.pagination.returnedCount)).toEqual([2, 2, 1]);
  });

  it('filters by the parent, and answers an empty list if the comment has no replies or does not exist', async () => {
    const [first, ...rest] = written;
    const replies = await list(key, `?parent_comment_id=${first?.id}`);
    expect(idsOf(replies)).toEqual(rest.slice(0, 3).map(({ id }) => id));
    expect(replies.body.pagination.totalCount).toBe(3);
    expect(idsOf(await list(key, `?parent_comment_id=${rest[0]?.id}`))).toEqual([]);
    expect(idsOf(await list(key, `?parent_comment_id=${unknownComment}`))).toEqual([]);
  });

  it('shows in canManage whether the caller may change a comment', async () => {
    const manageable = async (token: string) =>
      (await list(key, '', token)).body.results.filter(({ canManage }) => canManage);
    expect(await manageable(world.owner.token)).toHaveLength(5);
    expect(await manageable(world.admin.token)).toHaveLength(5);
    expect(await manageable(world.ada.token)).toHaveLength(2);
    expect(await manageable(world.guest.token)).toHaveLength(0);
  });

  it('needs the same number of statements for one comment and for five', async () => {
    const five = await list(key);
    expect(five.statements).toBeLessThanOrEqual(5);
    expect((await list(key, '?page_size=1')).statements).toBe(five.statements);
  });

  it.each([
    ['sort', 'sort=updated'],
    ['sort', 'sort=created&sort=created'],
    ['direction', 'direction=newest'],
    ['parent_comment_id', 'parent_comment_id='],
    ['parent_comment_id', 'parent_comment_id=issue_01h455vb4pex5vsknk084sn02q'],
    ['page_size', 'page_size=0'],
    ['cursor', 'cursor=x'],
  ])('refuses a bad %s: %s', async (field, query) => {
    const answer = await list(key, `?${query}`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ field }] } });
  });

  it('answers 404 for an unknown issue or one of another workspace, and an empty list for an issue without comments', async () => {
    const second = await app.secondWorkspace();
    expect((await list(key, '', second.token)).status).toBe(404);
    for (const absent of ['ENG-9999', 'ENG', 'ENG-0', 'ENG-1%00']) {
      const answer = await list(absent);
      expect(answer).toMatchObject({
        status: 404,
        body: { code: 'not_found', detail: 'There is no such issue.' },
      });
    }
    expect((await list(await newIssue())).body).toMatchObject({
      results: [],
      pagination: { totalCount: 0, hasMore: false },
    });
  });
});
