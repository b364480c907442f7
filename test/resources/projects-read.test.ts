import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeReads } from '../graph/read-suite.ts';
import { dataOf } from '../graph/graph-answer.ts';
import { sharedWorld, type SharedWorld } from '../graph/shared-world.ts';

let world: SharedWorld;
beforeAll(async () => {
  world = await sharedWorld();
});
afterAll(() => world.stop());

describeReads('Project', () => world);
describeReads('ProjectStatus', () => world);
describeReads('ProjectLink', () => world);

it('projects without a lead come last in both directions of the order by lead', async () => {
  for (const direction of ['ASC', 'DESC']) {
    const query = `{ projects(orderBy: { field: LEAD, direction: ${direction} }) { nodes { lead { displayName } } } }`;
    const { nodes } = dataOf(await world.ask(query)).projects as { nodes: { lead: unknown }[] };
    expect(nodes.map(({ lead }) => lead !== null)).toEqual([true, true, true, false, false]);
  }
});
