import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { encodeId } from '../../src/resolvers/ids.ts';
import { type App, startApp } from '../support/app.ts';
import { team } from '../support/fixtures.ts';
import { eventually } from '../support/eventually.ts';
import { hasServer } from '../db/engines.ts';

// PostgreSQL has autovacuum, which runs only once a minute.
const onEmbedded = hasServer ? it.skip : it;

let app: App;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

onEmbedded('the embedded engine soon knows about how many rows a client has written', async () => {
  const { id } = await team(app.database, app.workspaceId, { code: 'NEW' });
  const input = { teamId: encodeId('team', id), title: 'An issue', description: 'text '.repeat(200) };
  const create = Array.from(
    { length: 50 },
    (_, index) => `i${index}: issueCreate(input: $input) { issue { id } }`,
  );
  for (let round = 0; round < 4; round += 1) {
    const mutation = `mutation ($input: IssueCreateInput!) { ${create.join(' ')} }`;
    expect((await app.graphql(mutation, { input })).body.errors).toBeUndefined();
  }
  await eventually(async () => {
    const { rows } = await sql<{ estimate: number }>`
      select reltuples::int as estimate from pg_class where relname = 'issue'`.execute(app.database.unscoped);
    // The tables are analyzed again only after they have grown by more than some pages.
    return (rows[0]?.estimate ?? 0) > 0;
  });
});
