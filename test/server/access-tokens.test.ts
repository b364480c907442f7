import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { limits } from '../../src/model/limits.ts';
import type { Scope } from '../../src/resolvers/context.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { Contexts } from '../../src/server/context.ts';
import { type App, startApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { member } from '../support/fixtures.ts';

let app: App;
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
});
afterAll(() => app.stop());

interface Made {
  token: string;
  accessToken: { id: string; scopes: Scope[]; expiresUtc: string | null; member: { displayName: string } };
}

async function mint(token: string, input: Record<string, unknown>) {
  const answer = await app.graphql<{ accessTokenCreate: Made }>(
    `mutation Mint($input: AccessTokenCreateInput!) {
      accessTokenCreate(input: $input) { token accessToken { id scopes expiresUtc userAccountId } }
    }`,
    { input: { name: 'child', scopes: ['teams:read'], ...input } },
    { token },
  );
  return { made: answer.body.data?.accessTokenCreate, error: answer.body.errors?.[0] };
}

async function revoke(token: string, id: string | undefined) {
  const answer = await app.graphql<{ accessTokenRevoke: { accessToken: { revokedUtc: string } } }>(
    'mutation Revoke($id: ID!) { accessTokenRevoke(input: { id: $id }) { accessToken { id revokedUtc } } }',
    { id },
    { token },
  );
  return { revoked: answer.body.data?.accessTokenRevoke.accessToken, error: answer.body.errors?.[0] };
}

const statusOf = async (token: string | undefined) =>
  (await app.graphql('{ viewer { scopes } }', {}, { token: token ?? 'none' })).status;

describe('creating a token', () => {
  it('for oneself needs no scope', async () => {
    const own = await app.tokenFor({ scopes: ['teams:read'], role: 'guest' });
    const { made } = await mint(own, {});
    expect(made?.token).toMatch(/^wg_[0-9a-f]{48}$/);
    expect(made?.accessToken.scopes).toEqual(['teams:read']);
    expect(await statusOf(made?.token)).toBe(200);
  });

  it('cannot grant a scope that the requesting token lacks', async () => {
    const own = await app.tokenFor({ scopes: ['teams:read'] });
    const { made, error } = await mint(own, { scopes: ['teams:read', 'issues:write'] });
    expect(made).toBeUndefined();
    expect(error?.extensions).toMatchObject({ code: 'FORBIDDEN', errors: [{ field: 'scopes' }] });
  });

  it('cannot outlive the requesting token, whose expiry is the default', async () => {
    const expiresUtc = new Date(Date.now() + 3_600_000);
    const own = await app.tokenFor({ expiresUtc });
    expect((await mint(own, {})).made?.accessToken.expiresUtc).toBe(expiresUtc.toISOString());
    const sooner = new Date(expiresUtc.getTime() - 60_000).toISOString();
    expect((await mint(own, { expiresUtc: sooner })).made?.accessToken.expiresUtc).toBe(sooner);
    const later = new Date(expiresUtc.getTime() + 1_000).toISOString();
    expect((await mint(own, { expiresUtc: later })).error?.extensions).toMatchObject({
      code: 'FORBIDDEN',
      errors: [{ field: 'expiresUtc' }],
    });
  });

  it('reports all invalid fields at once', async () => {
    const { error } = await mint(app.token, {
      name: ' ',
      scopes: ['teams:read', 'everything'],
      expiresUtc: '2020-01-01T00:00:00Z',
    });
    expect(error?.extensions).toMatchObject({ code: 'VALIDATION_FAILED' });
    const violations = (error?.extensions?.errors ?? []) as { field: string }[];
    expect(violations.map(({ field }) => field).toSorted()).toEqual(['expiresUtc', 'name', 'scopes']);
    const tooLong = await mint(app.token, { name: 'x'.repeat(256) });
    expect(tooLong.error?.extensions?.errors).toEqual([
      { field: 'name', message: 'must have at most 255 characters' },
    ]);
  });

  it('for others needs an owner or admin with workspace:admin, and never works for a higher role', async () => {
    const other = await member(app.database, app.workspaceId);
    const owner = app.ownerUserAccountId;
    const memberId = encodeId('member', other.id);
    const ownerId = await memberIdOf(owner);
    expect((await mint(app.token, { memberId })).made).toBeDefined();
    const admin = await app.tokenFor({ role: 'admin' });
    expect((await mint(admin, { memberId })).made).toBeDefined();
    expect((await mint(admin, { memberId: ownerId })).error?.extensions?.code).toBe('FORBIDDEN');
    const plain = await app.tokenFor({ role: 'member' });
    expect((await mint(plain, { memberId })).error?.extensions?.code).toBe('FORBIDDEN');
    const narrow = await app.tokenFor({ scopes: ['teams:read'] });
    expect((await mint(narrow, { memberId })).error?.extensions?.code).toBe('FORBIDDEN');
  });

  it('is refused when the member has as many valid tokens as allowed, even for concurrent requests', async () => {
    const { made: guest, own } = await guestWithTokens(limits.accessTokens - 2);
    const results = await Promise.all(Array.from({ length: 6 }, () => mint(own, {})));
    const made = results.flatMap((result) => result.made ?? []);
    expect(made).toHaveLength(2);
    const [refusal] = results.flatMap(({ error }) => error ?? []);
    expect(refusal).toMatchObject({ extensions: { code: 'CONFLICT' } });
    expect(refusal?.message).toBe(
      'The member has 50 valid access tokens, and can have no more. Revoke some that are not needed any more.',
    );
    const { error } = await mint(app.token, { memberId: encodeId('member', guest.id) });
    expect(error?.extensions?.code).toBe('CONFLICT');
    await revoke(own, made[0]?.accessToken.id);
    expect((await mint(own, {})).made).toBeDefined();
    expect((await mint(own, {})).error?.extensions?.code).toBe('CONFLICT');
  });

  it('counts expired tokens only as long as they are an hour old', async () => {
    const expired = new Date(Date.now() - 1_000);
    const { made: guest, own } = await guestWithTokens(limits.accessTokensPerHour - 1, expired);
    expect((await mint(own, {})).made).toBeDefined();
    expect((await mint(own, {})).error?.message).toBe(
      'The member was given 100 access tokens within an hour. Use one of them, or try again later.',
    );
    await app.database.unscoped
      .updateTable('accessToken')
      .set({ createdUtc: new Date(Date.now() - 3_601_000) })
      .where('userAccountId', '=', guest.userAccountId)
      .execute();
    expect((await mint(own, {})).made).toBeDefined();
  });

  it.each(['suspended', 'removed'] as const)('refuses a member who is %s', async (status) => {
    const { id } = await member(app.database, app.workspaceId, { status });
    const { error } = await mint(app.token, { memberId: encodeId('member', id) });
    expect(error?.extensions).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field: 'memberId' }] });
  });

  it('refuses a member of another workspace like one that does not exist, and an id of another kind', async () => {
    const second = await app.secondWorkspace();
    const stranger = await member(app.database, second.workspaceId);
    const { error: strange } = await mint(app.token, { memberId: encodeId('member', stranger.id) });
    const { error: absent } = await mint(app.token, { memberId: 'member_00000000000000000000000000' });
    const { error: no } = await mint(app.token, { memberId: 'team_00000000000000000000000000' });
    const message = 'expected a member id, got a team id';
    expect(no?.extensions).toMatchObject({
      code: 'VALIDATION_FAILED',
      errors: [{ field: 'memberId', message }],
    });
    expect(strange?.message).toBe(absent?.message);
  });
});

describe('revoking a token', () => {
  it('revokes the token and all its descendants at once', async () => {
    const parent = (await mint(app.token, {})).made;
    const child = (await mint(parent?.token ?? '', {})).made;
    const grandchild = (await mint(child?.token ?? '', {})).made;
    const sibling = (await mint(app.token, {})).made;
    const { revoked } = await revoke(app.token, parent?.accessToken.id);
    expect(revoked?.revokedUtc).toMatch(/Z$/);
    expect(
      await Promise.all([parent, child, grandchild, sibling].map((made) => statusOf(made?.token))),
    ).toEqual([401, 401, 401, 200]);
  });

  it('also revokes a child that is being created at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const parent = (await mint(app.token, {})).made;
      const [, ...children] = await Promise.all([
        revoke(app.token, parent?.accessToken.id),
        ...Array.from({ length: 4 }, () => mint(parent?.token ?? '', {})),
      ]);
      const statuses = await Promise.all(children.map(({ made }) => statusOf(made?.token)));
      expect(statuses).toEqual([401, 401, 401, 401]);
    }
  });

  it('is permitted to its member and to owners and admins, with workspace:admin', async () => {
    const holder = await member(app.database, app.workspaceId);
    const fresh = async () =>
      (await mint(app.token, { memberId: encodeId('member', holder.id) })).made?.accessToken.id;
    const stranger = await app.tokenFor({ role: 'member' });
    expect((await revoke(stranger, await fresh())).error?.extensions?.code).toBe('NOT_FOUND');
    const own = await app.tokenFor({ userAccountId: holder.userAccountId });
    expect((await revoke(own, await fresh())).revoked).toBeDefined();
    const weak = await app.tokenFor({ userAccountId: holder.userAccountId, scopes: ['teams:read'] });
    expect((await revoke(weak, await fresh())).error?.extensions?.code).toBe('NOT_FOUND');
    const admin = await app.tokenFor({ role: 'admin' });
    expect((await revoke(admin, await fresh())).revoked).toBeDefined();
    const narrow = await app.tokenFor({ role: 'admin', scopes: ['teams:read'] });
    expect((await revoke(narrow, await fresh())).error?.extensions?.code).toBe('NOT_FOUND');
    const owners = (await mint(app.token, {})).made;
    expect((await revoke(admin, owners?.accessToken.id)).error).toMatchObject({
      message: 'The token belongs to a member with a higher role.',
      extensions: { code: 'FORBIDDEN' },
    });
    expect(await statusOf(owners?.token)).toBe(200);
  });

  it('treats tokens of another workspace like those that do not exist', async () => {
    const second = await app.secondWorkspace();
    const theirs = (await mint(second.token, {})).made?.accessToken.id;
    const { error } = await revoke(app.token, theirs);
    const { error: absent } = await revoke(app.token, 'token_00000000000000000000000000');
    expect([error?.message, error?.extensions?.code]).toEqual([absent?.message, 'NOT_FOUND']);
    expect((await revoke(app.token, 'team_00000000000000000000000000')).error?.message).toBe(
      'id: expected a token id, got a team id.',
    );
  });
});

describe('listing tokens', () => {
  it('shows a token itself, and all tokens if an owner or admin with workspace:admin asks', async () => {
    const plain = await app.tokenFor({ role: 'member' });
    const count = async (token: string) =>
      (
        await app.graphql<{ accessTokens: { totalCount: number } }>(
          '{ accessTokens { totalCount } }',
          {},
          { token },
        )
      ).body.data?.accessTokens.totalCount ?? 0;
    expect(await count(plain)).toBe(1);
    expect(await count(await app.tokenFor({ role: 'admin' }))).toBeGreaterThan(2);
    expect(await count(await app.tokenFor({ role: 'admin', scopes: ['teams:read'] }))).toBe(1);
  });
});

/** A guest with so many tokens, of which `own` is one that has not expired. */
async function guestWithTokens(count: number, expiresUtc?: Date) {
  const made = await member(app.database, app.workspaceId, { role: 'guest' });
  const { userAccountId } = made;
  const own = await app.tokenFor({ userAccountId, scopes: ['teams:read'] });
  for (let others = 1; others < count; others += 1)
    await app.tokenFor({ userAccountId, ...(expiresUtc && { expiresUtc }) });
  return { made, own };
}

async function memberIdOf(userAccountId: string): Promise<string> {
  const { id } = await app.database.unscoped
    .selectFrom('member as m')
    .select('m.id')
    .where('m.workspaceId', '=', app.workspaceId)
    .where('m.userAccountId', '=', userAccountId)
    .executeTakeFirstOrThrow();
  return encodeId('member', id);
}

it.each([
  ['GraphQL', '/graphql', { query: 'mutation { __typename }' }],
  ['REST', '/v1/issues/NONE-1/comments', { body: 'too late' }],
])(
  'a request over %s whose token is revoked before its body arrives is refused',
  async (_over, path, body) => {
    const { made } = await mint(app.token, { scopes: ['issues:read', 'issues:write'] });
    const authenticated = jest.spyOn(Contexts.prototype, 'authenticatedContext');
    try {
      const text = JSON.stringify(body);
      const headers = {
        authorization: `Bearer ${made?.token}`,
        'content-type': 'application/json',
        'content-length': text.length,
      };
      const sent = request(new URL(path, app.url), { method: 'POST', headers });
      sent.write(text.slice(0, 5));
      await eventually(() => authenticated.mock.results.length === 1);
      expect(await authenticated.mock.results[0]?.value).toMatchObject({
        principal: { tokenId: expect.any(String) },
      });
      await revoke(app.token, made?.accessToken.id);
      sent.end(text.slice(5));
      const [answer] = (await once(sent, 'response')) as [{ statusCode: number; resume: () => void }];
      answer.resume();
      expect(answer.statusCode).toBe(401);
    } finally {
      authenticated.mockRestore();
    }
  },
);
