import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { describeReads } from '../graph/read-suite.ts';
import { dataOf, startWorld, type World } from '../graph/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

describeReads('Member', () => world);

it('finds names and addresses whatever their case and accents', async () => {
  const find = async (filter: string) => {
    const { nodes } = dataOf(await world.ask(`{ members(filter: ${filter}) { nodes { displayName } } }`))
      .members as {
      nodes: { displayName: string }[];
    };
    return nodes.map(({ displayName }) => displayName);
  };
  expect(await find('{ displayName: { eq: "zoe" } }')).toEqual(['Zoë', 'ZOE']);
  expect(await find('{ displayName: { contains: "ANGSTROM" } }')).toEqual(['Ångström 100%']);
  expect(await find('{ displayName: { contains: "%" } }')).toEqual(['Ångström 100%']);
  expect(await find('{ emailAddress: { eq: "ZOE@fixture.EXAMPLE" } }')).toEqual(['Zoë']);
  expect(await find('{ emailAddress: { contains: "_" } }')).toEqual(['ZOE']);
});
