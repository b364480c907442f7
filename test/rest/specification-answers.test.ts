import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type App, startApp } from '../support/app.ts';
import { endpoints } from './specification.ts';
import { differences } from './specified-fields.ts';
import type { ListBody } from './walk.ts';

let app: App;
let keys: Record<
  'team' | 'project' | 'busy' | 'attachments' | 'links' | 'parent' | 'comments' | 'thread',
  string
>;
beforeAll(async () => {
  // Not the shared one, because some tests write.
  app = await startApp({ demo: true });
  keys = await findKeys();
});
afterAll(() => app.stop());

const get = async <Body = Record<string, unknown>>(path: string, status = 200) => {
  const answer = await app.request<Body>('GET', path);
  expect([path, answer.status, answer.status === status ? '' : answer.body]).toEqual([path, status, '']);
  return answer;
};

/** Finds objects of the demo whose lists are not empty. */
async function findKeys() {
  const { body } = await app.graphql<Record<'issues' | 'teams' | 'projects', { nodes: Found[] }>>(`{
    issues(first: 250) {
      nodes {
        key commentCount linkCount subIssueCount
        attachments { totalCount } agentThread { messageCount } activity { totalCount }
      }
    }
    teams { nodes { key: code defaultRepository { id } } }
    projects { nodes { key linkCount } }
  }`);
  const { issues, teams, projects } = body.data ?? {};
  const keyWithMax = (list: { nodes: Found[] } | undefined, count: (found: Found) => number | undefined) => {
    const [max] = (list?.nodes ?? []).toSorted((a, b) => (count(b) ?? 0) - (count(a) ?? 0));
    if (!max || !count(max)) throw new Error('The demo has nothing of this kind.');
    return max.key;
  };
  return {
    team: keyWithMax(teams, ({ defaultRepository }) => (defaultRepository ? 1 : 0)),
    project: keyWithMax(projects, ({ linkCount }) => linkCount),
    busy: keyWithMax(issues, ({ activity }) => activity?.totalCount),
    attachments: keyWithMax(issues, ({ attachments }) => attachments?.totalCount),
    links: keyWithMax(issues, ({ linkCount }) => linkCount),
    parent: keyWithMax(issues, ({ subIssueCount }) => subIssueCount),
    comments: keyWithMax(issues, ({ commentCount }) => commentCount),
    thread: keyWithMax(issues, ({ agentThread }) => agentThread?.messageCount),
  };
}

interface Found {
  key: string;
  commentCount?: number;
  linkCount?: number;
  subIssueCount?: number;
  attachments?: { totalCount: number };
  agentThread?: { messageCount: number } | null;
  activity?: { totalCount: number };
  defaultRepository?: { id: string } | null;
}

/** The paths of the specification's lists, for objects of the demo whose lists are not empty. */
const listPaths: Readonly<Record<string, () => string>> = {
  '/v1/issues/{issueKey}/activity': () => `/v1/issues/${keys.busy}/activity`,
  '/v1/issues/{issueKey}/attachments': () => `/v1/issues/${keys.attachments}/attachments`,
  '/v1/issues/{issueKey}/links': () => `/v1/issues/${keys.links}/links`,
  '/v1/issues/{issueKey}/subissues': () => `/v1/issues/${keys.parent}/subissues`,
  '/v1/issues/{issueKey}/comments': () => `/v1/issues/${keys.comments}/comments`,
  '/v1/teams': () => '/v1/teams',
  '/v1/teams/{teamCode}/repositories': () => `/v1/teams/${keys.team}/repositories`,
  '/v1/projects': () => '/v1/projects',
  '/v1/projects/{projectKey}/links': () => `/v1/projects/${keys.project}/links`,
  '/v1/members': () => '/v1/members',
};
const lists = endpoints.filter(({ success }) => success.includes('list of'));

describe('lists', () => {
  it.each(lists.map(({ path, success }) => [path, success] as const))(
    'GET %s: %s, field by field',
    async (path, success) => {
      const { body } = await get<ListBody>(listPaths[path]?.() ?? path);
      expect(Object.keys(body)).toEqual(['results', 'pagination']);
      expect(differences(body.pagination, 'Pagination')).toEqual([]);
      const resource = /list of (.*)$/.exec(success)?.[1] ?? '';
      expect(body.results).not.toHaveLength(0);
      for (const result of body.results) expect(differences(result, resource)).toEqual([]);
      expect(body.pagination).toMatchObject({ pageSize: 100, cursor: '' });
    },
  );

  it.each(lists.map(({ path }) => path))(
    'GET %s walks by its Link headers, every result once',
    async (path) => {
      const whole = await get<ListBody>(`${listPaths[path]?.()}?page_size=250`);
      const results: unknown[] = [];
      let next: string | undefined = `${listPaths[path]?.()}?page_size=2`;
      const first: string = `${app.url}${next}`;
      for (let pages = 0; next !== undefined && pages < 5; pages += 1) {
        const page: Awaited<ReturnType<typeof get<ListBody>>> = await get<ListBody>(next);
        results.push(...page.body.results);
        const links = page.headers.get('link') ?? '';
        expect(/<([^>]*)>; rel="first"/.exec(links)?.[1]).toBe(first);
        next = /<([^>]*)>; rel="next"/.exec(links)?.[1];
        expect(next !== undefined).toBe(page.body.pagination.hasMore);
      }
      expect(results).toEqual(whole.body.results.slice(0, results.length));
      if (next === undefined) expect(results).toHaveLength(whole.body.pagination.totalCount);
    },
  );
});

it.each([...Object.keys(listPaths), '/v1/issues'])(
  'GET %s takes a few statements, however many results it has',
  async (path) => {
    const list = listPaths[path]?.() ?? path;
    const [two, all] = [
      await get<ListBody>(`${list}?page_size=2`),
      await get<ListBody>(`${list}?page_size=250`),
    ];
    expect(all.statements).toBeLessThanOrEqual(path === '/v1/issues' ? 17 : 8);
    expect(two.statements).toBeLessThanOrEqual(all.statements);
  },
);

describe('single objects', () => {
  it.each([
    ['Attachment', () => firstOf(`/v1/issues/${keys.attachments}/attachments`)],
    ['Comment', () => firstOf(`/v1/issues/${keys.comments}/comments`)],
    ['Agent thread', () => `/v1/issues/${keys.thread}/agent-thread`],
    ['Team detail', () => `/v1/teams/${keys.team}`],
    ['Repository context', () => `/v1/teams/${keys.team}/repositories/default`],
    ['Project detail', () => `/v1/projects/${keys.project}`],
    ['Member', () => firstOf('/v1/members')],
    ['Issue', () => `/v1/issues/${keys.busy}`],
  ])('reads one %s, field by field', async (resource, path) => {
    const { body, headers } = await get(await path());
    expect(differences(body, resource)).toEqual([]);
    expect(headers.get('x-graphql-operation')).toMatch(/^[A-Z]\w+$/);
  });

  it('reads an agent thread with its messages, oldest first', async () => {
    const { body } = await get<{ thread: unknown; messages: { createdUtc: string }[] }>(
      `/v1/issues/${keys.thread}/agent-thread/messages`,
    );
    expect(Object.keys(body)).toEqual(['thread', 'messages']);
    expect(differences(body.thread, 'Agent thread')).toEqual([]);
    for (const message of body.messages) expect(differences(message, 'Agent thread message')).toEqual([]);
    const times = body.messages.map(({ createdUtc }) => createdUtc);
    expect(times).toEqual(times.toSorted());
  });

  it('shows every issue of the demo in the form of the specification', async () => {
    let cursor = '';
    do {
      const { body } = await get<ListBody>(`/v1/issues?page_size=250&cursor=${encodeURIComponent(cursor)}`);
      for (const issue of body.results) expect(differences(issue, 'Issue')).toEqual([]);
      cursor = body.pagination.nextCursor;
    } while (cursor !== '');
  });
});

describe('writes', () => {
  const send = async (method: string, path: string, body: unknown, status: number) => {
    const answer = await app.request<Record<string, unknown>>(method, path, { body });
    expect([method, path, answer.status]).toEqual([method, path, status]);
    return answer.body;
  };

  it('answers each with the form of the specification', async () => {
    const { body: team } = await get(`/v1/teams/${keys.team}`);
    const fields = { teamId: team['id'], title: 'Told', description: 'All.', priority: 2 };
    const issue = await send('POST', '/v1/issues', fields, 201);
    expect(differences(issue, 'Issue')).toEqual([]);
    expect(issue).toMatchObject({ commentCount: 0, subIssueCount: 0, linkCount: 0, dueDate: null });
    expect(issue).toMatchObject({ closedUtc: null, lastCommentUtc: null, lastActivityUtc: null });
    const path = `/v1/issues/${String(issue['key'])}`;
    expect(differences(await send('PATCH', path, { dueDate: '2027-01-31' }, 200), 'Issue')).toEqual([]);

    const link = { url: 'https://example.com/a', title: 'A' };
    const created = await send('POST', `${path}/links`, link, 201);
    expect(differences(created, 'Issue link')).toEqual([]);
    expect(await send('POST', `${path}/links`, link, 200)).toEqual(created);
    expect(await send('DELETE', `${path}/links/${String(created['linkId'])}`, undefined, 204)).toBe('');

    const comment = await send('POST', `${path}/comments`, { body: 'Said.' }, 201);
    expect(differences(comment, 'Comment')).toEqual([]);
    const changed = await send(
      'PATCH',
      `${path}/comments/${String(comment['id'])}`,
      { body: 'Corrected.' },
      200,
    );
    expect(differences(changed, 'Comment')).toEqual([]);
    expect(changed['isEdited']).toBe(true);
    expect(await send('DELETE', `${path}/comments/${String(comment['id'])}`, undefined, 204)).toBe('');

    const message = await send('POST', `${path}/agent-thread/messages`, { body: 'Please.' }, 201);
    expect(differences(message, 'Agent thread message')).toEqual([]);
    expect(await send('DELETE', path, undefined, 204)).toBe('');
    await get(path, 404);
  });

  it('redirects to signed addresses of content and preview', async () => {
    const path = await firstOf(`/v1/issues/${keys.attachments}/attachments`);
    const content = await get(`${path}/content`, 302);
    expect(content.headers.get('location')).toContain('signature=');
    expect(content.body).toBe('');
    const { body: attachment } = await get(path);
    const preview = await app.request('GET', `${path}/preview`);
    expect(preview.status).toBe(attachment['isPreviewAvailable'] ? 302 : 404);
  });
});

async function firstOf(list: string): Promise<string> {
  const { body } = await get<ListBody>(`${list}?page_size=1`);
  return `${list}/${String(body.results[0]?.['id'])}`;
}
