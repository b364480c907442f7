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

interface CreatedToken {
  token: string;
  accessToken: { id: string; scopes: Scope[]; expiresUtc: string | null; member: { displayName: string } };
}

async function createToken(token: string, input: Record<string, unknown>) {
  const answer = await app.graphql<{ accessTokenCreate: CreatedToken }>(
    `mutation Mint($input: AccessTokenCreateInput!) {
      accessTokenCreate(input: $input) { token accessToken { id scopes expiresUtc userAccountId } }
    }`,
    { input: { name: 'child', scopes: ['teams:read'], ...input } },
    { token },
  );
  return { created: answer.body.data?.accessTokenCreate, error: answer.body.errors?.[0] };
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
    const ownToken = await app.tokenFor({ scopes: ['teams:read'], role: 'guest' });
    const { created } = await createToken(ownToken, {});
    expect(created?.token).toMatch(/^wg_[0-9a-f]{48}$/);
    expect(created?.accessToken.scopes).toEqual(['teams:read']);
    expect(await statusOf(created?.token)).toBe(200);
  });

  it('cannot grant a scope that the requesting token lacks', async () => {
    const ownToken = await app.tokenFor({ scopes: ['teams:read'] });
    const { created, error } = await createToken(ownToken, { scopes: ['teams:read', 'issues:write'] });
    expect(created).toBeUndefined();
    expect(error?.extensions).toMatchObject({ code: 'FORBIDDEN', errors: [{ field: 'scopes' }] });
  });

  it('cannot outlive the requesting token, whose expiry is the default', async () => {
    const expiresUtc = new Date(Date.now() + 3_600_000);
    const ownToken = await app.tokenFor({ expiresUtc });
    expect((await createToken(ownToken, {})).created?.accessToken.expiresUtc).toBe(expiresUtc.toISOString());
    const sooner = new Date(expiresUtc.getTime() - 60_000).toISOString();
    expect((await createToken(ownToken, { expiresUtc: sooner })).created?.accessToken.expiresUtc).toBe(
      sooner,
    );
    const later = new Date(expiresUtc.getTime() + 1_000).toISOString();
    expect((await createToken(ownToken, { expiresUtc: later })).error?.extensions).toMatchObject({
      code: 'FORBIDDEN',
      errors: [{ field: 'expiresUtc' }],
    });
  });

  it('reports all invalid fields at once', async () => {
    const { error } = await createToken(app.token, {
      name: ' ',
      scopes: ['teams:read', 'everything'],
      expiresUtc: '2020-01-01T00:00:00Z',
    });
    expect(error?.extensions).toMatchObject({ code: 'VALIDATION_FAILED' });
    const violations = (error?.extensions?.errors ?? []) as { field: string }[];
    expect(violations.map(({ field }) => field).toSorted()).toEqual(['expiresUtc', 'name', 'scopes']);
    const tooLong = await createToken(app.token, { name: 'x'.repeat(256) });
    expect(tooLong.error?.extensions?.errors).toEqual([
      { field: 'name', message: 'must have at most 255 characters' },
    ]);
  });

  it('for others needs an owner or admin with workspace:admin, and never works for a higher role', async () => {
    const other = await member(app.database, app.workspaceId);
    const owner = app.ownerUserAccountId;
    const memberId = encodeId('member', other.id);
    const ownerId = await memberIdOf(owner);
    expect((await createToken(app.token, { memberId })).created).toBeDefined();
    const admin = await app.tokenFor({ role: 'admin' });
    expect((await createToken(admin, { memberId })).created).toBeDefined();
    expect((await createToken(admin, { memberId: ownerId })).error?.extensions?.code).toBe('FORBIDDEN');
    const plainToken = await app.tokenFor({ role: 'member' });
    expect((await createToken(plainToken, { memberId })).error?.extensions?.code).toBe('FORBIDDEN');
    const narrowToken = await app.tokenFor({ scopes: ['teams:read'] });
    expect((await createToken(narrowToken, { memberId })).error?.extensions?.code).toBe('FORBIDDEN');
  });

  it('is refused when the member has as many valid tokens as allowed, even for concurrent requests', async () => {
    const { guest, ownToken } = await guestWithTokens(limits.accessTokens - 2);
    const results = await Promise.all(Array.from({ length: 6 }, () => createToken(ownToken, {})));
    const created = results.flatMap((result) => result.created ?? []);
    expect(created).toHaveLength(2);
    const [refusal] = results.flatMap(({ error }) => error ?? []);
    expect(refusal).toMatchObject({ extensions: { code: 'CONFLICT' } });
    expect(refusal?.message).toBe(
      'The member has 50 valid access tokens, and can have no more. Revoke some that are not needed any more.',
    );
    const { error } = await createToken(app.token, { memberId: encodeId('member', guest.id) });
    expect(error?.extensions?.code).toBe('CONFLICT');
    await revoke(ownToken, created[0]?.accessToken.id);
    expect((await createToken(ownToken, {})).created).toBeDefined();
    expect((await createToken(ownToken, {})).error?.extensions?.code).toBe('CONFLICT');
  });

  it('counts expired tokens only as long as they are an hour old', async () => {
    const expired = new Date(Date.now() - 1_000);
    const { guest, ownToken } = await guestWithTokens(limits.accessTokensPerHour - 1, expired);
    expect((await createToken(ownToken, {})).created).toBeDefined();
    expect((await createToken(ownToken, {})).error?.message).toBe(
      'The member was given 100 access tokens within an hour. Use one of them, or try again later.',
    );
    await app.database.unscoped
      .updateTable('accessToken')
      .set({ createdUtc: new Date(Date.now() - 3_601_000) })
      .where('userAccountId', '=', guest.userAccountId)
      .execute();
    expect((await createToken(ownToken, {})).created).toBeDefined();
  });

  it.each(['suspended', 'removed'] as const)('refuses a member who is %s', async (status) => {
    const { id } = await member(app.database, app.workspaceId, { status });
    const { error } = await createToken(app.token, { memberId: encodeId('member', id) });
    expect(error?.extensions).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field: 'memberId' }] });
  });

  it('refuses a member of another workspace like one that does not exist, and an id of another kind', async () => {
    const second = await app.secondWorkspace();
    const strangerMember = await member(app.database, second.workspaceId);
    const { error: otherWorkspaceError } = await createToken(app.token, {
      memberId: encodeId('member', strangerMember.id),
    });
    const { error: unknownIdError } = await createToken(app.token, {
      memberId: 'member_00000000000000000000000000',
    });
    const { error: wrongKindError } = await createToken(app.token, {
      memberId: 'team_00000000000000000000000000',
    });
    const message = 'expected a member id, got a team id';
    expect(wrongKindError?.extensions).toMatchObject({
      code: 'VALIDATION_FAILED',
      errors: [{ field: 'memberId', message }],
    });
    expect(otherWorkspaceError?.message).toBe(unknownIdError?.message);
  });
});

describe('revoking a token', () => {
  it('revokes the token and all its descendants at once', async () => {
    const parent = (await createToken(app.token, {})).created;
    const child = (await createToken(parent?.token ?? '', {})).created;
    const grandchild = (await createToken(child?.token ?? '', {})).created;
    const sibling = (await createToken(app.token, {})).created;
    const { revoked } = await revoke(app.token, parent?.accessToken.id);
    expect(revoked?.revokedUtc).toMatch(/Z$/);
    expect(
      await Promise.all([parent, child, grandchild, sibling].map((created) => statusOf(created?.token))),
    ).toEqual([401, 401, 401, 200]);
  });

  it('also revokes a child that is being created at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      const parent = (await createToken(app.token, {})).created;
      const [, ...children] = await Promise.all([
        revoke(app.token, parent?.accessToken.id),
        ...Array.from({ length: 4 }, () => createToken(parent?.token ?? '', {})),
      ]);
      const statuses = await Promise.all(children.map(({ created }) => statusOf(created?.token)));
      expect(statuses).toEqual([401, 401, 401, 401]);
    }
  });

  it('is permitted to its member and to owners and admins, with workspace:admin', async () => {
    const tokenHolder = await member(app.database, app.workspaceId);
    const newTokenId = async () =>
      (await createToken(app.token, { memberId: encodeId('member', tokenHolder.id) })).created?.accessToken
        .id;
    const strangerToken = await app.tokenFor({ role: 'member' });
    expect((await revoke(strangerToken, await newTokenId())).error?.extensions?.code).toBe('NOT_FOUND');
    const ownToken = await app.tokenFor({ userAccountId: tokenHolder.userAccountId });
    expect((await revoke(ownToken, await newTokenId())).revoked).toBeDefined();
    const weakToken = await app.tokenFor({
      userAccountId: tokenHolder.userAccountId,
      scopes: ['teams:read'],
    });
    expect((await revoke(weakToken, await newTokenId())).error?.extensions?.code).toBe('NOT_FOUND');
    const admin = await app.tokenFor({ role: 'admin' });
    expect((await revoke(admin, await newTokenId())).revoked).toBeDefined();
    const narrowToken = await app.tokenFor({ role: 'admin', scopes: ['teams:read'] });
    expect((await revoke(narrowToken, await newTokenId())).error?.extensions?.code).toBe('NOT_FOUND');
    const ownersToken = (await createToken(app.token, {})).created;
    expect((await revoke(admin, ownersToken?.accessToken.id)).error).toMatchObject({
      message: 'The token belongs to a member with a higher role.',
      extensions: { code: 'FORBIDDEN' },
    });
    expect(await statusOf(ownersToken?.token)).toBe(200);
  });

  it('treats tokens of another workspace like those that do not exist', async () => {
    const second = await app.secondWorkspace();
    const otherTokenId = (await createToken(second.token, {})).created?.accessToken.id;
    const { error } = await revoke(app.token, otherTokenId);
    const { error: unknownIdError } = await revoke(app.token, 'token_00000000000000000000000000');
    expect([error?.message, error?.extensions?.code]).toEqual([unknownIdError?.message, 'NOT_FOUND']);
    expect((await revoke(app.token, 'team_00000000000000000000000000')).error?.message).toBe(
      'id: expected a token id, got a team id.',
    );
  });
});

describe('listing tokens', () => {
  it('shows a token itself, and all tokens if an owner or admin with workspace:admin asks', async () => {
    const plainToken = await app.tokenFor({ role: 'member' });
    const count = async (token: string) =>
      (
        await app.graphql<{ accessTokens: { totalCount: number } }>(
          '{ accessTokens { totalCount } }',
          {},
          { token },
        )
      ).body.data?.accessTokens.totalCount ?? 0;
    expect(await count(plainToken)).toBe(1);
    expect(await count(await app.tokenFor({ role: 'admin' }))).toBeGreaterThan(2);
    expect(await count(await app.tokenFor({ role: 'admin', scopes: ['teams:read'] }))).toBe(1);
  });
});

/** Creates a guest with this number of tokens; `ownToken` is one that has not expired. */
async function guestWithTokens(count: number, expiresUtc?: Date) {
  const guest = await member(app.database, app.workspaceId, { role: 'guest' });
  const { userAccountId } = guest;
  const ownToken = await app.tokenFor({ userAccountId, scopes: ['teams:read'] });
  for (let others = 1; others < count; others += 1)
    await app.tokenFor({ userAccountId, ...(expiresUtc && { expiresUtc }) });
  return { guest, ownToken };
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
    const { created } = await createToken(app.token, { scopes: ['issues:read', 'issues:write'] });
    const authentication = jest.spyOn(Contexts.prototype, 'authenticatedContext');
    try {
      const text = JSON.stringify(body);
      const headers = {
        authorization: `Bearer ${created?.token}`,
        'content-type': 'application/json',
        'content-length': text.length,
      };
      const pendingRequest = request(new URL(path, app.url), { method: 'POST', headers });
      pendingRequest.write(text.slice(0, 5));
      await eventually(() => authentication.mock.results.length === 1);
      expect(await authentication.mock.results[0]?.value).toMatchObject({
        principal: { tokenId: expect.any(String) },
      });
      await revoke(app.token, created?.accessToken.id);
      pendingRequest.end(text.slice(5));
      const [answer] = (await once(pendingRequest, 'response')) as [
        { statusCode: number; resume: () => void },
      ];
      answer.resume();
      expect(answer.statusCode).toBe(401);
    } finally {
      authentication.mockRestore();
    }
  },
);
