import { beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { sql } from 'kysely';
import { selectDataPosition } from '../../src/db/reads/data-position.ts';
import { compiledCounts } from '../../src/executor/compiled/run/executor.ts';
import { applyDirectory } from '../../src/portability/directory/directory.ts';
import { parseDirectory } from '../../src/portability/directory/directory-file.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { resetChanges } from '../../src/resolvers/changes/changes-reset.ts';
import { createWorkspace } from '../../src/resolvers/workspaces.ts';
import { numberAllChanges } from '../live/logged.ts';
import { isGraphqlJs } from '../support/chosen-executor.ts';
import { member } from '../support/fixtures.ts';
import { startSecondServer } from '../support/server-processes.ts';
import { copyTemplate } from '../support/templates.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { hasServer } from '../db/engines.ts';
import { fakeOnly } from '../support/fake-timers.ts';

const { app, world, ada } = useIssueWorld();

beforeAll(async () => {
  // No answer can be recognized as unchanged before the log of the workspace has begun.
  await ada.create({ teamId: world.eng.id, title: 'The first' });
});

// The statements of graphql-js are not known in advance, so it runs each query.
const onCompiled = isGraphqlJs ? describe.skip : describe;

/** Sends a GET, with the tag of an earlier answer unless it is empty. */
async function fetchWithTag(
  path: string,
  tag: string,
  token: string,
  headers: Readonly<Record<string, string>>,
) {
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
  const response = await fetchWithTag(path, tag, token, headers);
  return {
    status: response.status,
    headers: response.headers,
    tag: response.headers.get('etag') ?? '',
    text: await response.text(),
  };
}

/** The tag of an answer that the server remembers, because it was requested with this tag while no change waited for its position. */
async function rememberedTag(path: string, token = world.ada.token): Promise<string> {
  await numberAllChanges(app.database);
  const { status, tag } = await get(path, '', { token });
  expect([path, status]).toEqual([path, 200]);
  expect((await get(path, tag, { token })).status).toBe(304);
  return tag;
}

/** The status of a read, and whether its operation was run. */
async function outcomeOf(read: () => Promise<{ status: number }>) {
  const count = () => compiledCounts.answered + compiledCounts.notCompilable + compiledCounts.bailed;
  const before = count();
  const { status } = await read();
  return { status, isRun: count() > before };
}

const graphql = (query: string) => `/graphql?${String(new URLSearchParams({ query }))}`;

const largeQuery = graphql(`{
  issues(first: 5) {
    totalCount
    nodes { key title labels { name } status { name } isSubscribed comments(first: 2) { totalCount nodes { body } } }
  }
  teams { nodes { code name } }
}`);
const titles = graphql('{ issues(first: 3) { nodes { title } } }');
const reads = [largeQuery, titles, '/v1/issues?page_size=2', '/v1/projects'];

onCompiled('a read with the tag of its answer', () => {
  it.each(reads)('is not run as long as nothing has changed: %s', async (path) => {
    const tag = await rememberedTag(path);
    expect(await outcomeOf(() => get(path, tag))).toEqual({ status: 304, isRun: false });
    expect(await outcomeOf(() => get(path, `"other", W/${tag}`))).toEqual({ status: 304, isRun: false });
    expect(await outcomeOf(() => get(path, '"other"'))).toEqual({ status: 200, isRun: true });
    expect(await outcomeOf(() => get(path))).toEqual({ status: 200, isRun: true });
  });

  it('is answered with the headers of the run that was saved', async () => {
    for (const path of reads) {
      const tag = await rememberedTag(path);
      const [fullHeaders, unchangedHeaders] = [
        (await get(path, '"other"')).headers,
        (await get(path, tag)).headers,
      ];
      for (const name of ['etag', 'vary', 'cache-control', 'x-graphql-operation', 'x-workspace-version'])
        expect([path, name, unchangedHeaders.get(name)]).toEqual([path, name, fullHeaders.get(name)]);
      expect(unchangedHeaders.get('content-type')).toBeNull();
      expect(unchangedHeaders.get('link')).toBeNull();
    }
  });

  it('is run for the tag of a coding that the client does not accept any more', async () => {
    await ada.create({ teamId: world.eng.id, title: 'A long title '.repeat(15).trim() });
    const path = '/v1/issues';
    await numberAllChanges(app.database);
    const gzip = { 'Accept-Encoding': 'gzip' };
    const { tag } = await get(path, '', { headers: gzip });
    expect(tag).toMatch(/-gzip"$/);
    await get(path, tag, { headers: gzip });
    expect(await outcomeOf(() => get(path, tag, { headers: gzip }))).toEqual({ status: 304, isRun: false });
    const plain = { 'Accept-Encoding': 'identity' };
    expect(await outcomeOf(() => get(path, tag, { headers: plain }))).toEqual({ status: 200, isRun: true });
  });
});

/** Writes of each kind that change an answer of `reads`. */
const writeKinds: Readonly<Record<string, () => Promise<unknown>>> = {
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

  it.each(Object.keys(writeKinds))('%s is shown to a client that has the answer before it', async (name) => {
    const tag = await rememberedTag(largeQuery);
    await writeKinds[name]?.();
    expect(await get(largeQuery, tag)).toMatchObject({ status: 200 });
    await numberAllChanges(app.database);
    expect(await get(largeQuery, tag)).toMatchObject({ status: 200 });
  });

  // The embedded engine has only one process.
  const onPostgres = hasServer ? it : it.skip;
  onPostgres('by another server is shown to a client that has the answer before it', async () => {
    const second = await startSecondServer(app);
    if (!second) throw new Error('This engine permits no second server.');
    try {
      for (const title of ['One', 'Two', 'Three']) {
        const tag = await rememberedTag(largeQuery);
        await second.graphql(
          'mutation ($input: IssueUpdateInput!) { issueUpdate(input: $input) { issue { id } } }',
          { input: { key, title } },
          { token: world.ada.token },
        );
        expect(await get(largeQuery, tag)).toMatchObject({
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
      let lastAnswer = { tag: '', text: '' };
      while (!writes.isOver) {
        const minWrites = writes.done;
        const answer = await get(titles, lastAnswer.tag);
        if (answer.status === 200) lastAnswer = answer;
        const shown = Number(/"Title (\d+)"/.exec(lastAnswer.text)?.[1] ?? 0);
        expect(shown).toBeGreaterThanOrEqual(minWrites);
      }
    });
    await Promise.all([writer, ...readers]);
  });
});

onCompiled('a read is run for the tag of its answer', () => {
  it('after the log of changes has started over', async () => {
    const tag = await rememberedTag(largeQuery);
    await resetChanges(app.database, { id: app.workspaceId, name: 'Test' }, systemActor);
    await numberAllChanges(app.database);
    expect(await outcomeOf(() => get(largeQuery, tag))).toEqual({ status: 304, isRun: true });
  });

  it('for another token, even of the same member', async () => {
    const tag = await rememberedTag(largeQuery);
    const { uuid: userAccountId } = world.ada;
    const other = await app.tokenFor({ userAccountId });
    expect(await outcomeOf(() => get(largeQuery, tag, { token: other }))).toEqual({
      status: 304,
      isRun: true,
    });
    const narrow = await app.tokenFor({ userAccountId, scopes: ['teams:read'] });
    expect((await get(largeQuery, tag, { token: narrow })).text).toContain('FORBIDDEN');
    const { token } = await app.secondWorkspace();
    expect(await outcomeOf(() => get(largeQuery, tag, { token }))).toEqual({ status: 200, isRun: true });
  });

  it('with another query, page or media type, and in one snapshot', async () => {
    const tag = await rememberedTag(largeQuery);
    const page = await rememberedTag('/v1/issues?page_size=2');
    expect((await outcomeOf(() => get(titles, tag))).isRun).toBe(true);
    expect((await outcomeOf(() => get('/v1/issues?page_size=1', page))).isRun).toBe(true);
    const Accept = 'application/graphql-response+json';
    expect((await outcomeOf(() => get(largeQuery, tag, { headers: { Accept } }))).isRun).toBe(true);
    const headers = { 'X-Workgraph-Snapshot': 'true' };
    expect((await get(largeQuery, tag, { headers })).headers.get('server-timing')).not.toMatch(
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
    await numberAllChanges(app.database);
    const path = graphql(query);
    const { tag, text } = await get(path);
    expect(text).not.toContain('errors');
    await get(path, tag);
    expect(await outcomeOf(() => get(path, tag))).toMatchObject({ isRun: true });
  });

  it('where it sends no statement, because that costs less than to look for changes', async () => {
    const path = graphql('{ teams { nodes { name } } }');
    const tag = await rememberedTag(path);
    const statements = async () => (await get(path, tag)).headers.get('server-timing');
    expect(await outcomeOf(() => get(path, tag))).toEqual({ status: 304, isRun: true });
    // The look-up of the token is remembered, too.
    expect(await statements()).toContain('"0 statements"');
  });

  it('when the date has changed in UTC, which decides whether a delivery is running', async () => {
    const tag = await rememberedTag('/v1/issues?page_size=2');
    fakeOnly(['Date'], { now: Date.now() + 24 * 60 * 60_000 });
    try {
      expect(await outcomeOf(() => get('/v1/issues?page_size=2', tag))).toEqual({ status: 304, isRun: true });
    } finally {
      jest.useRealTimers();
    }
  });

  it('when a minute has passed, because SQL may have changed rows without the service', async () => {
    // The token is new, because its quota is refilled at a time that other tests do not reach.
    const token = await app.tokenFor({ userAccountId: world.ada.uuid });
    const tag = await rememberedTag(largeQuery, token);
    const now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => now + 61_000);
    try {
      expect(await outcomeOf(() => get(largeQuery, tag, { token }))).toEqual({ status: 304, isRun: true });
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
      const knownPosition = async () => {
        await numberAllChanges(database);
        const found = await position();
        if (!found) throw new Error('The position should be known.');
        return found;
      };
      expect(await position()).toBeUndefined();
      const reset = () => resetChanges(database, { id: workspaceId, name: 'Positions' }, systemActor);
      await reset();
      expect(await position()).toBeUndefined();
      const first = await knownPosition();
      expect(await position()).toEqual(first);
      await reset();
      expect(await position()).toBeUndefined();
      const second = await knownPosition();
      expect(second.change).not.toBe(first.change);
      await member(database, workspaceId);
      expect((await knownPosition()).ref).toBe(second.ref + 1);
    } finally {
      await drop();
    }
  });
});
