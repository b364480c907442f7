import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { migrate } from '../../src/db/engine/migrate.ts';
import { hashToken, newTokenText } from '../../src/resolvers/access/access-tokens.ts';
import { newUuid } from '../../src/resolvers/ids.ts';
import { type App, startApp } from '../support/app.ts';

let app: App;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const status = async (token: string) => (await app.graphql('{ viewer { scopes } }', {}, { token })).status;

/** What an earlier version does, which knows no routes. */
async function issuedEarlier(): Promise<string> {
  const token = newTokenText();
  await sql`
    insert into access_token (workspace_id, id, user_account_id, name, token_hash, scopes)
    values (${app.workspaceId}, ${newUuid()}, ${app.ownerUserAccountId}, 'earlier', ${hashToken(token)}, '{teams:read}')`.execute(
    app.database.unscoped,
  );
  return token;
}

describe('the routes of tokens', () => {
  it('let tokens work that existed before them', async () => {
    const { unscoped } = app.database;
    const name = '0046_token_routes';
    await sql`drop trigger access_token_routed on access_token`.execute(unscoped);
    await sql`drop function route_token`.execute(unscoped);
    const token = await issuedEarlier();
    await sql`drop table token_route`.execute(unscoped);
    await sql`delete from migration where name = ${name}`.execute(unscoped);
    expect(await migrate(app.database)).toEqual([name]);
    expect(await status(token)).toBe(200);
  });

  it('have a token that an earlier version issues beside this one', async () => {
    expect(await status(await issuedEarlier())).toBe(200);
  });

  it('have a token that this version issues where no trigger adds it', async () => {
    await sql`drop trigger access_token_routed on access_token`.execute(app.database.unscoped);
    expect(await status(await app.tokenFor())).toBe(200);
  });

  it('have no token that was never issued', async () => {
    expect(await status(newTokenText())).toBe(401);
  });
});
