import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { onStatement } from '../../src/db/engine/meter.ts';
import { fold } from '../../src/model/fold.ts';
import { type App, isGraphqlJs, startApp } from '../support/app.ts';
import { type IssueWorld, issueWorld } from '../support/issue-world.ts';
import { type Caller, callerOf } from '../support/mutations.ts';
import { uuidOf } from '../support/ids.ts';

// Conditions of a filter on cached rows are evaluated in memory, and the statement receives the matching keys.
const compiled = isGraphqlJs ? it.skip : it;

let app: App;
let world: IssueWorld;
let ada: Caller;
let keys: { open: string; done: string; doneId: string; bug: string };

beforeAll(async () => {
  app = await startApp({ sharesDatabase: true });
  world = await issueWorld(app);
  ada = callerOf(app, world.ada.token);
  const { eng, ops } = world;
  const open = await ada.create({ teamId: eng.id, title: 'Open' });
  const done = await ada.create({ teamId: eng.id, title: 'Done', statusId: eng.done });
  const bug = await ada.create({ teamId: ops.id, title: 'Bug', labelIds: [world.shared] });
  keys = { open: open.key, done: done.key, doneId: done.id, bug: bug.key };
});

afterAll(() => app.stop());

/** Sends a query and records the statements that it takes. */
async function runQuery<Data>(query: string) {
  const statements: string[] = [];
  const end = onStatement(({ sql }) => void statements.push(sql));
  const { body } = await app.graphql<Data>(query, {}, world.ada).finally(end);
  return { data: body.data, sql: statements.join('\n') };
}

/** The keys of the issues that a filter matches, and the statements that it takes. */
async function found(filter: string, order = 'CREATED') {
  const { data, sql } = await runQuery<{ issues: { totalCount: number; nodes: { key: string }[] } }>(
    `{ issues(filter: ${filter}, orderBy: { field: ${order}, direction: ASC }) { totalCount nodes { key } } }`,
  );
  expect(data?.issues.totalCount).toBe(data?.issues.nodes.length);
  return { keys: data?.issues.nodes.map(({ key }) => key), sql };
}

compiled('few keys are looked for by an index, where the table is asked of nothing else', async () => {
  const { sql, ...rows } = await found('{ status: { isTerminal: { eq: true } } }');
  expect(rows.keys).toEqual([keys.done]);
  expect(sql).not.toContain('from "status"');
  expect(sql).toContain('= any($');
});

compiled.each([
  '{ status: { isTerminal: { eq: true } } }',
  '{ and: [{ status: { category: { eq: COMPLETED } } }, { title: { eq: "Done" } }] }',
])('a list ordered by status starts at the first status that the filter %s matches', async (filter) => {
  const byStatus = await found(filter, 'STATUS');
  expect(byStatus.keys).toEqual([keys.done]);
  expect(byStatus.sql).toContain('"r0"."status_rank" >= $');
  expect(byStatus.sql).toContain('"r0"."status_rank" <= $');
  expect((await found(filter)).sql).not.toContain('"r0"."status_rank" >=');
});

compiled.each([
  [
    '{ or: [{ status: { isTerminal: { eq: true } } }, { title: { eq: "Bug" } }] }',
    () => [keys.bug, keys.done],
  ],
  ['{ not: { status: { isTerminal: { eq: true } } } }', () => [keys.open, keys.bug]],
  ['{ status: { category: { eq: CANCELED } }, title: { eq: "No" } }', () => []],
])('a list ordered by status is not bounded by the filter %s', async (filter, expected) => {
  const byStatus = await found(filter, 'STATUS');
  expect(byStatus.keys?.toSorted()).toEqual(expected().toSorted());
  if (!filter.includes('CANCELED')) expect(byStatus.sql).not.toContain('"r0"."status_rank" >=');
});

compiled('many keys are hashed once for the statement', async () => {
  // The workspace has more than eight people.
  const filter = '{ reporter: { displayName: { neq: "Nobody" } } }';
  const whole = await found(filter);
  expect(whole.keys).toEqual([keys.open, keys.done, keys.bug]);
  const children = await runQuery<{ teams: { nodes: { issues: { nodes: { key: string }[] } }[] } }>(
    `{ teams { nodes { issues(filter: ${filter}, orderBy: { field: CREATED, direction: ASC }) { nodes { key } } } } }`,
  );
  const ofTeams = children.data?.teams.nodes.map(({ issues }) => issues.nodes.map(({ key }) => key));
  expect(new Set(ofTeams)).toEqual(new Set([[keys.bug], [keys.open, keys.done]]));
  for (const { sql } of [whole, children]) {
    expect(sql).not.toContain('from "member"');
    expect(sql).toMatch(/in \(select unnest\(\$\d+::uuid\[\]\)\)\) is true/);
  }
});

compiled('keys over a join, of none, and of their opposite are looked for likewise', async () => {
  const some = await found('{ labels: { some: { name: { eq: "Shared" } } } }');
  expect(some).toMatchObject({ keys: [keys.bug], sql: expect.not.stringContaining('from "label"') });
  const none = await found('{ labels: { none: { name: { eq: "Shared" } } } }');
  expect(none.keys).toEqual([keys.open, keys.done]);
  const nobody = await found('{ status: { name: { eq: "There is none" } } }');
  expect(nobody.keys).toEqual([]);
  const others = await found('{ not: { status: { name: { eq: "There is none" } } } }');
  expect(others.keys).toEqual([keys.open, keys.done, keys.bug]);
});

compiled('those below a table that is not cached are given to its part of the statement', async () => {
  const child = await ada.create({ teamId: world.eng.id, title: 'Child', parentIssueId: keys.doneId });
  const under = await found('{ parent: { status: { isTerminal: { eq: true } } } }');
  expect(under).toMatchObject({ keys: [child.key], sql: expect.not.stringContaining('from "status"') });
  await ada.mutate('issueDelete', { key: child.key });
});

it('a filter matches a changed status by its new values', async () => {
  const rename = (name: string) =>
    app.database.unscoped
      .updateTable('status')
      .set({ name, nameFold: fold(name) })
      .where('workspaceId', '=', world.workspaceId)
      .where('id', '=', uuidOf(world.eng.done))
      .execute();
  const named = async (name: string) => (await found(`{ status: { name: { eq: "${name}" } } }`)).keys;
  await rename('Shipped');
  expect([await named('Shipped'), await named('Delivered')]).toEqual([[keys.done], []]);
  await rename('Delivered');
  expect([await named('Shipped'), await named('Delivered')]).toEqual([[], [keys.done]]);
});
