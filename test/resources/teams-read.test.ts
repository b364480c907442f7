import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeReads } from '../graph/read-suite.ts';
import { dataOf, startWorld, type World } from '../graph/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describeReads('Team', () => world);

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
