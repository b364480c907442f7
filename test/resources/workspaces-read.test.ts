import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { encodeId } from '../../src/resolvers/ids.ts';
import { describeReads } from '../graph/read-suite.ts';
import { dataOf, startWorld, type World } from '../graph/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describeReads('Workspace', () => world);

it('is the workspace of the token, by the root, by the viewer and by its id', async () => {
  const id = encodeId('workspace', world.fixture.workspaceId);
  const query = 'query ($id: ID!) { workspace { id } viewer { workspace { id } } node(id: $id) { id } }';
  expect(dataOf(await world.ask(query, { id }))).toEqual({
    workspace: { id },
    viewer: { workspace: { id } },
    node: { id },
  });
});
