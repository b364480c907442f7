import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { isEnumType } from 'graphql';
import { codeTables } from '../../src/resolvers/codes.ts';
import { errorCodes } from '../../src/resolvers/errors.ts';
import { encodeId } from '../../src/resolvers/ids.ts';
import { schema } from '../../src/schema/index.ts';
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
  for (const [table, known] of Object.entries(codeTables)) {
    const published = codes.find(({ name }) => name === table)?.entries ?? [];
    expect(published.map(({ name }) => name)).toEqual(Object.keys(known));
    const of = enums.find(({ extensions }) => extensions.codeTable === table);
    const values = of?.getValues().map(({ name }) => name) ?? [];
    expect(values.toSorted()).toEqual(published.map(({ name }) => name.toUpperCase()).toSorted());
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
