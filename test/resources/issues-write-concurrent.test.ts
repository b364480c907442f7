import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { hasServer } from '../db/engines.ts';
import { type App, startApp } from '../support/app.ts';
import { deadlocksIn } from '../support/deadlocks.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { installAgent, type IssueWorld, issueWorld } from '../support/issue-world.ts';
import { type Caller, callerOf, type IssueRead } from '../support/mutations.ts';
import { isWhole } from '../support/samples.ts';
import { type SecondServer, startSecondServer } from '../support/server-processes.ts';

/** The embedded engine has one session, so its writes hardly overlap: outside CI, it gets fewer of them. */
const isShort = !hasServer && !isWhole;
const many = isShort ? 120 : 500;

let app: App;
let second: SecondServer | undefined;
let world: IssueWorld;
/** One member with a caller at each server process: two processes on PostgreSQL, one on the embedded engine. */
let callers: [Caller, Caller];
let ada: Caller;

beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
  second = await startSecondServer(app);
  world = await issueWorld(app);
  ada = callerOf(app, world.ada.token);
  callers = [ada, second ? callerOf(second, world.ada.token) : ada];
});

afterAll(async () => {
  const broken = await brokenInvariants(app.database);
  await second?.stop();
  await app.stop();
  expect(broken).toEqual({});
});

/** Runs the work several times at once, alternating between the servers. */
function atOnce<Result>(
  times: number,
  work: (caller: Caller, index: number) => Promise<Result>,
): Promise<Result[]> {
  return Promise.all(Array.from({ length: times }, (_, index) => work(callers[index % 2] ?? ada, index)));
}

const create = (input: Record<string, unknown> = {}) =>
  ada.create({ teamId: world.eng.id, title: 'An issue', ...input });

/** A pseudo-random sequence that is the same in each run. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe('concurrent writes', () => {
  it('number hundreds of issues of one team without gaps', async () => {
    const issues = await atOnce(many, (caller, index) =>
      caller.create({
        teamId: world.ops.id,
        title: `Issue ${index}`,
        projectId: world.apollo,
        deliveryId: world.ops.sprint1,
      }),
    );
    const numbers = issues.map(({ key }) => Number(key.split('-')[1])).sort((left, right) => left - right);
    expect(numbers).toEqual(Array.from({ length: many }, (_, index) => index + 1));
  });

  it('never set times back: of issues in the order of their numbers, and of entries in a feed', async () => {
    const { key } = await create();
    await atOnce(many / 2, async (caller, index) => {
      if (index % 2 === 0) await caller.create({ teamId: world.eng.id, title: `Issue ${index}` });
      else await caller.mutate('commentCreate', { issueKey: key, body: `Comment ${index}` });
    });
    const { rows } = await sql<{ what: string; back: number }>`
      select 'issues' as what, count(*) filter (where created_utc < before)::int as back from (
        select created_utc, lag(created_utc) over (partition by team_id order by number) as before
        from issue where workspace_id = ${app.workspaceId}
      ) numbered
      union all
      select 'entries', count(*) filter (where occurred_utc < before)::int from (
        select occurred_utc, lag(occurred_utc) over (partition by issue_id order by sort_order) as before
        from activity where workspace_id = ${app.workspaceId}
      ) entered
      order by 1 desc`.execute(app.database.unscoped);
    expect(rows).toEqual([
      { what: 'issues', back: 0 },
      { what: 'entries', back: 0 },
    ]);
  });

  it('add only one of eight equal links', async () => {
    for (let round = 0; round < 3; round += 1) {
      const { key } = await create();
      const answers = await atOnce(8, (caller) =>
        caller.mutate('issueLinkCreate', { issueKey: key, url: 'https://example.com', title: 'Equal' }),
      );
      expect(answers.filter(({ created }) => created)).toHaveLength(1);
      expect(new Set(answers.map(({ issueLink }) => issueLink.id)).size).toBe(1);
      expect(await ada.feed(key)).toHaveLength(1);
    }
  });

  it('add comments, messages, links and updates of one issue to its feed without gaps', async () => {
    await installAgent(app, world, world.agent);
    const { key } = await create();
    await atOnce(60, async (caller, index) => {
      const which = index % 6;
      if (which < 3) await caller.mutate('commentCreate', { issueKey: key, body: `Comment ${index}` });
      else if (which === 3)
        await caller.mutate('agentMessageCreate', { issueKey: key, body: `Message ${index}` });
      else if (which === 4)
        await caller.mutate('issueLinkCreate', { issueKey: key, url: `https://a.test/${index}`, title: 'A' });
      else await caller.update(key, { title: `Title ${index}` });
    });
    const feed = await ada.feed(key);
    expect(feed.map(({ sortOrder }) => sortOrder)).toEqual(
      Array.from({ length: 60 }, (_, index) => index + 1),
    );
    expect(await ada.read(key)).toMatchObject({ commentCount: 30, linkCount: 10, revision: 11 });
  });

  it('of two sets of labels store one of them, never their union', async () => {
    const { eng } = world;
    const sets = [[eng.bug], [eng.feature, world.shared].sort()];
    const { key } = await create();
    for (let round = 0; round < (isShort ? 4 : 10); round += 1) {
      const answers = await atOnce(4, (caller, index) =>
        caller.update(key, { labelIds: sets[index < 2 ? 0 : 1] }),
      );
      const { labelIds } = (await ada.read(key)) as IssueRead & { labelIds: string[] };
      expect(sets).toContainEqual(labelIds.toSorted());
      const last = answers.find(
        ({ revision }) => revision === Math.max(...answers.map((issue) => issue.revision)),
      );
      expect(labelIds).toEqual(last?.labelIds);
    }
  });

  it('of parents never create a cycle', async () => {
    const issues: IssueRead[] = [];
    for (let index = 0; index < 4; index += 1) issues.push(await create());
    const [a, b, c, d] = issues.map(({ key, id }) => ({ key, id }));
    const under = (caller: Caller, child = a, parent = b) =>
      caller.update(child?.key ?? '', { parentIssueId: parent?.id });
    for (let round = 0; round < (isShort ? 5 : 15); round += 1) {
      await under(ada, a, b);
      await under(ada, c, d);
      // The two moves change different rows, but together they would create a cycle.
      const moves = await Promise.allSettled([under(callers[0], b, c), under(callers[1], d, a)]);
      const refused = moves.filter((move) => move.status === 'rejected');
      expect(refused.map(({ reason }) => String(reason))).toEqual([
        expect.stringContaining('a part of itself'),
      ]);
      await ada.mutate('issueBatchUpdate', { keys: issues.map(({ key }) => key), parentIssueId: null });
    }
  });

  it('give each change of an issue its own revision, and refuse a change only for a wrong expected revision', async () => {
    const { key } = await create();
    const changing = atOnce(32, (caller, index) => caller.update(key, { title: `Title ${index}` }));
    const refused = ada.refusalOf('issueUpdate', { key, title: 'Never', expectedRevision: 99 });
    const changed = await changing;
    expect(changed.map(({ title }) => title)).toEqual(changed.map((_, index) => `Title ${index}`));
    const revisions = changed.map(({ revision }) => revision).sort((left, right) => left - right);
    expect(revisions).toEqual(changed.map((_, index) => index + 2));
    expect(await refused).toMatchObject({ code: 'PRECONDITION_FAILED' });
  });

  it('with the same expected revision succeed only once', async () => {
    const { key, revision } = await create();
    const answers = await Promise.allSettled(
      [0, 1, 2, 3].map((index) =>
        (callers[index % 2] ?? ada).update(key, { title: `T${index}`, expectedRevision: revision }),
      ),
    );
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status === 'rejected') expect(String(answer.reason)).toContain('PRECONDITION_FAILED');
    }
  });

  it('keep all counts right under many moves, deletions and restorations, without deadlocks', async () => {
    const { eng } = world;
    const random = randomNumbers(7);
    const issues: IssueRead[] = [];
    for (let index = 0; index < 12; index += 1) issues.push(await create({ estimateValue: index }));
    const any = <Value>(values: readonly Value[]): Value => values[random(values.length)] as Value;
    const expected = /NOT_FOUND|a part of itself|does not belong to this workspace/;
    const storm = async (caller: Caller) => {
      const [{ key }, other, third] = [any(issues), any(issues), any(issues)];
      const writes = [
        () => caller.update(key, { parentIssueId: other.id }),
        () => caller.update(key, { parentIssueId: null }),
        () =>
          caller.mutate('issueBatchUpdate', {
            keys: [...new Set([key, other.key])],
            parentIssueId: third.id,
            statusId: eng.done,
          }),
        () =>
          caller.mutate('issueBatchUpdate', {
            keys: [...new Set([third.key, key, other.key])],
            deliveryId: any([eng.sprint1, eng.sprint2]),
          }),
        () =>
          caller.update(key, {
            deliveryId: any([eng.sprint1, eng.sprint2, null]),
            projectId: any([world.apollo, world.gemini, null]),
          }),
        () =>
          caller.update(key, {
            statusId: any([eng.todo, eng.done, eng.canceled]),
            estimateValue: random(10),
          }),
        () => caller.mutate('issueDelete', { key }),
        () => caller.mutate('issueRestore', { key }),
        () => caller.mutate('issueRestore', { key: other.key }),
        () => caller.mutate('commentCreate', { issueKey: key, body: 'In the storm' }),
        () =>
          caller.create({
            teamId: eng.id,
            title: 'Below',
            parentIssueId: other.id,
            deliveryId: eng.sprint1,
            estimateValue: 1,
          }),
      ];
      const write: () => Promise<unknown> = any(writes);
      await write().catch((error: unknown) => expect(String(error)).toMatch(expected));
    };
    await atOnce(16, async (caller) => {
      for (let write = 0; write < (isShort ? 6 : 12); write += 1) await storm(caller);
    });
    expect(await brokenInvariants(app.database)).toEqual({});
    expect(await deadlocksIn(app.database)).toBe(0);
  });
});
