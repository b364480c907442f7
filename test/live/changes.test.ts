import { describe, expect, it } from '@jest/globals';
import { oldChanges } from '../../src/resolvers/housekeeping.ts';
import { callerOf } from '../support/mutations.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { numberAllChanges } from './logged.ts';
import { newestCursor } from './subscribing.ts';
import { revokeToken } from '../support/revoke-token.ts';

const { app, world, ada } = useIssueWorld({
  changesRows: true,
  settings: { CHANGES_WAIT_MS: '25000' },
});

interface ChangeRead {
  id: string;
  cursor: string;
  position: string;
  eventType: string;
  subjectId: string;
  comment?: object | null;
  agentMessage?: object | null;
}
interface PageRead {
  nodes: ChangeRead[];
  cursor: string;
  hasMore: boolean;
}

async function changes(
  variables: Record<string, unknown> = {},
  { selection = '', token = world.ada.token } = {},
): Promise<PageRead> {
  const { body } = await app.graphql<{ changes: PageRead }>(
    `query ($after: String, $first: Int, $filter: ChangeFilter, $waitSeconds: Int) {
      changes(after: $after, first: $first, filter: $filter, waitSeconds: $waitSeconds) {
        nodes { id cursor position eventType subjectId ${selection} } cursor hasMore
      }
    }`,
    variables,
    { token },
  );
  if (body.errors || !body.data) throw new Error(JSON.stringify(body.errors));
  return body.data.changes;
}

async function refusalOf(variables: Record<string, unknown>): Promise<string> {
  const message = await changes(variables).catch((failure: Error) => failure.message);
  return typeof message === 'string' ? message : '';
}

const newIssue = () => ada.create({ teamId: world.eng.id, title: 'An issue' });

describe('changes', () => {
  it('are read in order, page by page, each once', async () => {
    const start = await newestCursor(app);
    const { key } = await newIssue();
    for (const body of ['One', 'Two', 'Three']) await ada.mutate('commentCreate', { issueKey: key, body });
    await numberAllChanges(app.database);
    const read: ChangeRead[] = [];
    let page = await changes({ after: start, first: 2 });
    for (;;) {
      read.push(...page.nodes);
      if (!page.hasMore) break;
      page = await changes({ after: page.cursor, first: 2 });
    }
    expect(read.map(({ eventType }) => eventType)).toEqual([
      'issue.created.v1',
      ...Array.from({ length: 3 }, () => 'issue-comment.created.v1'),
    ]);
    const [first] = read;
    expect(read.map(({ position }) => Number(position) - Number(first?.position))).toEqual([0, 1, 2, 3]);
    expect(await changes({ after: page.cursor })).toEqual({ nodes: [], cursor: page.cursor, hasMore: false });
    expect((await changes({ after: first?.cursor })).nodes).toEqual(read.slice(1));
  });

  it('show the object that they concern in its current state, and the previous values', async () => {
    const start = await newestCursor(app);
    const { key, id } = await newIssue();
    const { comment } = await ada.mutate('commentCreate', { issueKey: key, body: 'Said.' });
    await ada.update(key, { title: 'Another', labelIds: [world.shared] });
    await numberAllChanges(app.database);
    const selection = `origin requestId actorUserAccountId actor { displayName } issueId issue { key title } team { code }
      comment { bodyText } agentMessage { id } fields previous { field value } occurredUtc`;
    const { nodes } = await changes({ after: start }, { selection });
    const common = {
      actor: { displayName: 'Ada Member' },
      issue: { key, title: 'Another' },
      team: { code: 'ENG' },
    };
    expect(nodes).toMatchObject([
      { eventType: 'issue.created.v1', subjectId: id, issueId: id, origin: 'REQUEST', fields: [], ...common },
      {
        eventType: 'issue-comment.created.v1',
        subjectId: comment.id,
        comment: { bodyText: 'Said.' },
        ...common,
      },
      {
        eventType: 'issue.updated.v1',
        fields: ['title', 'labelIds'],
        previous: [
          { field: 'title', value: 'An issue' },
          { field: 'labelIds', value: '[]' },
        ],
        comment: null,
        ...common,
      },
    ]);
  });

  it('are tombstones of deleted objects', async () => {
    const start = await newestCursor(app);
    const { key, id } = await newIssue();
    await ada.mutate('issueDelete', { key });
    await numberAllChanges(app.database);
    const { nodes } = await changes({ after: start }, { selection: 'issueId issue { key }' });
    expect(nodes).toMatchObject([
      { eventType: 'issue.created.v1', subjectId: id, issueId: id, issue: null },
      { eventType: 'issue.deleted.v1', subjectId: id, issueId: id, issue: null },
    ]);
  });

  it('show nothing of a deleted issue’s comments and agent messages, which restoring the issue shows again', async () => {
    const start = await newestCursor(app);
    const { key } = await newIssue();
    await ada.mutate('commentCreate', { issueKey: key, body: 'Said.' });
    await callerOf(app, world.agent.token).mutate('agentMessageCreate', { issueKey: key, body: 'Done.' });
    await ada.mutate('issueDelete', { key });
    await numberAllChanges(app.database);
    const selection = 'comment { bodyText issue { key } } agentMessage { body thread { issue { key } } }';
    const shown = async () =>
      (await changes({ after: start }, { selection })).nodes.flatMap(({ comment, agentMessage }) => [
        ...(comment ? [comment] : []),
        ...(agentMessage ? [agentMessage] : []),
      ]);
    expect(await shown()).toEqual([]);
    await ada.mutate('issueRestore', { key });
    expect(await shown()).toEqual([
      { bodyText: 'Said.', issue: { key } },
      { body: 'Done.', thread: { issue: { key } } },
    ]);
  });

  it('can be filtered, and the cursor advances even if none matches', async () => {
    const start = await newestCursor(app);
    const [one, two] = [await newIssue(), await newIssue()];
    await ada.mutate('commentCreate', { issueKey: two.key, body: 'Said.' });
    await numberAllChanges(app.database);
    const filter = { issueId: { eq: two.id }, eventType: { startsWith: 'issue-comment.' } };
    expect((await changes({ after: start, filter })).nodes).toMatchObject([
      { eventType: 'issue-comment.created.v1' },
    ]);
    const none = await changes({
      after: start,
      filter: { issueId: { eq: one.id }, origin: { eq: 'IMPORT' } },
    });
    expect(none).toEqual({ nodes: [], cursor: await newestCursor(app), hasMore: false });
  });

  it('of another workspace are not shown, and its cursors are not accepted', async () => {
    const other = await app.secondWorkspace();
    expect(await changes({}, { token: other.token })).toMatchObject({ nodes: [], cursor: 'c1-0-0' });
    await newIssue();
    const { body } = await app.graphql(
      'query ($after: String) { changes(after: $after) { cursor } }',
      { after: await newestCursor(app) },
      { token: other.token },
    );
    expect(body.errors?.[0]?.extensions?.code).toBe('CURSOR_EXPIRED');
  });

  it.each([
    ['after', { after: 'nonsense' }, 'after'],
    ['after of another list', { after: Buffer.from('["a",1,"b"]').toString('base64url') }, 'after'],
    ['first', { first: 0 }, 'first'],
    ['first', { first: 251 }, 'first'],
    ['waitSeconds', { waitSeconds: 26 }, 'waitSeconds'],
    ['filter', { filter: { issueId: { eq: 'nonsense' } } }, 'filter.issueId'],
  ])('refuse an invalid %s', async (_name, variables, field) => {
    const message = await refusalOf(variables);
    expect(message).toContain('INVALID_REQUEST');
    expect(message).toContain(field);
  });
});

describe('a cursor', () => {
  it('has expired when changes after it were removed', async () => {
    const start = await newestCursor(app);
    await newIssue();
    await newIssue();
    const end = await newestCursor(app);
    const position = Number(end.split('-')[1]);
    const log = app.database.of(app.workspaceId);
    await log.updateTable('changeHead').set({ oldest: position }).execute();
    await log.deleteFrom('change').where('position', '<', position).execute();
    expect(await refusalOf({ after: start })).toContain('CURSOR_EXPIRED');
    expect(await refusalOf({ after: 'c1-0-0' })).toContain('CURSOR_EXPIRED');
    expect((await changes({ after: end })).nodes).toEqual([]);
    expect((await changes()).nodes).toHaveLength(1);
  });

  it('has expired when it is ahead of the log, or of another history', async () => {
    await newIssue();
    const [version, position, tag] = (await newestCursor(app)).split('-');
    expect(await refusalOf({ after: `${version}-${Number(position) + 1}-${tag}` })).toContain(
      'CURSOR_EXPIRED',
    );
    expect(await refusalOf({ after: `${version}-${position}-zzz` })).toContain('CURSOR_EXPIRED');
  });

  it('is still valid when retention has removed all changes of a quiet workspace', async () => {
    await newIssue();
    const end = await newestCursor(app);
    const inMonths = new Date(Date.now() + 90 * 24 * 60 * 60_000);
    await oldChanges(app.database, 7).doSome(inMonths);
    expect((await changes()).nodes).toEqual([]);
    expect(await changes({ after: end })).toEqual({ nodes: [], cursor: end, hasMore: false });
    await newIssue();
    await numberAllChanges(app.database);
    expect((await changes({ after: end })).nodes).toHaveLength(1);
  });

  it('of a workspace is not younger than the lists that are read beside it', async () => {
    await newestCursor(app);
    const writes = Array.from({ length: 20 }, () => newIssue());
    const reads = Array.from({ length: 20 }, async () => {
      const { body } = await app.graphql<{
        workspace: { changeCursor: string };
        issues: { nodes: { id: string }[] };
      }>('{ issues(first: 250) { nodes { id } } workspace { changeCursor } }');
      return body.data;
    });
    await Promise.all(writes);
    await numberAllChanges(app.database);
    const { nodes: all } = await changes({ first: 250 });
    for (const read of await Promise.all(reads)) {
      const position = Number(read?.workspace.changeCursor.split('-')[1]);
      const listed = new Set(read?.issues.nodes.map(({ id }) => id));
      const missing = all.filter(
        (change) =>
          change.eventType === 'issue.created.v1' &&
          Number(change.position) <= position &&
          !listed.has(change.subjectId),
      );
      expect(missing).toEqual([]);
    }
  });
});

describe('a read that waits', () => {
  it('is answered when a change is made', async () => {
    const start = await newestCursor(app);
    const waiting = changes({ after: start, waitSeconds: 25 });
    const { id } = await newIssue();
    expect((await waiting).nodes).toMatchObject([{ eventType: 'issue.created.v1', subjectId: id }]);
  });

  it('keeps waiting when a change does not match', async () => {
    const start = await newestCursor(app);
    const filter = { eventType: { eq: 'issue-comment.created.v1' } };
    const waiting = changes({ after: start, filter, waitSeconds: 25 });
    const { key } = await newIssue();
    await numberAllChanges(app.database);
    await ada.mutate('commentCreate', { issueKey: key, body: 'Said.' });
    expect((await waiting).nodes).toMatchObject([{ eventType: 'issue-comment.created.v1' }]);
  });

  it('is answered without changes at its deadline, with a cursor from which to continue', async () => {
    const start = await newestCursor(app);
    expect(await changes({ after: start, waitSeconds: 1 })).toEqual({
      nodes: [],
      cursor: start,
      hasMore: false,
    });
  });

  it('is refused when its token was revoked meanwhile', async () => {
    const start = await newestCursor(app);
    const token = await app.tokenFor();
    const filter = { eventType: { eq: 'issue.created.v1' } };
    const waiting = changes({ after: start, filter, waitSeconds: 25 }, { token }).catch(
      (failure: Error) => failure.message,
    );
    await revokeToken(app, token);
    await newIssue();
    expect(await waiting).toContain('UNAUTHENTICATED');
  });
});

it('GET /v1/changes answers 410 for an expired cursor', async () => {
  expect(await app.request('GET', '/v1/changes?cursor=c1-1-zzz')).toMatchObject({
    status: 410,
    body: { code: 'cursor_expired' },
  });
});
