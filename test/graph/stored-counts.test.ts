import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { connectionFields, planOf } from './schema-walk.ts';
import { dataOf, startWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld('counted');
});
afterAll(() => world.stop());

const counted = connectionFields.filter(({ field }) => {
  const plan = planOf(field);
  return plan?.kind === 'connection' && plan.count !== undefined;
});

it('there are lists whose parents keep count of them', () => {
  expect(counted.map(({ coordinate }) => coordinate).toSorted()).toEqual([
    'Issue.comments',
    'Issue.links',
    'Issue.subIssues',
    'Project.links',
  ]);
});

it.each(counted)('$coordinate has as many rows as its parent says', async ({ parent, field: { name } }) => {
  const ids = world.things.all(parent).map(({ id }) => id);
  // All rows, which only counting can tell of a filter.
  const filter = 'filter: { not: { id: { in: [] } } }';
  const query = `query ($ids: [ID!]!) {
    nodes(ids: $ids) {
      ... on ${parent} { said: ${name} { totalCount } counted: ${name}(${filter}) { totalCount } }
    }
  }`;
  const nodes = dataOf(await world.ask(query, { ids })).nodes as Record<
    'said' | 'counted',
    { totalCount: number }
  >[];
  expect(nodes.map(({ said }) => said)).toEqual(nodes.map((node) => node.counted));
  expect(nodes.some(({ said }) => said.totalCount > 0)).toBe(true);
});
