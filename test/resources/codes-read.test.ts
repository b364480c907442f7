import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { isEnumType } from 'graphql';
import { codeTables } from '../../src/resolvers/codes.ts';
import { errorCodes } from '../../src/resolvers/errors.ts';
import { schema } from '../../src/schema/index.ts';
import { dataOf, startWorld, type World } from '../graph/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

interface Table {
  name: string;
  entries: { name: string; code: number | null; description: string }[];
}

it('publishes each code table under the values of its enum, and the codes of errors', async () => {
  const { codes } = dataOf(
    await world.ask('{ codes { name entries { name code description } } }', {}, null),
  ) as { codes: Table[] };
  expect(codes.map(({ name }) => name)).toEqual([...Object.keys(codeTables), 'errorCode']);
  const enums = Object.values(schema.getTypeMap()).filter(isEnumType);
  for (const [table, codes_] of Object.entries(codeTables)) {
    const published = codes.find(({ name }) => name === table)?.entries ?? [];
    expect(published.map(({ name }) => name)).toEqual(Object.keys(codes_));
    const of = enums.find(({ extensions }) => extensions.codeTable === table);
    expect(of?.getValues().map(({ name }) => name)).toEqual(published.map(({ name }) => name.toUpperCase()));
  }
  const errors = codes.find(({ name }) => name === 'errorCode')?.entries ?? [];
  expect(errors).toEqual(
    Object.entries(errorCodes).map(([name, { status, meaning }]) => ({
      name,
      code: status,
      description: meaning,
    })),
  );
});
