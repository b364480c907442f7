import { beforeAll, expect, it } from '@jest/globals';
import { maxAnswerBytes } from '../../src/executor/limits.ts';
import { limits } from '../../src/model/limits.ts';
import { isGraphqlJs } from '../support/chosen-executor.ts';
import { installAgent } from '../support/issue-world.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';

const { app, world, ada } = useIssueWorld();

/** A text of the maximum length of a comment or message, with three bytes for each character. */
const maxText = '€'.repeat(limits.comment);
/** The smallest number of such texts that exceeds the size limit of an answer. */
const textCount = Math.ceil(maxAnswerBytes / Buffer.byteLength(maxText)) + 1;

interface Comments {
  results: { id: string }[];
  pagination: { pageSize: number; nextCursor: string; hasMore: boolean; returnedCount: number };
}

interface Conversation {
  thread: { messageCount: number };
  messages: { id: string }[];
}

let path: string;
const get = <Body>(list: string, headers = {}) =>
  app.request<Body>('GET', `${path}/${list}`, { token: world.ada.token, headers });

/** Posts the texts to a list of the issue, and returns the ids of the new comments or messages. */
async function write(to: string): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < textCount; n++) {
    const sent = { token: world.ada.token, body: { body: maxText } };
    const { body } = await app.request<{ id: string }>('POST', `${path}/${to}`, sent);
    ids.push(body.id);
  }
  return ids;
}

const idsOf = (items: readonly { id: string }[]) => items.map(({ id }) => id);

beforeAll(async () => {
  const { key } = await ada.create({ teamId: world.eng.id, title: 'An issue' });
  path = `/v1/issues/${key}`;
});

it('a list ends a page early if its texts are too long together', async () => {
  const ids = await write('comments');
  const first = await get<Comments>('comments');
  expect(first.status).toBe(200);
  const { nextCursor, ...pagination } = first.body.pagination;
  expect(pagination).toEqual({
    pageSize: 100,
    cursor: '',
    hasMore: true,
    returnedCount: 50,
    totalCount: textCount,
  });
  expect(first.headers.get('link')).toContain('rel="next"');
  const second = await get<Comments>(`comments?cursor=${nextCursor}`);
  expect(second.body.pagination).toMatchObject({ nextCursor: '', hasMore: false });
  expect(idsOf([...first.body.results, ...second.body.results]).toSorted()).toEqual(ids.toSorted());
  const again = await get('comments', { 'If-None-Match': first.headers.get('etag') });
  expect(again.status).toBe(304);
});

// graphql-js does not know how many rows fit, so a page is halved until it does.
(isGraphqlJs ? it.skip : it)(
  'a page has all rows that fit, if their lines are too long as rich text',
  async () => {
    const { key } = await ada.create({ teamId: world.eng.id, title: 'An issue with long lists' });
    path = `/v1/issues/${key}`;
    const body = '\n'.repeat(limits.comment - 1) + '.';
    for (let n = 0; n < 10; n++) {
      const { status } = await app.request('POST', `${path}/comments`, {
        token: world.ada.token,
        body: { body },
      });
      expect(status).toBe(201);
    }
    const first = await get<Comments>('comments');
    const rowBytes = Buffer.byteLength(JSON.stringify(first.body.results[0]));
    const rowsThatFit = Math.floor(maxAnswerBytes / rowBytes);
    expect(rowsThatFit).toBeGreaterThan(2);
    expect(first.body.pagination).toMatchObject({ hasMore: true, returnedCount: rowsThatFit });
  },
);

it('the conversation with an agent has fewer messages if their texts are too long together', async () => {
  await installAgent(app, world, world.agent);
  const ids = await write('agent-thread/messages');
  const { status, body } = await get<Conversation>('agent-thread/messages');
  expect(status).toBe(200);
  expect(body.thread.messageCount).toBe(textCount);
  // The newest 1,000, 500, 250 and 125 are too long.
  expect(idsOf(body.messages)).toEqual(ids.slice(-63));
});
