import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { type Answer, type App, startApp } from '../support/app.ts';
import { numberAllChanges } from '../live/logged.ts';
import { storeWebhook } from '../support/stored-webhook.ts';
import type { ListBody } from './walk.ts';

let app: App;
beforeAll(async () => {
  app = await startApp({ demo: true });
  await storeWebhook(app.database.of(app.workspaceId), app.ownerUserAccountId);
});
afterAll(() => app.stop());

const tagOf = ({ headers }: Answer) => headers.get('etag') ?? '';
const reads = routeTable.filter(
  ({ method, successes }) => method === 'GET' && successes.some(({ schema }) => schema),
);
const revised = new Set([
  '/v1/issues/{issueKey}',
  '/v1/issues/{issueKey}/comments/{commentId}',
  '/v1/issues/{issueKey}/attachments/{attachmentId}',
  '/v1/webhooks/{webhookId}',
]);

describe('reads', () => {
  it.each(reads.map(({ path }) => path))(
    'GET %s has a tag, and is answered 304 to a client that has it',
    async (template) => {
      const path = await fillIn(template);
      const first = await app.request('GET', path);
      expect([path, first.status]).toEqual([path, 200]);
      const pattern = revised.has(template) ? /^"r[1-9]\d*-[\w-]+"$/ : /^"[\w-]+"$/;
      expect(tagOf(first)).toMatch(pattern);
      const headers = { 'If-None-Match': `"other", W/${tagOf(first)}`, 'X-Request-Id': 'again' };
      for (const method of ['GET', 'HEAD']) {
        const again = await app.request(method, path, { headers });
        expect(again).toMatchObject({ status: 304, body: '' });
        expect(again.headers.get('content-type')).toBeNull();
        expect(again.headers.get('x-request-id')).toBe('again');
        expect(again.headers.get('server-timing')).toMatch(/^sql;desc="\d+ statements";dur=/);
        for (const name of ['etag', 'vary', 'cache-control', 'x-graphql-operation'])
          expect([name, again.headers.get(name)]).toEqual([name, first.headers.get(name)]);
        expect(again.headers.get('vary')).toMatch(/Accept-Encoding/);
        expect(again.headers.get('vary')).toMatch(/Authorization/);
      }
      expect((await app.request('GET', path, { headers: { 'If-None-Match': '*' } })).status).toBe(304);
      for (const other of ['"other"', tagOf(first).slice(1, -1), ''])
        expect((await app.request('GET', path, { headers: { 'If-None-Match': other } })).status).toBe(200);
    },
  );

  it('get a new tag with the same revision when a displayed name has changed', async () => {
    const { path, id } = await newIssue();
    const before = await app.request<{ teamId: string }>('GET', path);
    await app.graphql(
      'mutation ($input: CommentCreateInput!) { commentCreate(input: $input) { comment { id } } }',
      {
        input: { issueKey: id, body: 'counted' },
      },
    );
    const counted = await app.request('GET', path);
    expect(tagOf(counted)).not.toBe(tagOf(before));
    await sql`update team set name = name || ' renamed' where workspace_id = ${app.workspaceId}`.execute(
      app.database.unscoped,
    );
    const renamed = await app.request('GET', path);
    expect(tagOf(renamed)).not.toBe(tagOf(counted));
    for (const answer of [before, counted, renamed]) expect(tagOf(answer)).toMatch(/^"r1-/);
  });

  it('have different tags for callers who see different content', async () => {
    const { path } = await newIssue();
    const token = await app.tokenFor({ role: 'member' });
    const mine = await app.request('GET', path);
    const headers = { 'If-None-Match': tagOf(mine) };
    expect((await app.request('GET', path, { token, headers })).status).toBe(200);
  });
});

describe('writes', () => {
  const writes = routeTable.filter(({ method }) => method === 'PATCH' || method === 'DELETE');

  it.each(writes.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s goes by the revision of If-Match',
    async (_name, { method, path: template }) => {
      const object = await createObject(template);
      const { path, tag, state } = object;
      const body = method === 'PATCH' ? { body: object.change } : {};
      const before = await state();
      const revision = Number(/^"r(\d+)-/.exec(tag)?.[1]);
      const stale = [`"r${revision + 1}-x"`, `W/${tag}`, '"elsewhere"', '"r99999999999999999999-x"', '""'];
      for (const header of stale) {
        const refused = await app.request(method, path, { headers: { 'If-Match': header }, ...body });
        expect([header, refused.status]).toEqual([header, 412]);
        expect(refused.body).toMatchObject({ code: 'precondition_failed', detail: /Read it again/ });
      }
      for (const header of ['r1', '"open', tag.slice(1, -1), '', `"r1-x", "r2-x"`]) {
        const refused = await app.request(method, path, { headers: { 'If-Match': header }, ...body });
        expect([header, refused.status]).toEqual([header, 400]);
        expect(refused.body).toMatchObject({ errors: [{ field: 'If-Match' }] });
      }
      expect(await state()).toEqual(before);
      const gone = path.replace(/[^/]+$/, (last) =>
        last.includes('_') ? last.replace(/.{6}$/, '000000') : 'ENG-999999',
      );
      expect((await app.request(method, gone, { headers: { 'If-Match': tag }, ...body })).status).toBe(404);
      // A webhook shows its backlog, which grows when an earlier write gets its position.
      await numberAllChanges(app.database);
      const fits = await app.request(method, path, {
        headers: { 'If-Match': `"elsewhere", "r${revision}-another-hash"` },
        ...body,
      });
      expect(fits.status).toBe(method === 'PATCH' ? 200 : 204);
      if (method === 'PATCH') {
        expect(tagOf(fits)).toBe(tagOf(await app.request('GET', path)));
        expect(tagOf(fits)).toMatch(new RegExp(`^"r${revision + 1}-`));
        const any = await app.request(method, path, { headers: { 'If-Match': '*' }, ...body });
        expect(any.status).toBe(200);
      }
    },
  );

  it.each(['issue', 'comment'])(
    'lets one of eight changes of one %s with the same If-Match through',
    async (kind) => {
      const { path, tag, change } = await createObject(
        kind === 'issue' ? '/v1/issues/{issueKey}' : '/v1/issues/{issueKey}/comments/{commentId}',
      );
      const answers = await Promise.all(
        Array.from({ length: 8 }, () =>
          app.request('PATCH', path, { headers: { 'If-Match': tag }, body: change }),
        ),
      );
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
        200,
        ...Array<number>(7).fill(412),
      ]);
    },
  );

  it('use expectedRevision in GraphQL, and the refusal says what to do', async () => {
    const { id } = await newIssue();
    const change =
      'mutation ($input: IssueUpdateInput!) { issueUpdate(input: $input) { issue { revision } } }';
    const late = await app.graphql(change, { input: { key: id, title: 'Late', expectedRevision: 7 } });
    expect(late.body.errors).toMatchObject([
      { message: expect.stringMatching(/Read it again/), extensions: { code: 'PRECONDITION_FAILED' } },
    ]);
    const ready = await app.graphql(change, { input: { key: id, title: 'Ready', expectedRevision: 1 } });
    expect(ready.body.data).toEqual({ issueUpdate: { issue: { revision: 2 } } });
    expect(ready.headers.get('x-graphql-operation')).toBeNull();
    const remove =
      'mutation Away($input: IssueDeleteInput!) { issueDelete(input: $input) { deletedIssueId } }';
    const kept = await app.graphql(remove, { input: { key: id, expectedRevision: 1 } });
    expect(kept.body.errors).toMatchObject([{ extensions: { code: 'PRECONDITION_FAILED' } }]);
    const away = await app.graphql(remove, { input: { key: id, expectedRevision: 2 } });
    expect(away.body.data).toEqual({ issueDelete: { deletedIssueId: id } });
    expect(away.headers.get('x-graphql-operation')).toBe('Away');
    expect(away.headers.get('vary')).toBe('Accept, Authorization, Accept-Encoding');
  });
});

interface CreatedObject {
  path: string;
  id: string;
  tag: string;
  change: object;
  /** Everything that a refused write must not change. */
  state: () => Promise<unknown>;
}

async function newIssue(): Promise<CreatedObject> {
  const teams = await app.request<ListBody>('GET', '/v1/teams?state=active');
  const created = await app.request<{ id: string; key: string }>('POST', '/v1/issues', {
    body: { teamId: teams.body.results[0]?.['id'], title: 'New', description: '', priority: 0 },
  });
  const { id, key } = created.body;
  const path = `/v1/issues/${key}`;
  const state = async () => [
    (await app.request('GET', path)).body,
    (await app.request('GET', `${path}/activity`)).body,
    (await app.request('GET', `${path}/links`)).body,
    (await app.request('GET', `${path}/comments`)).body,
  ];
  return { path, id, tag: tagOf(created), change: { title: 'Changed' }, state };
}

async function newWebhook(): Promise<CreatedObject> {
  const { webhookId } = await storeWebhook(app.database.of(app.workspaceId), app.ownerUserAccountId);
  const id = encodeId('webhook', webhookId);
  const path = `/v1/webhooks/${id}`;
  const state = async () => {
    const { body } = await app.request<{ backlog: number }>('GET', path);
    // It grows with each change of the workspace, which other test files may make where all share one database.
    return { ...body, backlog: undefined };
  };
  return { path, id, tag: tagOf(await app.request('GET', path)), change: { description: 'Changed' }, state };
}

async function createObject(template: string): Promise<CreatedObject> {
  if (template.startsWith('/v1/webhooks/')) return newWebhook();
  const issue = await newIssue();
  const [, , , , child] = template.split('/');
  if (child === undefined) return issue;
  const body = child === 'links' ? { url: 'https://example.com', title: 'Link' } : { body: 'Comment' };
  const created = await app.request<{ id: string }>('POST', `${issue.path}/${child}`, { body });
  const path = `${issue.path}/${child}/${created.body.id}`;
  return { ...issue, path, id: created.body.id, tag: tagOf(created), change: { body: 'Changed' } };
}

/** Fills the placeholders of a path with objects of the demo. */
async function fillIn(template: string): Promise<string> {
  const [, , , , child = ''] = template.split('/');
  const { body } = await app.graphql<{ issues: { nodes: Candidate[] } }>(
    `{ issues(first: 250) { nodes { key commentCount agentThread { id } attachments { nodes { id } } } } }`,
  );
  const fits = ({ commentCount, agentThread, attachments }: Candidate) => {
    if (child === 'comments') return commentCount > 0;
    if (child === 'attachments') return attachments.nodes.length > 0;
    return child !== 'agent-thread' || agentThread !== null;
  };
  let path = template
    .replace('{issueKey}', body.data?.issues.nodes.find(fits)?.key ?? '')
    .replace('{code}', 'not_found');
  const brace = /\/\{(\w+)\}/.exec(path);
  if (!brace) return path;
  const list = await app.request<ListBody>('GET', path.slice(0, brace.index));
  const field = { teamCode: 'code', projectKey: 'key' }[brace[1] ?? ''] ?? 'id';
  path = path.replace(brace[0], `/${String(list.body.results[0]?.[field])}`);
  return path;
}

interface Candidate {
  key: string;
  commentCount: number;
  agentThread: object | null;
  attachments: { nodes: object[] };
}
