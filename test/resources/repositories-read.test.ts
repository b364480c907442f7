import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeReads } from '../graph/read-suite.ts';
import { dataOf, startWorld, type World } from '../graph/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describeReads('RepositoryContext', () => world);

it('finds the default repository of a team, or none', async () => {
  const query =
    '{ a: team(code: "ENG") { defaultRepository { externalRepositoryName } } b: team(code: "OPS") { defaultRepository { id } } }';
  expect(dataOf(await world.ask(query))).toEqual({
    a: { defaultRepository: { externalRepositoryName: 'apí' } },
    b: { defaultRepository: null },
  });
});
