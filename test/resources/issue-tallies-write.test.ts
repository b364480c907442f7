import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { recountTallies } from '../../src/db/issue-tallies.ts';
import type { Predicate } from '../../src/db/query/conditions/predicate.ts';
import { readBounds } from '../../src/db/query/read-bounds.ts';
import { selectTotal } from '../../src/db/reads/totals.ts';
import { statusCategory } from '../../src/model/codes.ts';
import { fold } from '../../src/model/fold.ts';
import { wrongTallies } from '../../src/resolvers/housekeeping.ts';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { Issue } from '../../src/schema/issues.ts';
import { bead, type ImportWorld, importWorld } from '../cli/import-world.ts';
import { numberAllChanges } from '../live/logged.ts';
import { type App, startApp } from '../support/app.ts';
import { deadlocksIn } from '../support/deadlocks.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { type IssueWorld, issueWorld } from '../support/issue-world.ts';
import { type Caller, callerOf, type IssueRead } from '../support/mutations.ts';
import { Random } from '../support/random.ts';
import { isWhole } from '../support/samples.ts';
import { type SecondServer, startSecondServer } from '../support/server-processes.ts';
import { uuidOf } from '../support/ids.ts';

let app: App;
let second: SecondServer | undefined;
let world: IssueWorld;
let imports: ImportWorld;
let ada: Caller;
/** One member with a caller at each server process: two processes on PostgreSQL, one on the embedded engine. */
let callers: [Caller, Caller];

beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
  second = await startSecondServer(app);
  world = await issueWorld(app);
  imports = await importWorld(app.database, 'Imports');
  ada = callerOf(app, world.ada.token);
  callers = [ada, second ? callerOf(second, world.ada.token) : ada];
});
afterAll(async () => {
  imports.remove();
  await second?.stop();
  await app.stop();
});

const create = (input: Record<string, unknown> = {}) =>
  ada.create({ teamId: world.eng.id, title: 'An issue', ...input });

/** Random fields for a write of an issue. */
function randomFields(random: Random): Record<string, unknown> {
  const { eng, ada: one, bob, shared } = world;
  const fields: Record<string, unknown> = {
    statusId: random.pick([eng.todo, eng.doing, eng.done, eng.canceled]),
    priority: random.pick(['NONE', 'URGENT', 'HIGH']),
    estimateValue: random.pick([null, 0, 3, 8]),
    projectId: random.pick([null, world.apollo, world.gemini]),
    deliveryId: random.pick([null, eng.sprint1, eng.sprint2]),
    primaryAssigneeUserAccountId: random.pick([null, one.id, bob.id]),
    labelIds: random.sample([eng.bug, eng.feature, shared], random.integer(0, 3)),
  };
  return Object.fromEntries(random.sample(Object.entries(fields), random.integer(1, 7)));
}

const restNames: Readonly<Record<string, string>> = { statusId: 'issueStatusId' };
const priorityCodes: Readonly<Record<string, number>> = { NONE: 0, URGENT: 1, HIGH: 2 };

/** The body of a PATCH for the same change, in which null does not clear a field. */
function patchOf(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const named = Object.entries(withoutNulls(fields)).map(([name, value]) => [
    restNames[name] ?? name,
    name === 'priority' ? priorityCodes[String(value)] : value,
  ]);
  return { title: 'Patched', ...Object.fromEntries(named) };
}

describe('the tallies of issues', () => {
  it('match the issues after random writes of all kinds by both APIs', async () => {
    const seed = process.env.SEED ?? `${Date.now()}`;
    const random = new Random(`tallies ${seed}`);
    const issues: IssueRead[] = [];
    const deleted: IssueRead[] = [];
    for (let round = 0; round < (isWhole ? 40 : 8); round += 1) {
      const some = () => random.sample(issues, 4).map(({ key }) => key);
      const created = Array.from({ length: 3 }, () => create(withoutNulls(randomFields(random))));
      issues.push(...(await Promise.all(created)));
      await Promise.all(some().map((key) => ada.update(key, randomFields(random))));
      await Promise.all(
        some().map(async (key) => {
          const body = patchOf(randomFields(random));
          const { status } = await app.request('PATCH', `/v1/issues/${key}`, {
            token: world.ada.token,
            body,
          });
          expect(status).toBe(200);
        }),
      );
      await ada.mutate('issueBatchUpdate', { keys: some(), ...randomFields(random) });
      await ada.mutate('commentCreate', { issueKey: some()[0], body: 'Hello' });
      const removed = random.pick(issues);
      issues.splice(issues.indexOf(removed), 1);
      await ada.mutate('issueDelete', { key: removed.key });
      deleted.push(removed);
      if (random.chance(0.5)) {
        const back = deleted.pop();
        if (back) issues.push((await ada.mutate('issueRestore', { key: back.key })).issue);
      }
    }
    expect({ seed, broken: await brokenInvariants(app.database) }).toEqual({ seed, broken: {} });
  });

  it('match the issues of an import, and of a second import that changes them', async () => {
    const first = imports.write('first.jsonl', [
      bead('bd-1', { labels: ['one', 'two'], priority: 1 }),
      bead('bd-2', { status: 'closed', closed_at: '2026-01-02T00:00:00Z' }),
    ]);
    await imports.beads(first);
    const changed = imports.write('changed.jsonl', [
      bead('bd-1', { labels: ['two', 'three'], priority: 2, status: 'in_progress' }),
      bead('bd-2', { labels: ['one'] }),
    ]);
    expect((await imports.beads(changed)).summary).toMatchObject({ updated: 2 });
    expect(await brokenInvariants(app.database)).toEqual({});
  });

  it('are not written for a comment, a new title, or values that an issue already has', async () => {
    const { key } = await create({ labelIds: [world.shared], estimateValue: 3 });
    const before = await versions();
    await ada.mutate('commentCreate', { issueKey: key, body: 'Hello' });
    await ada.update(key, { title: 'Another', dueDate: '2026-01-01' });
    await ada.update(key, { statusId: world.eng.todo, estimateValue: 3, labelIds: [world.shared] });
    expect(await versions()).toEqual(before);
    await ada.update(key, { priority: 'LOW' });
    expect(await versions()).not.toEqual(before);
  });

  it('follow changes of issues whose row does not contain the label ids yet', async () => {
    const { key } = await create({ labelIds: [world.shared, world.eng.bug] });
    await sql`update issue set label_ids = null
      where workspace_id = ${world.workspaceId} and number = ${Number(key.split('-')[1])}`.execute(
      app.database.unscoped,
    );
    await ada.update(key, { statusId: world.eng.doing });
    await ada.update(key, { labelIds: [world.eng.bug] });
    expect(await brokenInvariants(app.database)).toEqual({});
  });

  it('give the totals by category after a status has moved to another category', async () => {
    const total = async (category: number) => {
      const where: Predicate = { column: 'category', is: 'eq', value: category };
      const filter: Predicate = { column: 'statusId', references: 'status', by: 'id', where };
      const { source } = Issue.list();
      const { count, isExact } = await selectTotal(
        app.database.of(world.workspaceId),
        source,
        filter,
        readBounds(1),
      );
      expect(isExact).toBe(true);
      return count;
    };
    const { open, active } = statusCategory;
    await create({ statusId: world.eng.doing });
    const before = { open: await total(open), active: await total(active) };
    const doing = uuidOf(world.eng.doing);
    const move = (category: number) =>
      sql`update status set category = ${category} where id = ${doing}::uuid`.execute(app.database.unscoped);
    await move(open);
    expect([await total(open), await total(active)]).toEqual([before.open + before.active, 0]);
    await move(active);
    expect([await total(open), await total(active)]).toEqual([before.open, before.active]);
    expect(await brokenInvariants(app.database)).toEqual({});
  });

  it('are corrected by the janitor', async () => {
    const { unscoped } = app.database;
    const { workspaceId } = world;
    const { id } = await create();
    const issueId = uuidOf(id);
    const mark = async () =>
      (await app.database.of(workspaceId).selectFrom('changeHead').select('unloggedTag').execute())[0]
        ?.unloggedTag;
    await numberAllChanges(app.database);
    const before = await mark();
    await sql`update issue set priority = 4, estimate_value = 13
      where workspace_id = ${workspaceId} and id = ${issueId}`.execute(unscoped);
    await sql`update issue_stage set estimate_value = 13
      where workspace_id = ${workspaceId} and issue_id = ${issueId} and until_utc is null`.execute(unscoped);
    const chore = wrongTallies(app.database);
    const now = new Date();
    expect(await chore.doSome(now)).toBeGreaterThan(0);
    // Clients that have read the wrong totals read them again.
    expect(await mark()).not.toBe(before);
    let [day, corrected, priority] = [now.getTime(), 0, 3];
    // Where files share a database, the janitor of another one may be quicker. Then the tallies are made wrong once more.
    while (corrected === 0) {
      await sql`update issue set priority = ${priority} where workspace_id = ${workspaceId} and id = ${issueId}`.execute(
        unscoped,
      );
      expect(await chore.doSome(new Date(day))).toBe(0);
      day += 25 * 60 * 60_000;
      corrected = await chore.doSome(new Date(day));
      priority = 5 - priority;
    }
    // In steps that each count part of the issues.
    expect(await recountTallies(unscoped, workspaceId, 7)).toBe(0);
    await sql`delete from issue_tally where workspace_id = ${workspaceId} and kind in (1, 3)`.execute(
      unscoped,
    );
    expect(await recountTallies(unscoped, workspaceId, 7)).toBeGreaterThan(0);
    expect(await recountTallies(unscoped, workspaceId)).toBe(0);
  });
});

describe('concurrent writes', () => {
  it('of issues with 50 labels do not deadlock', async () => {
    const labelIds = await manyLabels(50);
    const issues = await Promise.all(Array.from({ length: 12 }, () => create({ labelIds })));
    const before = await deadlocksIn(app.database);
    const { todo, doing, done, canceled } = world.eng;
    for (const statusId of [doing, done, todo, canceled, doing, todo]) {
      await Promise.all(
        issues.map(({ key }, index) =>
          (callers[index % 2] ?? ada).update(
            key,
            index % 3 === 0 ? { labelIds: labelIds.toReversed() } : { statusId },
          ),
        ),
      );
    }
    expect((await deadlocksIn(app.database)) - before).toBe(0);
    expect(await recountTallies(app.database.unscoped, world.workspaceId)).toBe(0);
  });
});

/** The fields without nulls, which neither a new issue nor a PATCH accepts. */
function withoutNulls(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

async function manyLabels(count: number): Promise<string[]> {
  const labels = Array.from({ length: count }, (_, index) => {
    const name = `Label ${index}`;
    return { workspaceId: world.workspaceId, id: newUuid(), teamId: null, name, nameFold: fold(name) };
  });
  await app.database.unscoped.insertInto('label').values(labels).execute();
  return labels.map(({ id }) => encodeId('label', id));
}

/** Values that change with each write of a tally. */
async function versions(): Promise<string[]> {
  const { rows } = await sql<{ version: string }>`
    select xmin::text || ' ' || issue_count as version from issue_tally
    where workspace_id = ${world.workspaceId} order by 1`.execute(app.database.unscoped);
  return rows.map(({ version }) => version);
}
