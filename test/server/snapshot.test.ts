import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { compiledCounts } from '../../src/executor/compiled/run/executor.ts';
import { DatabaseUnavailableError } from '../../src/db/engine/unavailable.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { newestCursor } from '../live/subscribing.ts';
import { type App, startApp } from '../support/app.ts';
import { team } from '../support/fixtures.ts';

const headers = { 'x-workgraph-snapshot': 'true' };

let app: App;
let teamId: string;
let issueId: string;
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true, settings: { EXECUTOR: 'compiled' } });
  ({ id: teamId } = await team(app.database, app.workspaceId, { code: 'ONE', name: 'Before' }));
  const { body } = await app.graphql<{ issueCreate: { issue: { id: string } } }>(
    'mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { issue { id } } }',
    { input: { teamId: encodeId('team', teamId), title: 'Discussed' } },
  );
  issueId = body.data?.issueCreate.issue.id ?? '';
});
afterAll(() => app.stop());

async function comment(): Promise<void> {
  const { body } = await app.graphql(
    'mutation ($input: CommentCreateInput!) { commentCreate(input: $input) { comment { id } } }',
    { input: { issueKey: 'ONE-1', body: 'And?' } },
  );
  expect(body.errors).toBeUndefined();
}

/** Only graphql-js answers introspection. */
const introspection = '__schema { queryType { name } }';
/** Costs too much for graphql-js. */
const costly = Array.from({ length: 20 }, (_, n) => `p${n}: issues(first: 250) { nodes { key } }`).join(' ');
const refusal = {
  errors: [expect.objectContaining({ message: expect.stringContaining('may return at most 2,500') })],
};

describe('a query with X-Workgraph-Snapshot', () => {
  it.each(['', introspection])('shows the same moment in all its parts beside { %s }', async (otherField) => {
    const query = `query ($ids: [ID!]!) { ${otherField} nodes(ids: $ids) { ... on Issue {
      commentCount comments(last: 1) { totalCount nodes { issue { commentCount comments { totalCount } } } } } } }`;
    const finished = new AbortController();
    const writer = (async () => {
      while (!finished.signal.aborted) await comment();
    })();
    for (let read = 0; read < 40; read += 1) {
      const { body } = await app.graphql<{ nodes: { commentCount: number }[] }>(
        query,
        { ids: [issueId] },
        { headers },
      );
      const counts = JSON.stringify(body.data).matchAll(/(?:commentCount|totalCount)":(\d+)/g);
      expect(new Set(Array.from(counts, ([, count]) => count)).size).toBe(1);
    }
    finished.abort();
    await writer;
  });

  it('is answered by the compiled executor at any cost, and by graphql-js only at a low one', async () => {
    const before = compiledCounts.answered;
    const { body } = await app.graphql(`{ ${costly} }`, {}, { headers });
    expect(body.errors).toBeUndefined();
    expect(compiledCounts.answered).toBe(before + 1);
    const refused = await app.graphql(`{ ${introspection} ${costly} }`, {}, { headers });
    expect(refused.body).toEqual(refusal);
  });

  it('is refused for its cost without a connection', async () => {
    const ask = () => app.graphql(`{ ${introspection} ${costly} }`, {}, { headers });
    // After this request, the server knows the token.
    await ask();
    const connect = app.database.connect.bind(app.database);
    Object.assign(app.database, { connect: () => Promise.reject(new DatabaseUnavailableError('gone')) });
    const { status, body } = await ask().finally(() => Object.assign(app.database, { connect }));
    expect([status, body]).toEqual([200, refusal]);
  });

  it('leaves the connection usable after an error', async () => {
    const page = (after: string) =>
      app.graphql(`{ issues(after: "${after}") { totalCount } }`, {}, { headers });
    for (let n = 0; n < 20; n += 1) {
      const { body } = await page('not a cursor');
      expect(body).toMatchObject({ errors: [{ extensions: { code: 'INVALID_REQUEST' } }] });
    }
    const { body } = await page('');
    expect(body.errors).toBeUndefined();
    await comment();
  });

  it('reads reference data from the snapshot, and not from memory', async () => {
    const query = '{ issues(first: 1) { nodes { team { name } } } }';
    await app.graphql(query);
    // A process of another version could write like this, without a notification.
    const { unscoped } = app.database;
    await unscoped.transaction().execute(async (trx) => {
      await trx.updateTable('team').set({ name: 'After' }).where('id', '=', teamId).execute();
    });
    const { body } = await app.graphql(query, {}, { headers });
    expect(body.data).toEqual({ issues: { nodes: [{ team: { name: 'After' } }] } });
  });

  it('answers what REST asks, and what reads no data', async () => {
    const plain = await app.request('GET', '/v1/issues/ONE-1');
    expect(await app.request('GET', '/v1/issues/ONE-1', { headers })).toMatchObject({
      status: 200,
      body: plain.body,
    });
    const { body } = await app.graphql('{ health { status } }', {}, { headers });
    expect(body.data).toEqual({ health: { status: 'ok' } });
  });

  it('does not wait for changes, which it could not show', async () => {
    const after = await newestCursor(app);
    const query =
      'query ($after: String) { changes(after: $after, waitSeconds: 20) { nodes { eventType } } }';
    const changesAnswer = await app.graphql(query, { after }, { headers });
    expect(changesAnswer.body).toEqual({ data: { changes: { nodes: [] } } });
  });
});

it.each([
  ['{ teams { totalCount } }', 'yes', 'must be true or false'],
  [
    'mutation { accessTokenRevoke(input: { id: "token_1" }) { accessToken { id } } }',
    'true',
    'is only for queries',
  ],
])('%s with X-Workgraph-Snapshot: %s is refused: %s', async (query, value, message) => {
  const { body } = await app.graphql(query, {}, { headers: { 'x-workgraph-snapshot': value } });
  const errors = [{ field: 'X-Workgraph-Snapshot', message }];
  expect(body).toMatchObject({ errors: [{ extensions: { code: 'INVALID_REQUEST', errors } }] });
});
