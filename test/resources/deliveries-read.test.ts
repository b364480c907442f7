import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeReads } from '../graph/read-suite.ts';
import { dataOf, startWorld, type World } from '../graph/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describeReads('Delivery', () => world);

it('says which delivery runs today, which is to come and which is over', async () => {
  const query = '{ team(code: "ENG") { deliveries { nodes { isCurrent isUpcoming } } } }';
  const { deliveries } = dataOf(await world.ask(query)).team as { deliveries: { nodes: unknown[] } };
  expect(deliveries.nodes).toEqual([
    { isCurrent: false, isUpcoming: false },
    { isCurrent: true, isUpcoming: false },
    { isCurrent: true, isUpcoming: false },
  ]);
});

it('counts nothing where there are no counters yet', async () => {
  const query =
    '{ team(code: "OPS") { deliveries(last: 1) { nodes { issueCount closedIssueCount estimatedScope closedEstimate } } } }';
  const none = { issueCount: 0, closedIssueCount: 0, estimatedScope: 0, closedEstimate: 0 };
  expect(dataOf(await world.ask(query)).team).toEqual({ deliveries: { nodes: [none] } });
});
