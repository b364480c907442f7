import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeReads } from '../graph/read-suite.ts';
import { dataOf, startWorld, type World } from '../graph/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describeReads('IssueStatus', () => world);

it('lists the statuses of a team by position', async () => {
  const data = dataOf(await world.ask('{ team(code: "ENG") { statuses { position } } }'));
  expect(data.team).toEqual({ statuses: [0, 1, 2, 3, 4].map((position) => ({ position })) });
});
