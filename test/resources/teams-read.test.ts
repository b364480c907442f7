import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeReads } from '../graph/read-suite.ts';
import { dataOf, startWorld, type World } from '../graph/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describeReads('Team', () => world);
describeReads('IssueStatus', () => world);
describeReads('RepositoryContext', () => world);

it('counts the next issue number from 1 where no issue was ever made, else from the counter', async () => {
  const [team] = world.fixture.rows.team;
  const query = '{ teams { nodes { code nextIssueNumber } } }';
  const first = dataOf(await world.ask(query)).teams as { nodes: { nextIssueNumber: number }[] };
  expect(first.nodes.map(({ nextIssueNumber }) => nextIssueNumber)).toEqual([1, 1, 1, 1]);
  await world.app.database.db
    .insertInto('teamCounter')
    .values({ workspaceId: world.fixture.workspaceId, teamId: team?.id ?? '', nextIssueNumber: 43 })
    .execute();
  const counted = dataOf(await world.ask(`{ team(code: "${team?.code}") { nextIssueNumber } }`));
  expect(counted.team).toEqual({ nextIssueNumber: 43 });
});

it('lists the statuses of a team by position', async () => {
  const data = dataOf(await world.ask('{ team(code: "ENG") { statuses { position } } }'));
  expect(data.team).toEqual({ statuses: [0, 1, 2, 3, 4].map((position) => ({ position })) });
});

it('finds the default repository of a team, or none', async () => {
  const query =
    '{ a: team(code: "ENG") { defaultRepository { externalRepositoryName } } b: team(code: "OPS") { defaultRepository { id } } }';
  expect(dataOf(await world.ask(query))).toEqual({
    a: { defaultRepository: { externalRepositoryName: 'apí' } },
    b: { defaultRepository: null },
  });
});
