import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { migrate } from '../../src/db/engine/migrate.ts';
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
});
afterAll(() => app.stop());

const names = [
  '0025_issue_stages',
  '0026_trend_indexes',
  '0034_stages_before',
  '0035_fill_stages_before',
  '0036_stage_indexes',
];

describe('the migration of stages', () => {
  it('writes the known stages of older issues, which later changes continue', async () => {
    const { todo, doing, done } = world.eng;
    const open = await newIssue({ statusId: todo });
    const active = await newIssue({ statusId: doing, estimateValue: 5 });
    const closed = await newIssue({ statusId: todo, deliveryId: world.eng.sprint1 });
    await ada.update(closed, { statusId: doing });
    const { closedUtc } = await ada.update(closed, { statusId: done });
    const deleted = await newIssue({ statusId: doing });
    await ada.update(deleted, { statusId: done });
    await ada.mutate('issueDelete', { key: deleted });
    const inDone = await newIssue({ statusId: done });

    const [report] = await migrateAgain();
    expect(report).toMatch(/^migration 0025_issue_stages wrote what is known .+: \d+ rows$/);
    expect(await stagesOf(open)).toEqual(['1 Todo']);
    expect(await stagesOf(active)).toEqual(['0 unknown', '1 Doing']);
    expect(await stagesOf(closed)).toEqual(['0 unknown', '1 Done']);
    expect(await stagesOf(deleted)).toEqual(['-1 unknown', '0 Done', '1 Done deleted']);
    expect(await stagesOf(inDone)).toEqual(['0 unknown', '1 Done']);
    const { rows } = await sql<{ sinceUtc: Date; historySinceUtc: Date | null }>`
      select s.since_utc as "sinceUtc", w.history_since_utc as "historySinceUtc"
      from issue i join issue_stage s on s.issue_id = i.id and s.sort_order = 1 join workspace w on w.id = i.workspace_id
      where i.number = ${Number(closed.split('-')[1])}`.execute(app.database.unscoped);
    expect(rows[0]?.sinceUtc.toISOString()).toBe(closedUtc);
    expect(rows[0]?.historySinceUtc).toBeInstanceOf(Date);
    expect(await brokenInvariants(app.database)).toEqual({});

    await ada.update(active, { statusId: done });
    await ada.mutate('issueRestore', { key: deleted });
    expect(await stagesOf(active)).toEqual(['0 unknown', '1 Doing', '2 Done']);
    expect(await stagesOf(deleted)).toEqual(['-1 unknown', '0 Done', '1 Done deleted', '2 Done']);
    expect(await brokenInvariants(app.database)).toEqual({});
  });
});

async function newIssue(input: Record<string, unknown>): Promise<string> {
  const { key } = await ada.create({ teamId: world.eng.id, title: 'An issue', ...input });
  return key;
}

async function stagesOf(key: string): Promise<string[]> {
  const { rows } = await sql<{ stage: string }>`
    select concat_ws(' ', x.sort_order, coalesce(s.name, 'unknown'), case when deleted then 'deleted' end) as stage
    from issue_stage x join issue i on i.id = x.issue_id left join status s on s.id = x.status_id
    where i.number = ${Number(key.split('-')[1])} order by x.sort_order`.execute(app.database.unscoped);
  return rows.map(({ stage }) => stage);
}

/** Undoes the migrations, and runs them again on the current rows. */
async function migrateAgain(): Promise<string[]> {
  const { unscoped } = app.database;
  const reports: string[] = [];
  await sql`drop table issue_stage`.execute(unscoped);
  await sql`alter table issue drop column started_utc, drop column stage_count`.execute(unscoped);
  await sql`alter table workspace drop column history_since_utc`.execute(unscoped);
  await sql`drop index if exists issue_by_closed`.execute(unscoped);
  await sql`delete from migration where name in (${sql.join(names)})`.execute(unscoped);
  expect(await migrate(app.database, { report: (line) => reports.push(line) })).toEqual(names);
  return reports;
}
