import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { issueToken } from '../../src/resolvers/access/access-tokens.ts';
import { systemActor } from '../../src/resolvers/access/audit.ts';
import { memberRole } from '../../src/model/codes.ts';
import type { Scope } from '../../src/resolvers/context.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { type App, startApp, type TestWorkspace } from '../support/app.ts';
import { member } from '../support/fixtures.ts';

let app: App;
let second: TestWorkspace;

beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
  second = await app.secondWorkspace();
});
afterAll(() => app.stop());

const roles = Object.keys(memberRole) as (keyof typeof memberRole)[];

/** The relations that a token can have to the requesting token. */
const relations = [
  'self',
  'child',
  'grandchild',
  'child of another member',
  'parent',
  'sibling',
  'unrelated of the same member',
  'of a guest',
  'of an owner',
  'of another workspace',
] as const;
type Relation = (typeof relations)[number];

/** The documented rule, independent of the implementation. */
function reaches(role: keyof typeof memberRole, isAdminScope: boolean, relation: Relation): boolean {
  if (relation === 'of another workspace') return false;
  const isDescendant = ['self', 'child', 'grandchild', 'child of another member'].includes(relation);
  if (!isAdminScope) return isDescendant;
  if (role === 'owner' || role === 'admin') return true;
  return !['child of another member', 'of a guest', 'of an owner'].includes(relation);
}

const cells = roles.flatMap((role) => [true, false].map((isAdminScope) => ({ role, isAdminScope })));

describe.each(cells)(
  'a token of role $role with workspace:admin: $isAdminScope',
  ({ role, isAdminScope }) => {
    it('lists, counts and reads exactly the tokens that it reaches', async () => {
      const family = await makeFamily(role, isAdminScope);
      const ids = relations.map((relation) => family[relation].id);
      const expected = relations.filter((relation) => reaches(role, isAdminScope, relation));
      const { body } = await app.graphql<{
        listed: { totalCount: number; nodes: { id: string }[] };
        all: { totalCount: number };
        nodes: ({ id: string } | null)[];
      }>(
        `query ($ids: [ID!]!) {
        listed: accessTokens(first: 250, filter: { id: { in: $ids } }) { totalCount nodes { id } }
        all: accessTokens { totalCount }
        nodes(ids: $ids) { ... on AccessToken { id } }
      }`,
        { ids },
        { token: family.self.token },
      );
      expect(body.errors).toBeUndefined();
      const named = (found: readonly ({ id: string } | null)[] | undefined) =>
        relations.filter((relation) => found?.some((node) => node?.id === family[relation].id));
      expect(named(body.data?.listed.nodes)).toEqual(expected);
      expect(body.data?.listed.totalCount).toBe(expected.length);
      expect(named(body.data?.nodes)).toEqual(expected);
      const isAll = isAdminScope && memberRole[role] <= memberRole.admin;
      expect(body.data?.all.totalCount).toBe(isAll ? await countTokens() : expected.length);
    });

    it('sees no further tokens with the cursor of a more powerful token', async () => {
      const family = await makeFamily(role, isAdminScope);
      const page =
        'query ($after: String) { accessTokens(first: 250, after: $after) { edges { cursor node { id } } } }';
      interface Page {
        accessTokens: { edges: { cursor: string; node: { id: string } }[] };
      }
      const strong = await app.graphql<Page>(page, {}, { token: app.token });
      const [newest] = strong.body.data?.accessTokens.edges ?? [];
      const { body } = await app.graphql<Page>(page, { after: newest?.cursor }, { token: family.self.token });
      const seen = body.data?.accessTokens.edges.map(({ node }) => node.id) ?? [];
      const beyond = relations.filter((relation) => !reaches(role, isAdminScope, relation));
      expect(beyond.filter((relation) => seen.includes(family[relation].id))).toEqual([]);
    });

    it.each(relations)('revokes the token that is %s only when it reaches it', async (relation) => {
      const family = await makeFamily(role, isAdminScope);
      const { id, token } = family[relation];
      const { body } = await app.graphql(
        'mutation ($id: ID!) { accessTokenRevoke(input: { id: $id }) { accessToken { id } } }',
        { id },
        { token: family.self.token },
      );
      const isHigher = role !== 'owner' && relation === 'of an owner';
      const expected = !reaches(role, isAdminScope, relation)
        ? 'NOT_FOUND'
        : isHigher
          ? 'FORBIDDEN'
          : undefined;
      expect(body.errors?.[0]?.extensions?.code).toBe(expected);
      const { status } = await app.graphql('{ viewer { scopes } }', {}, { token });
      expect(status).toBe(expected === undefined ? 401 : 200);
    });
  },
);

describe('an owner', () => {
  it("cannot revoke a token's parent with a token that only reads teams", async () => {
    const strong = await app.tokenFor();
    const answer = await app.graphql<{ accessTokenCreate: { token: string } }>(
      'mutation { accessTokenCreate(input: { name: "weak", scopes: ["teams:read"] }) { token } }',
      {},
      { token: strong },
    );
    const weak = answer.body.data?.accessTokenCreate.token ?? '';
    const viewer = await app.graphql<{ viewer: { accessToken: { id: string } } }>(
      '{ viewer { accessToken { id } } }',
      {},
      { token: strong },
    );
    const { body } = await app.graphql(
      'mutation ($id: ID!) { accessTokenRevoke(input: { id: $id }) { accessToken { id } } }',
      { id: viewer.body.data?.viewer.accessToken.id },
      { token: weak },
    );
    expect(body.errors?.[0]?.extensions?.code).toBe('NOT_FOUND');
    const listed = await app.graphql('{ accessTokens { totalCount } }', {}, { token: weak });
    expect(listed.body.data).toEqual({ accessTokens: { totalCount: 1 } });
    expect((await app.graphql('{ viewer { scopes } }', {}, { token: strong })).status).toBe(200);
  });
});

interface Known {
  id: string;
  token: string;
}

/** Creates a member of the role with a requesting token, and one token for each relation to it. */
async function makeFamily(
  role: keyof typeof memberRole,
  isAdminScope: boolean,
): Promise<Record<Relation, Known>> {
  const newMember = async (other: keyof typeof memberRole) =>
    (await member(app.database, app.workspaceId, { role: other })).userAccountId;
  const own = await newMember(role);
  const guest = await newMember('guest');
  const all: readonly Scope[] = ['teams:read', 'workspace:admin'];
  const asking: readonly Scope[] = isAdminScope ? all : ['teams:read'];
  const parent = await newToken(own, all);
  const self = await newToken(own, asking, parent);
  const child = await newToken(own, asking, self);
  return {
    parent,
    self,
    child,
    grandchild: await newToken(own, asking, child),
    'child of another member': await newToken(guest, ['teams:read'], self),
    sibling: await newToken(own, asking, parent),
    'unrelated of the same member': await newToken(own, asking),
    'of a guest': await newToken(guest, ['teams:read']),
    'of an owner': await newToken(await newMember('owner'), all),
    'of another workspace': await newToken(second.ownerUserAccountId, all, undefined, second.workspaceId),
  };
}

async function newToken(
  userAccountId: string,
  scopes: readonly Scope[],
  parent?: { uuid: string },
  workspaceId = app.workspaceId,
): Promise<Known & { uuid: string }> {
  const { token, accessToken } = await issueToken(app.database.of(workspaceId), systemActor, {
    name: 'one of a family',
    scopes,
    userAccountId,
    parentTokenId: parent?.uuid ?? null,
  });
  return { token, id: encodeId('token', accessToken.id), uuid: accessToken.id };
}

async function countTokens(): Promise<number> {
  const rows = await app.database.unscoped
    .selectFrom('accessToken as t')
    .select('t.id')
    .where('t.workspaceId', '=', app.workspaceId)
    .execute();
  return rows.length;
}
