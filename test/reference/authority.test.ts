import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { pino } from 'pino';
import { ReferenceMemory } from '../../src/reference/memory.ts';
import { Authenticator } from '../../src/server/authenticate.ts';
import { type App, startApp } from '../support/app.ts';

// What a token may do is cached under its `auth` version, so every change of it must change the version.
let app: App;
let memory: ReferenceMemory;

beforeAll(async () => {
  app = await startApp();
  memory = new ReferenceMemory(app.database);
});
beforeEach(() => app.tokenFor({ role: 'member' }));
afterAll(async () => {
  await memory.close();
  await app.stop();
});

const authAfter = async (statement: string) => {
  const before = await memory.current(app.workspaceId);
  await sql.raw(statement).execute(app.database.unscoped);
  const after = await memory.current(app.workspaceId);
  return after.version.auth - before.version.auth;
};

it.each([
  ['a token that is revoked', 'update access_token set revoked_utc = now()'],
  ['a token with other scopes', "update access_token set scopes = '{teams:read}'"],
  ['a token that expires sooner', "update access_token set expires_utc = '2999-01-01'"],
  ['a member with another role', 'update member set role = case role when 1 then 2 else 1 end'],
  ['a member who is suspended', 'update member set status = 3'],
  ['a token that is deleted', 'delete from access_token'],
  ['a table of tokens that is emptied', 'truncate access_token cascade'],
])('%s gets another authority version', async (_what, statement) => {
  expect(await authAfter(statement)).toBe(1);
});

it('using a token does not change its authority version', async () => {
  expect(await authAfter('update access_token set last_used_utc = now()')).toBe(0);
});

it('a revoked token is no longer recalled for early refusals', async () => {
  const authenticator = new Authenticator(app.database, memory, pino({ level: 'silent' }));
  const header = `Bearer ${await app.tokenFor({ role: 'member' })}`;
  const now = new Date();
  const principal = await authenticator.authenticate(header, now);
  await authenticator.settle();
  await memory.current(app.workspaceId);
  expect(authenticator.recentTokenId(header, now)).toBe(principal?.tokenId);
  expect(await authAfter('update access_token set revoked_utc = now()')).toBe(1);
  expect(authenticator.recentTokenId(header, now)).toBeUndefined();
});
