import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { migrate } from '../../src/db/engine/migrate.ts';
import { missedByEarlierVersions } from '../../src/resolvers/housekeeping.ts';
import { type App, startApp } from '../support/app.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { type IssueWorld, issueWorld } from '../support/issue-world.ts';
import { type Caller, callerOf } from '../support/mutations.ts';

let app: App;
let world: IssueWorld;
let ada: Caller;
beforeAll(async () => {
  app = await startApp();
  world = await issueWorld(app);
  ada = callerOf(app, world.ada.token);
  const { id, todo, doing, done } = world.eng;
  for (const title of ['One', 'Two', 'Three']) {
    const { key } = await ada.create({ teamId: id, title, statusId: todo });
    await ada.update(key, { statusId: doing });
    await ada.mutate('issueDelete', { key });
    await ada.mutate('issueRestore', { key });
    await ada.update(key, { statusId: done, title: `${title} again` });
  }
});
afterAll(() => app.stop());

const fills = ['0028_fill_issue_text', '0035_fill_stages_before'];

/** Resets rows to the state that an earlier version would have written. */
async function forget(which = 'true'): Promise<void> {
  const { unscoped } = app.database;
  await sql`delete from issue_text where ${sql.raw(which)}`.execute(unscoped);
  await sql`update issue_stage set previous_status_id = null, previous_deleted = null where ${sql.raw(which)}`.execute(
    unscoped,
  );
}

beforeEach(() => forget());

it('the migrations fill the tables from existing rows, and report their number', async () => {
  await refill();
  const reports = await refill();
  expect(reports).toEqual([]);
  await forget();
  expect(await refill()).toEqual([
    expect.stringMatching(/^migration 0028_fill_issue_text wrote \d+ rows$/),
    expect.stringMatching(/^migration 0035_fill_stages_before wrote \d+ rows$/),
  ]);
  expect(await brokenInvariants(app.database)).toEqual({});
});

it('the migrations continue after an interruption', async () => {
  await refill();
  await forget(`issue_id in (select id from issue where number % 2 = 0)`);
  await refill();
  expect(await brokenInvariants(app.database)).toEqual({});
});

it('the janitor fills the rows that an earlier version has left incomplete since', async () => {
  const chore = missedByEarlierVersions(app.database);
  expect(await chore.doSome(new Date())).toBeGreaterThan(0);
  expect(await chore.doSome(new Date())).toBe(0);
  expect(await brokenInvariants(app.database)).toEqual({});
});

it('the janitor stops checking a day after the migrations', async () => {
  const { unscoped } = app.database;
  const shift = (interval: string) =>
    sql`update migration set applied_utc = applied_utc + ${interval}::interval where name in (${sql.join(fills)})`.execute(
      unscoped,
    );
  await shift('-2 days');
  expect(await missedByEarlierVersions(app.database).doSome(new Date())).toBe(0);
  await shift('2 days');
});

async function refill(): Promise<string[]> {
  const reports: string[] = [];
  await sql`delete from migration where name in (${sql.join(fills)})`.execute(app.database.unscoped);
  expect(await migrate(app.database, { report: (line) => reports.push(line) })).toEqual(fills);
  return reports;
}
