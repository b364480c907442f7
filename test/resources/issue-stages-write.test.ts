import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { IssueRead } from '../support/mutations.ts';
import { useIssueWorld } from '../support/use-issue-world.ts';
import { uuidOf } from '../support/ids.ts';

const { app, world, ada } = useIssueWorld();

function create(input: Record<string, unknown> = {}): Promise<IssueRead> {
  return ada.create({ teamId: world.eng.id, title: 'An issue', ...input });
}

interface Stage {
  sinceUtc: Date;
  untilUtc: Date | null;
  status: string | null;
  delivery: string | null;
  project: string | null;
  estimate: number | null;
  deleted: boolean;
}

async function stagesOf({ id }: IssueRead): Promise<Stage[]> {
  const { rows } = await sql<Stage>`
    select since_utc as "sinceUtc", until_utc as "untilUtc", s.name as status, d.name as delivery, p.name as project,
      x.estimate_value as estimate, deleted
    from issue_stage x
      left join status s on s.workspace_id = x.workspace_id and s.id = x.status_id
      left join delivery d on d.workspace_id = x.workspace_id and d.id = x.delivery_id
      left join project p on p.workspace_id = x.workspace_id and p.id = x.project_id
    where issue_id = ${uuidOf(id)} order by sort_order`.execute(app.database.unscoped);
  return rows;
}

async function startedUtc({ id }: IssueRead): Promise<Date | null | undefined> {
  const { rows } = await sql<{ startedUtc: Date | null }>`
    select started_utc as "startedUtc" from issue where id = ${uuidOf(id)}`.execute(app.database.unscoped);
  return rows[0]?.startedUtc;
}

const statuses = (stages: readonly Stage[]) => stages.map(({ status }) => status);

describe('the stages of an issue', () => {
  it('start with its creation, and a change of any recorded field starts the next', async () => {
    const issue = await create({ estimateValue: 3 });
    const moved = await ada.update(issue.key, { deliveryId: world.eng.sprint1, projectId: world.apollo });
    const closed = await ada.update(issue.key, { statusId: world.eng.done, estimateValue: null });
    const stages = await stagesOf(issue);
    const [first, second, third] = stages;
    expect(stages).toMatchObject([
      { status: 'Todo', delivery: null, project: null, estimate: 3, deleted: false },
      { status: 'Todo', delivery: 'ENG sprint 1', estimate: 3, deleted: false },
      { status: 'Done', delivery: 'ENG sprint 1', estimate: null, untilUtc: null },
    ]);
    expect(second?.project).not.toBeNull();
    const times = [first?.sinceUtc, second?.sinceUtc, third?.sinceUtc].map((time) => time?.toISOString());
    expect(times).toEqual([issue.createdUtc, moved.updatedUtc, closed.updatedUtc]);
    expect([first?.untilUtc, second?.untilUtc]).toEqual([second?.sinceUtc, third?.sinceUtc]);
  });

  it('do not end with a change of other fields, or to the same values', async () => {
    const issue = await create({ estimateValue: 3 });
    await ada.update(issue.key, { title: 'Another', priority: 'HIGH', dueDate: '2026-01-01' });
    await ada.update(issue.key, { statusId: world.eng.todo, estimateValue: 3 });
    await ada.mutate('commentCreate', { issueKey: issue.key, body: 'Hello' });
    expect(await stagesOf(issue)).toHaveLength(1);
  });

  it('continue with a new stage at a deletion and at a restoration', async () => {
    const issue = await create();
    await ada.mutate('issueDelete', { key: issue.key });
    await ada.mutate('issueRestore', { key: issue.key });
    expect((await stagesOf(issue)).map(({ deleted }) => deleted)).toEqual([false, true, false]);
  });

  it('continue with a new stage at changes of many issues at once', async () => {
    const issues = [await create(), await create({ statusId: world.eng.doing }), await create()];
    const keys = issues.map(({ key }) => key);
    await ada.mutate('issueBatchUpdate', { keys, statusId: world.eng.doing, labelIds: [world.shared] });
    expect(await Promise.all(issues.map(async (issue) => statuses(await stagesOf(issue))))).toEqual([
      ['Todo', 'Doing'],
      ['Doing'],
      ['Todo', 'Doing'],
    ]);
  });

  it('follow each other without gaps under concurrent changes', async () => {
    const issue = await create();
    const { todo, doing, done } = world.eng;
    const statusIds = Array.from({ length: 40 }, (_, index) => [todo, doing, done][index % 3]);
    await Promise.all(
      statusIds.map((statusId, index) =>
        // Changes of labels take a transaction.
        ada.update(issue.key, index % 4 === 0 ? { statusId, labelIds: [world.shared] } : { statusId }),
      ),
    );
    const stages = await stagesOf(issue);
    expect(stages.slice(0, -1).map(({ untilUtc }) => untilUtc)).toEqual(
      stages.slice(1).map(({ sinceUtc }) => sinceUtc),
    );
    expect(stages.at(-1)?.untilUtc).toBeNull();
    expect(stages.length).toBeGreaterThan(2);
  });
});

describe('the time at which an issue was started', () => {
  it('is that of its first change to an active status, and remains when it is closed and reopened', async () => {
    const issue = await create();
    expect(await startedUtc(issue)).toBeNull();
    const { updatedUtc } = await ada.update(issue.key, { statusId: world.eng.doing });
    for (const statusId of [world.eng.done, world.eng.doing, world.eng.todo, world.eng.doing])
      await ada.update(issue.key, { statusId });
    expect((await startedUtc(issue))?.toISOString()).toBe(updatedUtc);
  });

  it('is that of its creation in an active status', async () => {
    const issue = await create({ statusId: world.eng.doing });
    expect((await startedUtc(issue))?.toISOString()).toBe(issue.createdUtc);
  });

  it('is null if it was closed without ever being active', async () => {
    const issue = await create();
    await ada.update(issue.key, { statusId: world.eng.done });
    expect(await startedUtc(issue)).toBeNull();
  });
});
