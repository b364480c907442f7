import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { brokenInvariants } from '../support/invariants.ts';
import { type App, startApp } from '../support/app.ts';
import { issueWorld, type IssueWorld } from '../support/issue-world.ts';
import { callerOf } from '../support/mutations.ts';
import { sql } from 'kysely';
import { eventually } from '../support/eventually.ts';
import { copyTemplate } from '../support/templates.ts';
import { newUuid } from '../../src/resolvers/ids.ts';
import { numberChanges } from '../../src/db/changes.ts';
import { Sequencer } from '../../src/live/sequencer.ts';
import { numberAllChanges } from './logged.ts';

let app: App;
let world: IssueWorld;

beforeAll(async () => {
  app = await startApp();
  world = await issueWorld(app);
});
afterAll(() => app.stop());

const positions = () =>
  app.database.unscoped
    .selectFrom('change')
    .select(['position', 'issueId', 'sortOrder'])
    .where('workspaceId', '=', app.workspaceId)
    .orderBy('position')
    .execute();

it('two sequencers number concurrent writes without gaps and in the order of each issue', async () => {
  const second = new Sequencer({
    database: app.database,
    onNumbered: () => undefined,
    logger: console,
  });
  const ada = callerOf(app, world.ada.token);
  const issues = await Promise.all(
    [1, 2, 3].map((number) => ada.create({ teamId: world.eng.id, title: `Issue ${number}` })),
  );
  await Promise.all(
    Array.from({ length: 60 }, async (_, write) => {
      const { key } = issues[write % issues.length] ?? { key: '' };
      if (write % 2 === 0) await ada.mutate('commentCreate', { issueKey: key, body: `Comment ${write}` });
      else await ada.update(key, { title: `Title ${write}` });
    }),
  );
  await second.close();
  await numberAllChanges(app.database);
  const rows = await positions();
  expect(rows.map(({ position }) => position)).toEqual(rows.map((_, index) => index + 1));
  expect(rows).toHaveLength(63);
  const byIssue = [...Map.groupBy(rows, ({ issueId }) => issueId).values()];
  expect(byIssue).toHaveLength(issues.length);
  for (const issueRows of byIssue) {
    const order = issueRows.map(({ sortOrder }) => sortOrder);
    expect(order).toEqual(order.toSorted((left, right) => left - right));
    expect(new Set(order).size).toBe(1 + 60 / issues.length);
  }
  expect(await brokenInvariants(app.database)).toEqual({});
});

it('the sequencer numbers the changes of a process that died after its commit, in the order of each issue', async () => {
  const log = app.database.of(app.workspaceId);
  const [issueId, subjectId] = [newUuid(), newUuid()];
  const change = (sortOrder: number) => ({
    changeId: newUuid(),
    sortOrder,
    eventType: 'issue.updated.v1',
    occurredUtc: new Date(),
    actorUserAccountId: null,
    issueId,
    teamId: null,
    subjectId,
    origin: 1,
    requestId: null,
  });
  // The identities of two nodes may be in another order than the writes.
  await log
    .insertInto('changeInbox')
    .values([change(7), change(5), change(6)])
    .execute();
  await numberAllChanges(app.database);
  const rows = (await positions()).filter((row) => row.issueId === issueId);
  expect(rows.map(({ sortOrder }) => sortOrder)).toEqual([5, 6, 7]);
  expect(rows.map(({ position }) => position - (rows[0]?.position ?? 0))).toEqual([0, 1, 2]);
});

it('the sequencer numbers a change that nothing in this process has announced, because every process checks periodically', async () => {
  const { database, drop } = await copyTemplate('migrated');
  const { promise, resolve } = Promise.withResolvers<[string, number]>();
  const foundCounts: number[] = [];
  const firstSearch = Promise.withResolvers<void>();
  const sequencer = new Sequencer({
    database,
    onNumbered: (workspaceId, position) => resolve([workspaceId, position]),
    onSearched: (rows) => {
      foundCounts.push(rows);
      firstSearch.resolve();
    },
    logger: console,
  });
  // The sequencer searches when it starts; that search must not find the change.
  await firstSearch.promise;
  const workspaceId = newUuid();
  // The process is busy with its own writes.
  const busy = setInterval(() => sequencer.wake(newUuid()), 20);
  // The signal recognizes only statements in lower case, so this one wakes nothing, as after the death of the process.
  await sql`
    INSERT INTO change_inbox (workspace_id, change_id, event_type, occurred_utc, subject_id, origin)
    VALUES (${workspaceId}, ${newUuid()}, 'import.finished.v1', now(), ${workspaceId}, 2)`.execute(
    database.unscoped,
  );
  expect(await promise).toEqual([workspaceId, 1]);
  clearInterval(busy);
  await sequencer.close();
  expect(foundCounts).toContain(1);
  await drop();
});

it('the sequencer numbers without gaps when a run gets the lock right after another one that took the same changes', async () => {
  const { database, drop } = await copyTemplate('migrated');
  const workspaceId = newUuid();
  const target = { db: database.of(workspaceId), connect: () => database.connect() };
  const change = () => ({
    changeId: newUuid(),
    eventType: 'import.finished.v1',
    occurredUtc: new Date(),
    subjectId: workspaceId,
    origin: 2,
  });
  const write = async () => {
    for (let time = 0; time < 100; time += 1) {
      await target.db.insertInto('changeInbox').values([change(), change(), change()]).execute();
    }
  };
  let isWritten = false;
  const numberRepeatedly = async () => {
    for (let isLast = false; !isLast; ) {
      isLast = isWritten;
      await numberChanges(target, 1);
    }
  };
  const numbering = Promise.all(Array.from({ length: 6 }, numberRepeatedly));
  await Promise.all([write(), write()]);
  isWritten = true;
  await numbering;
  const { rows } = await sql`
    select min(position)::int, max(position)::int, count(*)::int from change`.execute(database.unscoped);
  expect(rows).toEqual([{ min: 1, max: 600, count: 600 }]);
  await drop();
});

it('the sequencer frees the space of numbered changes, so that no run has to read past it', async () => {
  const { database, drop } = await copyTemplate('migrated');
  const workspaceId = newUuid();
  const sequencer = new Sequencer({ database, onNumbered: () => undefined, logger: console });
  const sizes: number[] = [];
  for (let wave = 0; wave < 8; wave += 1) {
    await sql`
      insert into change_inbox (workspace_id, change_id, event_type, occurred_utc, subject_id, origin)
      select ${workspaceId}, gen_random_uuid(), 'import.finished.v1', now(), ${workspaceId}, 2
      from generate_series(1, 2000)`.execute(database.unscoped);
    sequencer.wake(workspaceId);
    await eventually(async () => {
      const { rows } = await sql`select 1 from change_inbox limit 1`.execute(database.unscoped);
      return rows.length === 0;
    });
    const { rows } = await sql<{ bytes: number }>`
      select pg_relation_size('change_inbox')::int as bytes`.execute(database.unscoped);
    sizes.push(rows[0]?.bytes ?? 0);
  }
  await sequencer.close();
  await drop();
  // The next wave may begin before the space of the last one is free.
  expect(sizes.at(-1)).toBeLessThan(4 * (sizes[0] ?? 0));
});

it('the tables of the log and of webhooks have no trigger, which a distributed table could not have', async () => {
  const { rows } = await sql<{ table: string; triggers: number }>`
    select c.relname as table, count(t.oid)::int as triggers
    from pg_class c left join pg_trigger t on t.tgrelid = c.oid and not t.tgisinternal
    where c.relkind = 'r' and c.relname in ('change', 'change_head', 'change_inbox', 'webhook', 'webhook_delivery')
    group by c.relname order by c.relname`.execute(app.database.unscoped);
  expect(rows).toEqual(
    ['change', 'change_head', 'change_inbox', 'webhook', 'webhook_delivery'].map((table) => ({
      table,
      triggers: 0,
    })),
  );
});
