import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { onStatement } from '../../src/db/engine/meter.ts';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { type App, startApp } from '../support/app.ts';
import { eventually } from '../support/eventually.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { type IssueWorld, issueWorld, newTeam } from '../support/issue-world.ts';
import { type Caller, callerOf } from '../support/mutations.ts';
import { untilLockWaits } from '../support/while-locked.ts';
import { hasServer } from '../db/engines.ts';
import { uuidOf } from '../support/ids.ts';

// Writes of different issues and teams that arrive while others are running share a statement.
const times = 40;

let app: App;
let world: IssueWorld;
/** Ada and Bob, who alternate. */
let callers: [Caller, Caller];
let ada: Caller;

beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
  world = await issueWorld(app);
  ada = callerOf(app, world.ada.token);
  callers = [ada, callerOf(app, world.bob.token)];
});

afterAll(async () => {
  const broken = await brokenInvariants(app.database);
  await app.stop();
  expect(broken).toEqual({});
});

const create = (index: number) =>
  ada.create({ teamId: world.eng.id, title: `Issue ${index}`, deliveryId: world.eng.sprint1 });

function atOnce<Result>(work: (caller: Caller, index: number) => Promise<Result>): Promise<Result[]> {
  return Promise.all(Array.from({ length: times }, (_, index) => work(callers[index % 2] ?? ada, index)));
}

/** Runs the work, and counts the statements that wrote to the table meanwhile. */
async function writing<Result>(table: string, work: () => Promise<Result>) {
  let statements = 0;
  const end = onStatement(({ sql: text }) => {
    if (text.includes(`insert into "${table}"`)) statements += 1;
  });
  const result = await work().finally(end);
  return { result, statements };
}

/** With WRITE_BATCHING=off each write has a statement of its own. How many share one otherwise depends on when they arrive. */
function expectShared(statements: number): void {
  if (process.env.WRITE_BATCHING === 'off') expect(statements).toBe(times);
  else expect(statements).toBeLessThan(times);
}

const names = ['Ada Member', 'Bob Member'];

it('a shared statement adds each comment to its issue, and subscribes its author to that issue only', async () => {
  const issues = await Promise.all(Array.from({ length: times }, (_, index) => create(index)));
  const { result, statements } = await writing('comment', () =>
    atOnce((caller, index) =>
      caller.mutate('commentCreate', { issueKey: issues[index]?.key, body: `Comment ${index}` }),
    ),
  );
  expectShared(statements);
  for (const [index, { comment, issue }] of result.entries()) {
    expect(comment).toMatchObject({ bodyText: `Comment ${index}` });
    expect(issue).toMatchObject({ key: issues[index]?.key, commentCount: 1 });
    const [entry, ...others] = await ada.feed(issues[index]?.key ?? '');
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ text: `${names[index % 2]} commented`, sortOrder: 1 });
  }
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from issue_subscription join issue
      on issue.id = issue_id and issue.workspace_id = issue_subscription.workspace_id
    where issue_id = any(${issues.map(({ id }) => uuidOf(id))}::uuid[])`.execute(app.database.unscoped);
  // Ada reported all of them; Bob is subscribed to those that he commented on.
  expect(rows).toEqual([{ count: times + times / 2 }]);
});

it('a shared statement returns to each change its own issue, actor and subscription', async () => {
  const { eng, ada: me, bob, apollo } = world;
  const issues = await Promise.all(Array.from({ length: times }, (_, index) => create(index)));
  for (const { key } of issues.slice(0, times / 4)) await callers[1].mutate('issueSubscribe', { key });
  const { result, statements } = await writing('activity', () =>
    atOnce((caller, index) =>
      caller.update(issues[index]?.key ?? '', {
        title: `Now ${index}`,
        priority: 'HIGH',
        statusId: eng.doing,
      }),
    ),
  );
  expectShared(statements);
  for (const [index, issue] of result.entries()) {
    const isAda = index % 2 === 0;
    expect(issue).toMatchObject({
      key: issues[index]?.key,
      title: `Now ${index}`,
      priority: 'HIGH',
      statusId: eng.doing,
      revision: 2,
      isSubscribed: isAda || index < times / 4,
    });
    const [entry] = await ada.feed(issue.key);
    expect(entry).toMatchObject({ actorUserAccountId: (isAda ? me : bob).id });
    expect(entry?.text).toContain(names[index % 2]);
  }
  // Changes that affect counts are not batched, or only with their like; the counts must be right in both cases.
  const moved = await atOnce((caller, index) =>
    caller.update(issues[index]?.key ?? '', index % 3 === 0 ? { projectId: apollo } : { statusId: eng.done }),
  );
  expect(moved.map(({ revision }) => revision)).toEqual(issues.map(() => 3));
});

it('a shared statement numbers new issues of several teams without gaps, each with its own fields', async () => {
  const { bob, shared, workspaceId } = world;
  const teams: { code: string; id: string }[] = [];
  // More than a batcher has statements running at once.
  for (const code of ['AAA', 'BBB', 'CCC', 'DDD'])
    teams.push({ code, ...(await newTeam(app.database, workspaceId, code)) });
  for (const { id } of teams) await ada.create({ teamId: id, title: 'The first' });
  const { result, statements } = await writing('issue', () =>
    atOnce((caller, index) =>
      caller.create({
        teamId: teams[index % teams.length]?.id,
        title: `New ${index}`,
        ...(index % 4 === 1 && { labelIds: [shared], assigneeUserAccountIds: [bob.id] }),
      }),
    ),
  );
  expectShared(statements);
  for (const { code } of teams) {
    const numbers = result
      .map(({ key }) => key.split('-'))
      .filter(([team]) => team === code)
      .map(([, number]) => Number(number))
      .toSorted((some, other) => some - other);
    expect(numbers).toEqual(Array.from({ length: times / teams.length }, (_, index) => 2 + index));
  }
  for (const [index, issue] of result.entries())
    expect(issue).toMatchObject({
      title: `New ${index}`,
      labelIds: index % 4 === 1 ? [shared] : [],
      assigneeUserAccountIds: index % 4 === 1 ? [bob.id] : [],
    });
});

it('a write to a missing issue is refused, and the others of its batch are done', async () => {
  const issues = await Promise.all(Array.from({ length: times }, (_, index) => create(index)));
  const nowhere = encodeId('issue', newUuid());
  const answers = await Promise.allSettled(
    issues.flatMap(({ id, key }, index) => [
      ada.mutate('commentCreate', { issueKey: index % 2 === 0 ? key : id, body: 'Here' }),
      ...(index % 8 === 0
        ? [ada.refusalOf('commentCreate', { issueKey: 'ENG-100000', body: 'Nowhere' })]
        : []),
      ...(index % 8 === 1 ? [ada.refusalOf('commentCreate', { issueKey: nowhere, body: 'Nowhere' })] : []),
    ]),
  );
  const values = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : answer.reason));
  expect(values.filter((value) => value.comment?.bodyText === 'Here')).toHaveLength(times);
  expect(values.filter(({ code }) => code === 'NOT_FOUND')).toHaveLength(times / 4);
});

const onPostgres = hasServer ? describe : describe.skip;

// A lock that another session holds takes a second session.
onPostgres('while another session holds some issues and a counter', () => {
  it('the writes of the other issues are done, and the blocked ones once the lock is released', async () => {
    const issues = await Promise.all(Array.from({ length: times }, (_, index) => create(index)));
    // More than a batcher has statements running at once.
    const held = issues.slice(0, 4);
    const changes: Promise<unknown>[] = [];
    const done = new Set<number>();
    let writes: Promise<unknown[]> = Promise.resolve([]);
    await app.database.unscoped.transaction().execute(async (trx) => {
      const ids = held.map(({ id }) => uuidOf(id));
      await sql`select from issue where workspace_id = ${world.workspaceId} and id = any(${ids}::uuid[]) for update`.execute(
        trx,
      );
      await sql`select from team_counter
        where workspace_id = ${world.workspaceId} and team_id = ${uuidOf(world.ops.id)}::uuid for update`.execute(
        trx,
      );
      for (const { key } of held) {
        changes.push(ada.update(key, { title: 'First' }));
        await untilLockWaits(app.database, changes.length);
      }
      writes = atOnce(async (caller, index) => {
        await caller.update(issues[index]?.key ?? '', { title: 'Changed' });
        await caller.mutate('commentCreate', { issueKey: issues[index]?.key, body: 'Here' });
        await caller.create({ teamId: index === 4 ? world.ops.id : world.eng.id, title: 'Also' });
        done.add(index);
      });
      await eventually(() => done.size >= times - 5);
    });
    await Promise.all([...changes, writes]);
    expect(done.size).toBe(times);
    for (const { key } of held)
      expect(await ada.read(key)).toMatchObject({ title: 'Changed', commentCount: 1, revision: 3 });
  });
});
