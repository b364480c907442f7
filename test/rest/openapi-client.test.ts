import { afterAll, beforeAll, expect, it } from '@jest/globals';
import createClient, { type Client } from 'openapi-fetch';
import collection from '../../docs/collection.json' with { type: 'json' };
import { createRouter } from '../../src/rest-compat/router.ts';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { startExampleWorld } from '../examples/world.ts';
import type { App } from '../support/app.ts';
import type { paths } from '../../src/client/rest.generated.ts';

const find = createRouter(routeTable);
const called = new Set<string>();

let app: App;
let api: Client<paths>;
beforeAll(async () => {
  app = await startExampleWorld();
  api = createClient<paths>({
    baseUrl: app.url,
    headers: { Authorization: `Bearer ${app.token}` },
    redirect: 'manual',
    fetch: (request) => {
      const { methods } = find(new URL(request.url).pathname) ?? {};
      called.add(`${request.method} ${methods?.get(request.method)?.path}`);
      return fetch(request);
    },
  });
});
afterAll(() => app.stop());

/** Awaits a call of the client, which must return data. */
async function data<Data>(call: Promise<{ data?: Data; error?: unknown }>): Promise<Data> {
  const { data, error } = await call;
  expect(error).toBeUndefined();
  if (data === undefined) throw new Error('There is no data.');
  return data;
}

async function statusOf(call: Promise<{ response: Response }>): Promise<number> {
  return (await call).response.status;
}

const page = { page_size: 2 };

it('the generated client reads directories', async () => {
  const teams = await data(
    api.GET('/v1/teams', { params: { query: { state: ['active', 'inactive'], sort: 'code', ...page } } }),
  );
  expect(teams.pagination).toMatchObject({ pageSize: 2, returnedCount: 2, totalCount: 12 });
  const teamCode = 'WEB';
  const team = await data(api.GET('/v1/teams/{teamCode}', { params: { path: { teamCode } } }));
  expect(team.nextIssueNumber).toBeGreaterThan(1);
  const repositories = await data(
    api.GET('/v1/teams/{teamCode}/repositories', { params: { path: { teamCode }, query: page } }),
  );
  const standard = await data(
    api.GET('/v1/teams/{teamCode}/repositories/default', { params: { path: { teamCode } } }),
  );
  expect(repositories.results.map(({ id }) => id)).toContain(standard.id);

  const projects = await data(api.GET('/v1/projects', { params: { query: { priority: ['high', '1'] } } }));
  const projectKey = projects.results.find(({ linkCount }) => linkCount > 0)?.key ?? '';
  const project = await data(api.GET('/v1/projects/{projectKey}', { params: { path: { projectKey } } }));
  const links = await data(api.GET('/v1/projects/{projectKey}/links', { params: { path: { projectKey } } }));
  expect(links.pagination.totalCount).toBe(project.linkCount);

  const members = await data(api.GET('/v1/members', { params: { query: { role: ['owner'], ...page } } }));
  const memberId = members.results[0]?.id ?? '';
  const member = await data(api.GET('/v1/members/{memberId}', { params: { path: { memberId } } }));
  expect(member).toEqual(members.results[0]);
});

it('each GET of the collection for Postman and Bruno can be sent as it is', async () => {
  const variables = { '{{url}}': app.url, '{{token}}': app.token };
  const { auth, item } = collection;
  const filled = (text: string) => text.replace(/\{\{\w+\}\}/, (name) => variables[name as '{{url}}']);
  const answers = await Promise.all(
    item
      .flatMap((folder) => folder.item)
      .filter(({ request }) => request.method === 'GET')
      .map(async ({ name, request: { url } }) => {
        const values = new Map(url.variable.map(({ key, value }) => [`:${key}`, value]));
        const path = url.path.map((segment) => values.get(segment) ?? segment).join('/');
        const headers = { Authorization: `Bearer ${filled(auth.bearer[0]?.value ?? '')}` };
        const { status } = await fetch(`${filled(url.host[0] ?? '')}/${path}`, {
          headers,
          redirect: 'manual',
        });
        return [name, status < 400];
      }),
  );
  expect(answers.length).toBeGreaterThan(25);
  expect(answers.filter(([, isFine]) => !isFine)).toEqual([]);
});

it('the generated client reads issues and what belongs to them', async () => {
  const issues = await data(
    api.GET('/v1/issues', { params: { query: { team_code: 'WEB', status_category: ['active'] } } }),
  );
  expect(issues.results[0]?.status.category).toBe('active');
  const at = (issueKey: string) => ({ params: { path: { issueKey } } });
  expect(await data(api.GET('/v1/issues/{issueKey}', at('WEB-63')))).toMatchObject({ teamCode: 'WEB' });
  const lists = [
    await data(api.GET('/v1/issues/{issueKey}/activity', at('WEB-63'))),
    await data(api.GET('/v1/issues/{issueKey}/links', at('WEB-63'))),
    await data(api.GET('/v1/issues/{issueKey}/subissues', at('WEB-40'))),
  ];
  for (const { results } of lists) expect(results).not.toHaveLength(0);
  const comments = await data(api.GET('/v1/issues/{issueKey}/comments', at('WEB-63')));
  const path = { issueKey: 'WEB-63', commentId: comments.results[0]?.id ?? '' };
  const comment = await data(api.GET('/v1/issues/{issueKey}/comments/{commentId}', { params: { path } }));
  expect(comment).toEqual(comments.results[0]);

  const thread = await data(api.GET('/v1/issues/{issueKey}/agent-thread', at('WEB-54')));
  const conversation = await data(api.GET('/v1/issues/{issueKey}/agent-thread/messages', at('WEB-54')));
  expect(conversation.thread).toEqual(thread);
  expect(conversation.messages).toHaveLength(thread.messageCount);
});

it('the generated client reads changes, and continues from a cursor', async () => {
  const query = { page_size: 2 };
  const first = pageIn(await data(api.GET('/v1/changes', { params: { query } })));
  expect(first.results).toHaveLength(2);
  const after = { ...query, cursor: first.cursor };
  const next = pageIn(await data(api.GET('/v1/changes', { params: { query: after } })));
  expect(next.results.map(({ position }) => position)).toEqual(['3', '4']);
});

/** Narrows an answer that could also be a stream to its JSON. */
function pageIn<Page extends object>(answer: Page | string): Page {
  if (typeof answer === 'string') throw new Error('It is a stream.');
  return answer;
}

it('the generated client reads attachments and follows redirects to their bytes', async () => {
  const issueKey = 'WEB-54';
  const { results } = await data(
    api.GET('/v1/issues/{issueKey}/attachments', { params: { path: { issueKey } } }),
  );
  const params = { path: { issueKey, attachmentId: results[0]?.id ?? '' } };
  const one = await data(api.GET('/v1/issues/{issueKey}/attachments/{attachmentId}', { params }));
  expect(one).toEqual(results[0]);
  for (const path of [
    '/v1/issues/{issueKey}/attachments/{attachmentId}/content',
    '/v1/issues/{issueKey}/attachments/{attachmentId}/preview',
  ] as const)
    expect(await statusOf(api.GET(path, { params }))).toBe(302);
});

it('the generated client reads statistics of issues', async () => {
  const groups = rowsOf(
    await data(api.GET('/v1/stats', { params: { query: { group_by: ['team', 'priority'], first: 5 } } })),
  );
  expect(groups).toHaveLength(5);
  const query = { every: 'month', from: '2026-01-31', to: '2026-03-01', time_zone: 'Europe/Berlin' } as const;
  const trend = rowsOf(await data(api.GET('/v1/stats/trend', { params: { query } })));
  expect(trend.map(({ startsOn }) => startsOn)).toEqual(['2026-01-01', '2026-02-01', '2026-03-01']);
  const flow = rowsOf(await data(api.GET('/v1/stats/flow', { params: { query } })));
  expect(flow).toHaveLength(3);
});

/** Narrows an answer that could also be CSV to its rows. */
function rowsOf<Row>(answer: string | { results: Row[] }): Row[] {
  if (typeof answer === 'string') throw new Error('CSV was not asked for.');
  return answer.results;
}

it('the generated client reads public resources', async () => {
  const { tables } = await data(api.GET('/v1/meta/codes'));
  expect(tables.map(({ name }) => name)).toContain('priority');
  const path = { code: 'conflict' };
  expect((await data(api.GET('/v1/meta/errors/{code}', { params: { path } }))).status).toBe(409);
  const probes = [
    await data(api.GET('/health')),
    await data(api.GET('/healthz')),
    await data(api.GET('/readyz')),
  ];
  expect(probes).toEqual([{ status: 'ok' }, { status: 'ok' }, { status: 'ok' }]);
});

it('the generated client writes, and undoes what it wrote', async () => {
  const { id: teamId } = await data(
    api.GET('/v1/teams/{teamCode}', { params: { path: { teamCode: 'WEB' } } }),
  );
  const body = { teamId, title: 'From a generated client', description: '', priority: 2 } as const;
  const issue = await data(api.POST('/v1/issues', { body }));
  const params = { path: { issueKey: issue.key } };
  const changed = await data(
    api.PATCH('/v1/issues/{issueKey}', { params, body: { dueDate: '2027-01-31', labelIds: [] } }),
  );
  expect(changed.dueDate).toBe('2027-01-31');

  const commentRequest = { params, body: { body: 'Said.' } };
  const comment = await data(api.POST('/v1/issues/{issueKey}/comments', commentRequest));
  const at = { params: { path: { issueKey: issue.key, commentId: comment.id } } };
  const edit = { ...at, body: { body: 'Said better.' } };
  const edited = await data(api.PATCH('/v1/issues/{issueKey}/comments/{commentId}', edit));
  expect(edited.isEdited).toBe(true);
  expect(await statusOf(api.DELETE('/v1/issues/{issueKey}/comments/{commentId}', at))).toBe(204);

  const link = { params, body: { url: 'https://example.com/a', title: 'A' } };
  const created = await data(api.POST('/v1/issues/{issueKey}/links', link));
  expect(await data(api.POST('/v1/issues/{issueKey}/links', link))).toEqual(created);
  const linked = { params: { path: { issueKey: issue.key, linkId: created.linkId } } };
  expect(await statusOf(api.DELETE('/v1/issues/{issueKey}/links/{linkId}', linked))).toBe(204);

  const file = { params, body: { fileName: 'a.txt', contentType: 'text/plain', sizeBytes: 3 } };
  const upload = await data(api.POST('/v1/issues/{issueKey}/attachments', file));
  expect(upload.attachment.uploadedUtc).toBeNull();
  const prompt = { params, body: { body: 'Please.' } };
  const message = await data(api.POST('/v1/issues/{issueKey}/agent-thread/messages', prompt));
  expect(message.turnNumber).toBe(1);
  expect(await statusOf(api.DELETE('/v1/issues/{issueKey}', { params }))).toBe(204);
});

it('the generated client manages webhooks', async () => {
  const hooks = await data(api.GET('/v1/webhooks', { params: { query: { state: 'disabled' } } }));
  const [{ id: stored } = { id: '' }] = hooks.results;
  const deliveries = await data(
    api.GET('/v1/webhooks/{webhookId}/deliveries', { params: { path: { webhookId: stored } } }),
  );
  const deliveryId = deliveries.results[0]?.id ?? '';
  const repeated = { params: { path: { webhookId: stored, deliveryId } } };
  const redeliver = '/v1/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver';
  expect(await data(api.POST(redeliver, repeated))).toEqual({ count: 1 });

  const body = { url: 'http://127.0.0.1:9/hook', eventTypes: ['webhook.disabled.v1' as const] };
  const created = await data(api.POST('/v1/webhooks', { body }));
  const at = { params: { path: { webhookId: created.webhook.id } } };
  // Changes of the tests above may get their positions meanwhile.
  const backlog = expect.any(Number);
  expect(await data(api.GET('/v1/webhooks/{webhookId}', at))).toEqual({ ...created.webhook, backlog });
  const changed = await data(
    api.PATCH('/v1/webhooks/{webhookId}', { ...at, body: { state: 'disabled', clearTeam: true } }),
  );
  expect(changed.state).toBe('disabled');
  const rotated = await data(api.POST('/v1/webhooks/{webhookId}/rotate-secret', at));
  expect(rotated.secret).not.toBe(created.secret);
  const pinged = await data(api.POST('/v1/webhooks/{webhookId}/ping', at));
  expect(pinged).toMatchObject({ isReceived: false, status: null, head: '' });
  expect(await statusOf(api.DELETE('/v1/webhooks/{webhookId}', at))).toBe(204);
});

it('the generated client gets errors in the documented format', async () => {
  const gone = await api.GET('/v1/issues/{issueKey}', { params: { path: { issueKey: 'WEB-9999' } } });
  expect([gone.response.status, gone.error?.code]).toEqual([404, 'not_found']);
  const bad = await api.GET('/v1/teams', { params: { query: { page_size: 0 } } });
  expect(bad.error?.errors.map(({ field }) => field)).toEqual(['page_size']);
});

it('the generated client has called every endpoint in these tests', () => {
  expect([...called].toSorted()).toEqual(
    routeTable.map(({ method, path }) => `${method} ${path}`).toSorted(),
  );
});
