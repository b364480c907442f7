import { beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { sql } from 'kysely';
import { selectDataPosition } from '../../src/db/reads/data-position.ts';
import { compiledCounts } from '../../src/executor/compiled/run/executor.ts';
import { applyDirectory } from '../../src/portability/directory/directory.ts';
import { parseDirectory } from '../../src/portability/directory/directory-file.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { resetChanges } from '../../src/resolvers/changes/changes-reset.ts';
import { createWorkspace } from '../../src/resolvers/workspaces.ts';
import { numberAll } from '../live/logged.ts';
import { isGraphqlJs } from '../support/chosen-executor.ts';
import { member } from '../support/fixtures.ts';
import { startSecondServer } from '../support/server-processes.ts';
import { copyTemplate } from '../support/templates.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { hasServer } from '../db/engines.ts';
import { fakeOnly } from '../support/fake-timers.ts';

const { app, world, ada } = useIssueWorld();

beforeAll(async () => {
  // Nothing can be recognised before the log of the workspace has begun.
  await ada.create({ teamId: world.eng.id, title: 'The first' });
});

// The statements of graphql-js are not known, so it runs each query.
const onCompiled = isGraphqlJs ? describe.skip : describe;

/** Sends a GET, with the tag of an earlier answer unless it is empty. */
async function fetched(path: string, tag: string, token: string, headers: Readonly<Record<string, string>>) {
  return fetch(new URL(path, app.url), {
    headers: {
      Authorization: `Bearer ${token}`,
      Accept: 'application/json',
      ...(tag && { 'If-None-Match': tag }),
      ...headers,
    },
  });
}

async function get(
  path: string,
  tag = '',
  { token = world.ada.token, headers = {} }: { token?: string; headers?: Record<string, string> } = {},
) {
  const response = await fetched(path, tag, token, headers);
  return {
    status: response.status,
    headers: response.headers,
    tag: response.headers.get('etag') ?? '',
    text: await response.text(),
  };
}

/** The tag of an answer that the server remembers: it was asked for with this tag while no change waited for its position. */
async function remembered(path: string, token = world.ada.token): Promise<string> {
  await numberAll(app.database);
  const { status, tag } = await get(path, '', { token });
  expect([path, status]).toEqual([path, 200]);
  expect((await get(path, tag, { token })).status).toBe(304);
  return tag;
}

/** The status of a read, and whether its operation was run. */
async function run(read: () => Promise<{ status: number }>) {
  const count = () => compiledCounts.answered + compiledCounts.notCompilable + compiledCounts.bailed;
  const before = count();
  const { status } = await read();
  return { status, isRun: count() > before };
}

const graphql = (query: string) => `/graphql?${String(new URLSearchParams({ query }))}`;

const everything = graphql(`{
  issues(first: 5) {
    totalCount
    nodes { key title labels { name } status { name } isSubscribed comments(first: 2) { totalCount nodes { body } } }
  }
  teams { nodes { code name } }
}`);
const titles = graphql('{ issues(first: 3) { nodes { title } } }');
const reads = [everything, titles, '/v1/issues?page_size=2', '/v1/projects'];

onCompiled('a read with the tag of its answer', () => {
  it.each(reads)('is not run as long as nothing has changed: %s', async (path) => {
    const tag = await remembered(path);
    expect(await run(() => get(path, tag))).toEqual({ status: 304, isRun: false });
    expect(await run(() => get(path, `"other", W/${tag}`))).toEqual({ status: 304, isRun: false });
    expect(await run(() => get(path, '"other"'))).toEqual({ status: 200, isRun: true });
    expect(await run(() => get(path))).toEqual({ status: 200, isRun: true });
  });

  it('is answered with the headers of the run that was saved', async () => {
    for (const path of reads) {
      const tag = await remembered(path);
      const [ran, saved] = [(await get(path, '"other"')).headers, (await get(path, tag)).headers];
      for (const name of ['etag', 'vary', 'cache-control', 'x-graphql-operation', 'x-workspace-version'])
        expect([path, name, saved.get(name)]).toEqual([path, name, ran.get(name)]);
      expect(saved.get('content-type')).toBeNull();
      expect(saved.get('link')).toBeNull();
    }
  });

  it('is run for the tag of a coding that the client does not accept any more', async () => {
    await ada.create({ teamId: world.eng.id, title: 'A long title '.repeat(15).trim() });
    const path = '/v1/issues';
    await numberAll(app.database);
    const gzip = { 'Accept-Encoding': 'gzip' };
    const { tag } = await get(path, '', { headers: gzip });
    expect(tag).toMatch(/-gzip"$/);
    await get(path, tag, { headers: gzip });
    expect(await run(() => get(path, tag, { headers: gzip }))).toEqual({ status: 304, isRun: false });
    const plain = { 'Accept-Encoding': 'identity' };
    expect(await run(() => get(path, tag, { headers: plain }))).toEqual({ status: 200, isRun: true });
  });
});

/** Everything that changes an answer of `reads`, by the way in which it is written. */
const ways: Readonly<Record<string, () => Promise<unknown>>> = {
  'a mutation': () => ada.create({ teamId: world.eng.id, title: 'Another' }),
  'a PATCH': () =>
    app.request('PATCH', `/v1/issues/${key}`, { token: world.ada.token, body: { title: 'Patched' } }),
  'a comment': () => ada.mutate('commentCreate', { issueKey: key, body: 'A comment' }),
  'a subscription': () => ada.mutate('issueUnsubscribe', { key }),
  'a deletion': () => ada.mutate('issueDelete', { key }),
  'a directory file': () =>
    applyDirectory(
      app.database,
      systemActor,
      parseDirectory({ workspace: 'Test', teams: [{ code: 'NEW', name: 'A new team' }] }),
      { workspaceId: app.workspaceId },
    ),
  'SQL that renames a status': () =>
    sql`update status set name = name || ' renamed', name_fold = name_fold || ' renamed'
      where workspace_id = ${app.workspaceId}`.execute(app.database.unscoped),
};
let key: string;

onCompiled('a write', () => {
  beforeEach(async () => {
    ({ key } = await ada.create({ teamId: world.eng.id, title: 'First', labelIds: [world.shared] }));
  });

  it.each(Object.keys(ways))('%s is shown to a client that has the answer before it', async (name) => {
    const tag = await remembered(everything);
    await ways[name]?.();
    expect(await get(everything, tag)).toMatchObject({ status: 200 });
    await numberAll(app.database);
    expect(await get(everything, tag)).toMatchObject({ status: 200 });
  });

  // The embedded engine has only one process.
  const onPostgres = hasServer ? it : it.skip;
  onPostgres('by another server is shown to a client that has the answer before it', async () => {
    const second = await startSecondServer(app);
    if (!second) throw new Error('This engine permits no second server.');
    try {
      for (const title of ['One', 'Two', 'Three']) {
        const tag = await remembered(everything);
        await second.graphql(
          'mutation ($input: IssueUpdateInput!) { issueUpdate(input: $input) { issue { id } } }',
          { input: { key, title } },
          { token: world.ada.token },
        );
        expect(await get(everything, tag)).toMatchObject({
          status: 200,
          text: expect.stringContaining(title),
        });
      }
    } finally {
      await second.stop();
    }
  });

  it('is shown while many clients ask with the tags of their last answers', async () => {
    const writes = { done: 0, isOver: false };
    const writer = (async () => {
      for (let count = 1; count <= 40; count += 1) {
        await ada.update(key, { title: `Title ${count}` });
        const { text } = await get(titles);
        expect(text).toContain(`"Title ${count}"`);
        writes.done = count;
      }
      writes.isOver = true;
    })();
    const readers = Array.from({ length: 4 }, async () => {
      let known = { tag: '', text: '' };
      while (!writes.isOver) {
        const least = writes.done;
        const answer = await get(titles, known.tag);
        if (answer.status === 200) known = answer;
        const shown = Number(/"Title (\d+)"/.exec(known.text)?.[1] ?? 0);
        expect(shown).toBeGreaterThanOrEqual(least);
      }
    });
    await Promise.all([writer, ...readers]);
  });
});

onCompiled('a read is run for the tag of its answer', () => {
  it('after the log of changes has started over', async () => {
    const tag = await remembered(everything);
    await resetChanges(app.database, { id: app.workspaceId, name: 'Test' }, systemActor);
    await numberAll(app.database);
    expect(await run(() => get(everything, tag))).toEqual({ status: 304, isRun: true });
  });

  it('for another token, even of the same member', async () => {
    const tag = await remembered(everything);
    const { uuid: userAccountId } = world.ada;
    const other = await app.tokenFor({ userAccountId });
    expect(await run(() => get(everything, tag, { token: other }))).toEqual({ status: 304, isRun: true });
    const narrow = await app.tokenFor({ userAccountId, scopes: ['teams:read'] });
    expect((await get(everything, tag, { token: narrow })).text).toContain('FORBIDDEN');
    const { token } = await app.secondWorkspace();
    expect(await run(() => get(everything, tag, { token }))).toEqual({ status: 200, isRun: true });
  });

  it('with another query, page or media type, and in one snapshot', async () => {
    const tag = await remembered(everything);
    const page = await remembered('/v1/issues?page_size=2');
    expect((await run(() => get(titles, tag))).isRun).toBe(true);
    expect((await run(() => get('/v1/issues?page_size=1', page))).isRun).toBe(true);
    const Accept = 'application/graphql-response+json';
    expect((await run(() => get(everything, tag, { headers: { Accept } }))).isRun).toBe(true);
    const headers = { 'X-Workgraph-Snapshot': 'true' };
    expect((await get(everything, tag, { headers })).headers.get('server-timing')).not.toMatch(
      /"1 statement/,
    );
  });

  it.each([
    ['signed URLs', '{ issues(first: 5) { nodes { attachments { nodes { signedDownloadUrl } } } } }'],
    ['resolvers', '{ viewer { scopes } }'],
    ['statistics', '{ issueStats(groupBy: []) { count } }'],
    ['the clock, after which threads are stale', '{ issues(first: 5) { nodes { agentThread { status } } } }'],
    [
      'a table whose writes are not all logged',
      '{ issues(first: 5) { nodes { agentThread { messageCount } } } }',
    ],
  ])('where it depends on %s', async (_what, query) => {
    await numberAll(app.database);
    const path = graphql(query);
    const { tag, text } = await get(path);
    expect(text).not.toContain('errors');
    await get(path, tag);
    expect(await run(() => get(path, tag))).toMatchObject({ isRun: true });
  });

  it('where it sends no statement, because that costs less than to look for changes', async () => {
    const path = graphql('{ teams { nodes { name } } }');
    const tag = await remembered(path);
    const statements = async () => (await get(path, tag)).headers.get('server-timing');
    expect(await run(() => get(path, tag))).toEqual({ status: 304, isRun: true });
    // The look-up of the token is remembered, too.
    expect(await statements()).toContain('"0 statements"');
  });

  it('when the date has changed in UTC, which decides whether a delivery is running', async () => {
    const tag = await remembered('/v1/issues?page_size=2');
    fakeOnly(['Date'], { now: Date.now() + 24 * 60 * 60_000 });
    try {
      expect(await run(() => get('/v1/issues?page_size=2', tag))).toEqual({ status: 304, isRun: true });
    } finally {
      jest.useRealTimers();
    }
  });

  it('when a minute has passed, because SQL may have changed rows without the service', async () => {
    // Its quota is refilled at a time that the other tests do not reach.
    const token = await app.tokenFor({ userAccountId: world.ada.uuid });
    const tag = await remembered(everything, token);
    const now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now + 61_000);
    try {
      expect(await run(() => get(everything, tag, { token }))).toEqual({ status: 304, isRun: true });
    } finally {
      clock.mockRestore();
    }
  });
});

describe('the position of the data', () => {
  it('is not known without a log, as after a restore, and while a change waits for its position', async () => {
    const { database, drop } = await copyTemplate('migrated');
    try {
      const { workspaceId } = await createWorkspace(database, systemActor, {
        name: 'Positions',
        ownerDisplayName: 'Olga',
      });
      const position = () => selectDataPosition(database, workspaceId);
      const known = async () => {
        await numberAll(database);
        const found = await position();
        if (!found) throw new Error('The position should be known.');
        return found;
      };
      expect(await position()).toBeUndefined();
      const reset = () => resetChanges(database, { id: workspaceId, name: 'Positions' }, systemActor);
      await reset();
      expect(await position()).toBeUndefined();
      const first = await known();
      expect(await position()).toEqual(first);
      await reset();
      expect(await position()).toBeUndefined();
      const second = await known();
      expect(second.change).not.toBe(first.change);
      await member(database, workspaceId);
      expect((await known()).ref).toBe(second.ref + 1);
    } finally {
      await drop();
    }
  });
});
