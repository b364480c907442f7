import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { recountTallies } from '../../src/db/issue-tallies.ts';
import { decodeId, encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { connectionFields, planOf } from './schema-walk.ts';
import { dataOf } from './graph-answer.ts';
import { startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld('counted');
});
afterAll(() => world.stop());

const counted = connectionFields.filter(({ field }) => {
  const plan = planOf(field);
  if (plan?.kind !== 'connection') return false;
  const { counter, parent } = plan.list.source;
  const isCounter = counter && parent && 'column' in parent && parent.column === counter.key;
  return isCounter || plan.count !== undefined;
});

it('five lists have a stored count', () => {
  expect(counted.map(({ coordinate }) => coordinate).toSorted()).toEqual([
    'Issue.comments',
    'Issue.links',
    'Issue.subIssues',
    'Project.links',
    'Team.issues',
  ]);
});

it.each(counted)(
  '$coordinate has as many rows as its stored count says',
  async ({ parent, field: { name } }) => {
    const ids = world.model.all(parent).map(({ id }) => id);
    // This filter matches all rows, but its total needs counting.
    const filter = 'filter: { not: { id: { in: [] } } }';
    const query = `query ($ids: [ID!]!) {
    nodes(ids: $ids) {
      ... on ${parent} { stored: ${name} { totalCount } counted: ${name}(${filter}) { totalCount } }
    }
  }`;
    const nodes = dataOf(await world.ask(query, { ids })).nodes as Record<
      'stored' | 'counted',
      { totalCount: number }
    >[];
    expect(nodes.map(({ stored }) => stored)).toEqual(nodes.map((node) => node.counted));
    expect(nodes.some(({ stored }) => stored.totalCount > 0)).toBe(true);
  },
);

it('the totals of issues of a team and of all teams come from counters, unless there is a filter', async () => {
  const one = 'filter: { number: { gte: 1 } }';
  const read = async () => {
    const { issues, some, team } = dataOf(
      await world.ask(`{
        issues { totalCount } some: issues(${one}) { totalCount }
        team(code: "${world.fixture.rows.team[0]?.code}") { issues { totalCount } some: issues(${one}) { totalCount } }
      }`),
    ) as Record<'issues' | 'some', Total> & { team: Record<'issues' | 'some', Total> };
    return [issues, some, team.issues, team.some].map(({ totalCount }) => totalCount);
  };
  const [all = 0, counted = 0, ofTeam = 0, countedOfTeam = 0] = await read();
  expect([counted, countedOfTeam]).toEqual([all, ofTeam]);
  await world.app.database.unscoped
    .updateTable('teamCounter')
    .set((eb) => ({ goneIssueCount: eb('goneIssueCount', '-', 5) }))
    .where('workspaceId', '=', world.fixture.workspaceId)
    .where('teamId', '=', world.fixture.rows.team[0]?.id ?? '')
    .execute();
  expect(await read()).toEqual([all + 5, counted, ofTeam + 5, countedOfTeam]);
});

it('the next issue number of a team is 1 before its first issue, else that of the counter', async () => {
  const { team: teams, issue: issues } = world.fixture.rows;
  const query = '{ teams { nodes { code nextIssueNumber } } }';
  const first = dataOf(await world.ask(query)).teams as {
    nodes: { code: string; nextIssueNumber: number }[];
  };
  const last = (code: string) => {
    const numbers = issues.filter(({ teamId }) => teams.find(({ id }) => id === teamId)?.code === code);
    return Math.max(0, ...numbers.map(({ number }) => number));
  };
  expect(first.nodes).toEqual(first.nodes.map(({ code }) => ({ code, nextIssueNumber: last(code) + 1 })));
  const team = teams.find(({ code }) => last(code) === 0);
  await world.app.database.unscoped
    .insertInto('teamCounter')
    .values({ workspaceId: world.fixture.workspaceId, teamId: team?.id ?? '', nextIssueNumber: 43 })
    .execute();
  const counted = dataOf(await world.ask(`{ team(code: "${team?.code}") { nextIssueNumber } }`));
  expect(counted.team).toEqual({ nextIssueNumber: 43 });
});

it('an issue that an operator deletes by SQL is no longer counted', async () => {
  const { unscoped } = world.app.database;
  const { workspaceId, rows } = world.fixture;
  const teamId = rows.team[0]?.id ?? '';
  const counted = async () => {
    const { issueCount } = await unscoped
      .selectFrom('teamCounter as c')
      .select('c.issueCount')
      .where('c.workspaceId', '=', workspaceId)
      .where('c.teamId', '=', teamId)
      .executeTakeFirstOrThrow();
    const notDeleted = await unscoped
      .selectFrom('issue as i')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('i.workspaceId', '=', workspaceId)
      .where('i.teamId', '=', teamId)
      .where('i.deletedUtc', 'is', null)
      .executeTakeFirstOrThrow();
    return issueCount - notDeleted.count;
  };
  const created = dataOf(
    await world.ask(
      'mutation ($teamId: ID!) { issueCreate(input: { teamId: $teamId, title: "Removed" }) { issue { id key } } }',
      { teamId: encodeId('team', teamId) },
    ),
  ) as { issueCreate: { issue: { id: string } } };
  const before = await counted();
  const decoded = decodeId('issue', created.issueCreate.issue.id);
  if (!('uuid' in decoded)) throw new Error('No id.');
  const referencingTables = await sql<{ name: string }>`
    select conrelid::regclass::text as name from pg_constraint
    where confrelid = 'issue'::regclass and contype = 'f' and conrelid <> confrelid`.execute(unscoped);
  for (const name of new Set(referencingTables.rows.map((row) => row.name)))
    await sql`delete from ${sql.table(name)} where issue_id = ${decoded.uuid}`.execute(unscoped);
  await sql`delete from issue where id = ${decoded.uuid}`.execute(unscoped);
  expect(await counted()).toBe(before);
});

it('issueStats returns the 1,000 largest groups', async () => {
  const { unscoped: db } = world.app.database;
  const { workspaceId, rows } = world.fixture;
  const issueId = rows.issue.find(({ deletedUtc }) => !deletedUtc)?.id ?? '';
  const labels = Array.from({ length: 1_001 }, (_, index) => {
    const name = `one of many: ${index}`;
    return { workspaceId, id: newUuid(), name, nameFold: name };
  });
  await db.insertInto('label').values(labels).execute();
  const assignments = labels.map(({ id: labelId }) => ({ workspaceId, issueId, labelId }));
  await db.insertInto('issueLabel').values(assignments).execute();
  await recountTallies(db, workspaceId);
  const answer = await world.ask('{ issueStats(groupBy: [LABEL]) { count } }');
  expect(dataOf(answer).issueStats).toHaveLength(1_000);
});

it('issueStats limits sums to the range of Int', async () => {
  const { unscoped: db } = world.app.database;
  const [issue, other] = world.fixture.rows.issue;
  const ids = [issue?.id ?? '', other?.id ?? ''];
  const { workspaceId } = world.fixture;
  await db
    .updateTable('issue')
    .set({ estimateValue: 2_147_483_647 })
    .where('workspaceId', '=', workspaceId)
    .where('id', 'in', ids)
    .execute();
  await recountTallies(db, workspaceId);
  expect(dataOf(await world.ask('{ issueStats(groupBy: []) { estimateSum } }')).issueStats).toEqual([
    { estimateSum: 2_147_483_647 },
  ]);
});

interface Total {
  totalCount: number;
}
