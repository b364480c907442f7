import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeReads } from '../graph/read-suite.ts';
import { dataOf, startWorld, type World } from '../graph/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describeReads('Label', () => world);

it('tells labels of the workspace from those of a team by a filter for none', async () => {
  const query =
    '{ workspace { labels(filter: { teamId: { isNull: true } }) { nodes { teamId team { id } } } } }';
  const { labels } = dataOf(await world.ask(query)).workspace as { labels: { nodes: unknown[] } };
  expect(labels.nodes).toEqual([1, 2, 3].map(() => ({ teamId: null, team: null })));
});
