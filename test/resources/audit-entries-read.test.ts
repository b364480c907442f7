import { afterAll, beforeAll } from '@jest/globals';
import { describeReads } from '../graph/read-suite.ts';
import { dataOf } from '../graph/graph-answer.ts';
import { startWorld, type World } from '../graph/world.ts';
import { inProcess } from '../cli/workgraph.ts';

let world: World;

beforeAll(async () => {
  world = await startWorld();
  const make =
    'mutation ($name: String!) { accessTokenCreate(input: { name: $name, scopes: ["teams:read"] }) { accessToken { id } } }';
  for (const name of ['one', 'two', 'three']) {
    const made = dataOf(await world.ask(make, { name })) as {
      accessTokenCreate: { accessToken: { id: string } };
    };
    if (name !== 'three') await inProcess(world.app, 'token revoke', [made.accessTokenCreate.accessToken.id]);
  }
  world = { ...world, things: await world.read() };
}, 120_000);
afterAll(() => world.stop());

describeReads('AuditEntry', () => world);
