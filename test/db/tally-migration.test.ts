import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { migrate } from '../../src/db/engine/migrate.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { type App, startApp } from '../support/app.ts';

let app: App;
beforeAll(async () => {
  app = await startApp({ demo: true });
});
afterAll(() => app.stop());

describe('the migration of tallies', () => {
  it('counts the existing issues, including those whose row has no label ids', async () => {
    const { database } = app;
    const { unscoped } = database;
    const name = '0030_issue_tallies';
    await sql`drop table issue_tally`.execute(unscoped);
    await sql`delete from migration where name = ${name}`.execute(unscoped);
    await sql`update issue set label_ids = null where number % 2 = 0`.execute(unscoped);
    const reports: string[] = [];
    expect(await migrate(database, { report: (line) => reports.push(line) })).toEqual([name]);
    expect(reports).toEqual([
      expect.stringMatching(/^migration 0030_issue_tallies counted the issues into \d+ tallies$/),
    ]);
    await sql`update issue i set label_ids = array(select label_id from issue_label l
      where l.workspace_id = i.workspace_id and l.issue_id = i.id order by label_id)`.execute(unscoped);
    expect(await brokenInvariants(database)).toEqual({});
  });
});
