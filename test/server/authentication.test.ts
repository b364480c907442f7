import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { memberStatus } from '../../src/model/codes.ts';
import { hashToken } from '../../src/resolvers/access/access-tokens.ts';
import { type App, isGraphqlJs, startApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { member } from '../support/fixtures.ts';

let app: App;
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
});
afterAll(() => app.stop());

const askViewer = (token: string | null) =>
  app.graphql('{ viewer { member { displayName } } }', {}, { token });
const rowOf = (token: string) =>
  app.database.unscoped
    .selectFrom('accessToken')
    .selectAll()
    .where('tokenHash', '=', hashToken(token))
    .executeTakeFirstOrThrow();

describe('a token', () => {
  it('authenticates its member, and its look-up does not count as a statement of the request', async () => {
    const answer = await app.graphql('{ viewer { scopes } }');
    expect(answer).toMatchObject({ status: 200, statements: 0 });
  });

  it('is not stored as text', async () => {
    const { rows } = await app.database.unscoped
      .selectFrom('accessToken')
      .selectAll()
      .execute()
      .then((all) => ({ rows: JSON.stringify(all) }));
    expect(rows).not.toContain(app.token);
  });

  it('is answered 401 once it has expired', async () => {
    const token = await app.tokenFor({ expiresUtc: new Date(Date.now() + 3_600_000) });
    expect((await askViewer(token)).status).toBe(200);
    await app.database.unscoped
      .updateTable('accessToken')
      .set({ expiresUtc: new Date(Date.now() - 1) })
      .where('tokenHash', '=', hashToken(token))
      .execute();
    expect((await askViewer(token)).status).toBe(401);
  });

  it.each(['suspended', 'removed'] as const)('is answered 401 while its member is %s', async (status) => {
    const { userAccountId } = await member(app.database, app.workspaceId);
    const token = await app.tokenFor({ userAccountId });
    expect((await askViewer(token)).status).toBe(200);
    const setStatus = (value: number) =>
      app.database.unscoped
        .updateTable('member as m')
        .set({ status: value })
        .where('m.workspaceId', '=', app.workspaceId)
        .where('m.userAccountId', '=', userAccountId)
        .execute();
    await setStatus(memberStatus[status]);
    expect((await askViewer(token)).status).toBe(401);
    await setStatus(memberStatus.active);
    expect((await askViewer(token)).status).toBe(200);
  });

  it('authenticates the membership in its own workspace, even if its account has another one', async () => {
    const second = await app.secondWorkspace();
    const here = await member(app.database, app.workspaceId, { displayName: 'Gus Here', role: 'guest' });
    const there = await member(app.database, second.workspaceId, { displayName: 'Gus There', role: 'admin' });
    const { userAccountId } = here;
    await app.database.unscoped
      .updateTable('member')
      .set({ userAccountId })
      .where('workspaceId', '=', second.workspaceId)
      .where('id', '=', there.id)
      .execute();
    // Administrators see all tokens, other members their own.
    for (const [workspace, displayName, tokens] of [
      [app, 'Gus Here', 1],
      [second, 'Gus There', 2],
    ] as const) {
      const token = await app.tokenFor({ userAccountId, workspace });
      const query = '{ viewer { member { displayName } } accessTokens { totalCount } }';
      const { body } = await app.graphql(query, {}, { token });
      expect(body).toEqual({
        data: { viewer: { member: { displayName } }, accessTokens: { totalCount: tokens } },
      });
    }
  });

  it('has its last use stored at most once a minute, which does not count as a statement of the request', async () => {
    const token = await app.tokenFor({ scopes: ['teams:read'] });
    expect((await rowOf(token)).lastUsedUtc).toBeNull();
    expect((await askViewer(token)).statements).toBe(isGraphqlJs ? 1 : 0);
    const first = await lastUseOf(token);
    await askViewer(token);
    expect(await lastUseOf(token)).toEqual(first);
  });

  it('is ignored while it is the placeholder of GraphiQL, so that the schema can be read', async () => {
    const headers = { authorization: 'Bearer <paste the token printed at start>' };
    const schema = await app.graphql('{ __schema { queryType { name } } }', {}, { token: null, headers });
    expect(schema).toMatchObject({ status: 200, body: { data: { __schema: {} } } });
    expect((await app.graphql('{ viewer { scopes } }', {}, { token: null, headers })).status).toBe(401);
  });

  it('gives access to its own workspace only', async () => {
    const second = await app.secondWorkspace();
    const { body } = await app.graphql<{ workspace: { name: string } }>(
      '{ workspace { name } }',
      {},
      { token: second.token },
    );
    expect(body.data?.workspace.name).toBe('Second');
    const mine = await app.graphql<{ accessTokens: { totalCount: number } }>(
      '{ accessTokens { totalCount } }',
      {},
      {
        token: second.token,
      },
    );
    expect(mine.body.data?.accessTokens.totalCount).toBe(1);
  });
});

/** Waits for the last use, which is stored after the answer was sent. */
async function lastUseOf(token: string): Promise<Date | null> {
  await eventually(async () => (await rowOf(token)).lastUsedUtc !== null);
  return (await rowOf(token)).lastUsedUtc;
}
