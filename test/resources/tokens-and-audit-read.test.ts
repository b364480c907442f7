import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { scopes as allScopes } from '../../src/resolvers/context.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { inProcess } from '../cli/workgraph.ts';
import { describeReads } from '../graph/read-suite.ts';
import { dataOf } from '../graph/graph-answer.ts';
import { startWorld, type World } from '../graph/world.ts';
import { eventually } from '../support/eventually.ts';

let world: World;
/** A token of an admin and one of a member, both with `workspace:admin`. */
let adminToken: string;
let memberToken: string;

beforeAll(async () => {
  world = await startWorld();
  adminToken = await world.token(['workspace:admin', 'issues:read'], 1);
  memberToken = await world.token(['workspace:admin', 'issues:read'], 2);
  await world.token(['teams:read'], 2);
  const { workspaceId } = world.fixture;
  const { unscoped: db } = world.app.database;
  const own = db.selectFrom('accessToken').selectAll().where('workspaceId', '=', workspaceId);
  const ended = (await own.execute()).find(({ scopes }) => scopes.join() === 'teams:read');
  await db
    .updateTable('accessToken')
    .set({ expiresUtc: new Date(Date.now() + 3_600_000), revokedUtc: new Date() })
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', ended?.id ?? '')
    .execute();
  // Wait until the last use of the owner's token is stored, which happens after an answer was sent.
  await eventually(async () => {
    await world.ask('{ viewer { scopes } }');
    return (await own.execute()).some(({ lastUsedUtc }) => lastUsedUtc !== null);
  });
  await writeAuditEntries();
  world = { ...world, model: await world.read() };
});
afterAll(() => world.stop());

/** The owner makes three tokens, of which an operator revokes two. */
async function writeAuditEntries(): Promise<void> {
  const make =
    'mutation ($name: String!) { accessTokenCreate(input: { name: $name, scopes: ["teams:read"] }) { accessToken { id } } }';
  for (const name of ['one', 'two', 'three']) {
    const created = dataOf(await world.ask(make, { name })) as {
      accessTokenCreate: { accessToken: { id: string } };
    };
    if (name !== 'three')
      await inProcess(world.app, 'token revoke', [created.accessTokenCreate.accessToken.id]);
  }
}

describeReads('AccessToken', () => world);
describeReads('AuditEntry', () => world);

interface Tokens {
  accessTokens: { totalCount: number; nodes: { id: string; userAccountId: string }[] };
}
const query = '{ accessTokens { totalCount nodes { id userAccountId } } }';

describe('access tokens', () => {
  it('with workspace:admin, owners and admins list all tokens, and other members list their own', async () => {
    const all = world.model.all('AccessToken').map(({ id }) => id);
    for (const token of [undefined, adminToken]) {
      const { accessTokens } = dataOf(await world.ask(query, {}, token)) as unknown as Tokens;
      expect(accessTokens.totalCount).toBe(all.length);
      expect(new Set(accessTokens.nodes.map(({ id }) => id))).toEqual(new Set(all));
    }
    const own = encodeId('user', world.fixture.rows.member[2]?.userAccountId ?? '');
    const { accessTokens } = dataOf(await world.ask(query, {}, memberToken)) as unknown as Tokens;
    expect(accessTokens.totalCount).toBe(2);
    expect(accessTokens.nodes.map(({ userAccountId }) => userAccountId)).toEqual([own, own]);
  });

  it('of other members cannot be found by a filter or a cursor', async () => {
    const others = encodeId('user', world.fixture.rows.member[0]?.userAccountId ?? '');
    const filtered =
      'query ($id: ID) { accessTokens(filter: { userAccountId: { eq: $id } }) { totalCount nodes { id } } }';
    expect(dataOf(await world.ask(filtered, { id: others }, memberToken)).accessTokens).toEqual({
      totalCount: 0,
      nodes: [],
    });
    const { accessTokens } = dataOf(await world.ask('{ accessTokens(last: 1) { edges { cursor } } }')) as {
      accessTokens: { edges: { cursor: string }[] };
    };
    const before = accessTokens.edges[0]?.cursor;
    const paged = await world.ask(
      'query ($before: String) { accessTokens(last: 250, before: $before) { nodes { userAccountId } } }',
      { before },
      memberToken,
    );
    const { nodes } = (dataOf(paged) as unknown as Tokens).accessTokens;
    expect(nodes.filter(({ userAccountId }) => userAccountId === others)).toEqual([]);
  });

  it('can be read by id exactly if the list shows them', async () => {
    const node = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on AccessToken { name scopes } } }';
    const tokens = world.model.all('AccessToken');
    const ids = tokens.map(({ id }) => id);
    const shown = ({ id, name, scopes }: (typeof tokens)[number]) => ({ id, name, scopes });
    expect(dataOf(await world.ask(node, { ids }, adminToken)).nodes).toEqual(tokens.map(shown));
    const own = encodeId('user', world.fixture.rows.member[2]?.userAccountId ?? '');
    expect(dataOf(await world.ask(node, { ids }, memberToken)).nodes).toEqual(
      tokens.map((token) => (token.userAccountId === own ? shown(token) : null)),
    );
  });

  it('return their scopes, member and workspace through the viewer', async () => {
    const answer = await world.ask(
      '{ viewer { scopes member { displayName } workspace { name } accessToken { scopes userAccountId } } }',
    );
    const owner = world.fixture.rows.member[0];
    expect(dataOf(answer).viewer).toEqual({
      scopes: [...allScopes],
      member: { displayName: owner?.displayName },
      workspace: { name: 'Workspace of here' },
      accessToken: { scopes: [...allScopes], userAccountId: encodeId('user', owner?.userAccountId ?? '') },
    });
  });

  it('never show their text or its hash', async () => {
    const { body } = await world.ask('{ __type(name: "AccessToken") { fields { name } } }');
    expect(JSON.stringify(body)).not.toMatch(/hash|token"/i);
  });
});
