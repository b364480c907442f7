import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { unwrittenLabels } from '../../src/resolvers/housekeeping.ts';
import { tidy } from '../../src/server/janitor.ts';
import { type App, startApp } from '../support/app.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { type IssueWorld, issueWorld } from '../support/issue-world.ts';
import { type Caller, callerOf, type IssueRead } from '../support/mutations.ts';

let app: App;
let world: IssueWorld;
let ada: Caller;
beforeAll(async () => {
  app = await startApp();
  world = await issueWorld(app);
  ada = callerOf(app, world.ada.token);
});
afterAll(() => app.stop());

const stored = async ({ key }: IssueRead): Promise<number | null | undefined> => {
  const number = Number(key.split('-')[1]);
  const { rows } = await sql<{ count: number | null }>`
    select cardinality(label_ids) as count from issue where team_id = (select id from team where code = 'ENG')
      and number = ${number}`.execute(app.database.unscoped);
  return rows[0]?.count;
};

const read = async ({ key }: IssueRead): Promise<unknown> => {
  const { body } = await app.graphql('query ($key: String!) { issue(key: $key) { labelIds } }', { key });
  return body.data;
};

it('are those of the join, whoever wrote it, and before they were written, too', async () => {
  const { eng, shared } = world;
  const issue = await ada.create({ teamId: eng.id, title: 'With labels', labelIds: [eng.bug, shared] });
  const bare = await ada.create({ teamId: eng.id, title: 'Without' });
  expect([await stored(issue), await stored(bare)]).toEqual([2, 0]);
  await ada.mutate('issueUpdate', { key: issue.key, labelIds: [shared] });
  expect(await stored(issue)).toBe(1);

  // As they are of issues from before there was the column.
  await sql`update issue set label_ids = null`.execute(app.database.unscoped);
  const shown = { issue: { labelIds: [shared] } };
  expect(await read(issue)).toEqual(shown);
  await ada.mutate('issueUpdate', { key: bare.key, labelIds: [shared, eng.bug] });
  expect([await stored(issue), await stored(bare)]).toEqual([null, 2]);

  await tidy([unwrittenLabels(app.database)], {
    info: () => undefined,
    warn: (object: unknown) => expect(object).toBeUndefined(),
  });
  expect([await stored(issue), await stored(bare)]).toEqual([1, 2]);
  expect(await read(issue)).toEqual(shown);
  expect(await brokenInvariants(app.database)).toEqual({});
});
