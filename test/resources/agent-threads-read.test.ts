import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { encodeId } from '../../src/resolvers/ids.ts';
import { describeReads } from '../graph/read-suite.ts';
import { dataOf, startWorld, type World } from '../graph/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describeReads('AgentThread', () => world);
describeReads('AgentThreadMessage', () => world);

it('is stale when nobody has carried on for half an hour, whatever the row says', async () => {
  const { issue } = world.fixture.rows;
  const ids = issue.slice(0, 3).map(({ id }) => encodeId('issue', id));
  const data = dataOf(
    await world.ask('query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Issue { agentThread { status } } } }', {
      ids,
    }),
  );
  expect(data.nodes).toEqual(['COMPLETED', 'STALE', 'ACTIVE'].map((status) => ({ agentThread: { status } })));
});

it('is none before the first message', async () => {
  const id = encodeId('issue', world.fixture.rows.issue[5]?.id ?? '');
  const data = dataOf(
    await world.ask('query ($id: ID!) { node(id: $id) { ... on Issue { agentThread { id } } } }', { id }),
  );
  expect(data.node).toEqual({ agentThread: null });
});
