import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { parseId } from '../../src/resolvers/ids.ts';
import { routeTable } from '../../src/rest-compat/route-table.ts';
import type { Naming } from '../../src/schema/builder/naming.ts';
import { type FieldOf, objectFields } from '../graph/schema-walk.ts';
import type { World } from '../graph/world.ts';
import type { Answer } from '../support/app.ts';
import { positionsOf, type Sample } from './positions.ts';
import { readCandidates } from './candidates.ts';
import { restPositions } from './rest-positions.ts';
import { besideUuid, cursorWith, ownValues, trialsOf } from './trials.ts';
import { digestOf, seenIn, startTwins, type TwinWorlds, uncompressed } from './twin-worlds.ts';
import { wholeSelection } from './selection-paths.ts';

let twins: TwinWorlds;
const sample = samplesAt(0);
let cells = 0;
let thereBefore: Record<string, string>;

beforeAll(async () => {
  twins = await startTwins();
  thereBefore = await digestOf(twins, twins.there.workspace.workspaceId);
});
// Earlier tests have deleted and created objects, so the candidates are read again.
beforeEach(async () => {
  const { here } = twins;
  twins = {
    ...twins,
    own: await readCandidates(here.app.database.unscoped, here.workspace.workspaceId),
  };
});
afterAll(async () => {
  await twins.stop();
  console.info(`The matrix of isolation, mutations and REST: ${cells} cells.`);
});

type Ask = (value: string) => Promise<Answer>;

/** Samples of the caller's own objects. Another index gives other objects, for inputs that the first ones do not fit. */
function samplesAt(index: number): Sample {
  return (naming) => {
    const values = ownValues(naming, twins);
    return values[naming.of === 'issue' ? 0 : Math.min(index, values.length - 1)] ?? '';
  };
}

/** Expects that an object of another workspace gets the same answer as one that does not exist. */
async function expectAlike(at: string, naming: Naming, ask: Ask): Promise<void> {
  for (const { what, value, twin } of trialsOf(naming, twins)) {
    const seen = [seenIn(await ask(value), value), seenIn(await ask(twin), twin)];
    cells += 1;
    if (what.startsWith('own and deleted') && seen[0] !== seen[1]) deletedFound.add(at);
    else expect([at, what, seen[0]]).toEqual([at, what, seen[1]]);
  }
}

/** Positions at which a deleted object of the caller is distinguished from one that does not exist. */
const deletedFound = new Set<string>();

/** Expects that some object of the caller works at the position; otherwise equal refusals would prove nothing. */
async function expectToWork(at: string, naming: Naming, askWith: (samples: Sample) => Ask): Promise<void> {
  const [trial] = trialsOf(naming, twins);
  const refused = trial && seenIn(await askWith(sample)(trial.twin), trial.twin);
  let last = '';
  for (let index = 0; index < 6; index += 1) {
    const ask = askWith(samplesAt(index));
    // Objects of the sample's issue come last, so that they are not deleted while others still need them.
    for (const value of ownValues(naming, twins).toReversed()) {
      const answer = await ask(value);
      last = seenIn(answer, value);
      const isRefused = answer.status >= 400 || (answer.body as { errors?: unknown }).errors !== undefined;
      if (!isRefused && last !== refused) return;
    }
  }
  throw new Error(`No object of the caller works at ${at}: ${last}`);
}

const mutations = objectFields.filter(({ parent }) => parent === 'Mutation');
const noFilters = { relations: 0, combinators: false, whole: true };

describe('a mutation', () => {
  it.each(mutations)('$coordinate', async (of) => {
    for (const position of positionsOf(of, sample, noFilters)) {
      const ask: Ask = (value) => mutate(twins.here, of, position.buildValue(value));
      await expectAlike(position.at, position.naming, ask);
    }
    for (const [index, { at, naming }] of positionsOf(of, sample, noFilters).entries()) {
      await expectToWork(at, naming, (samples) => {
        const position = positionsOf(of, samples, noFilters)[index];
        return (value) => mutate(twins.here, of, position?.buildValue(value));
      });
    }
  });

  it('finds a deleted object only to restore it', () => {
    expect([...deletedFound]).toEqual(['Mutation.issueRestore(input.key)']);
  });
});

function mutate({ app, workspace }: World, { field }: FieldOf, input: unknown): Promise<Answer> {
  const [argument] = field.args;
  const query = `mutation ($input: ${String(argument?.type)}) { ${field.name}(input: $input)${wholeSelection(field)} }`;
  return app.graphql(query, { input }, { token: workspace.token, headers: uncompressed });
}

const routes = routeTable
  .map((route) => ({ route, name: `${route.method} ${route.path}` }))
  .filter(({ route }) => restPositions(route, () => '').length > 0);

describe('an endpoint', () => {
  it.each(routes)('$name', async ({ route }) => {
    const positions = restPositions(route, sample);
    for (const { at, naming, request } of positions) {
      if (naming.by === 'cursor') continue;
      await expectAlike(at, naming, (value) => send(twins.here, route.method, request(value)));
    }
    for (const { naming, request } of positions) {
      if (naming.by === 'cursor') await cursorsAreAlike(route.method, request);
    }
    for (const [index, { at, naming }] of positions.entries()) {
      if (naming.by === 'cursor') continue;
      await expectToWork(at, naming, (samples) => {
        const { request } = restPositions(route, samples)[index] ?? raise(at);
        return (value) => send(twins.here, route.method, request(value));
      });
    }
  });
});

type Request = ReturnType<ReturnType<typeof restPositions>[number]['request']>;

function send({ app, workspace }: World, method: string, { path, body }: Request): Promise<Answer> {
  return app.request(method, path, {
    token: workspace.token,
    headers: uncompressed,
    ...(body && { body }),
  });
}

/** A cursor is a position in a list, so the workspace of the row at that position must make no difference. */
async function cursorsAreAlike(method: string, request: (value: string) => Request): Promise<void> {
  const { here, there, own, foreign } = twins;
  const shortPage = { ...request(''), path: `${request('').path}&page_size=1` };
  const { body } = (await send(here, method, shortPage)) as Answer<{ nextCursor: string }>;
  const theirs = (await send(there, method, shortPage)) as Answer<{ nextCursor?: string }>;
  if (!body.nextCursor) return;
  const uuids = [own, foreign].flatMap(
    (candidates) => parseId(candidates.notDeleted('team')[0]?.id ?? '')?.uuid ?? [],
  );
  const values = [
    theirs.body.nextCursor ?? '',
    ...uuids.map((uuid) => cursorWith(body.nextCursor, () => uuid)),
  ];
  for (const value of values.filter((each) => each !== '')) {
    const twin = cursorWith(value, besideUuid);
    cells += 1;
    const answers = [value, twin].map(async (each) => seenIn(await send(here, method, request(each)), each));
    expect(await answers[0]).toBe(await answers[1]);
  }
}

it('no request of these tests writes to the other workspace', async () => {
  expect(await digestOf(twins, twins.there.workspace.workspaceId)).toEqual(thereBefore);
});

function raise(at: string): never {
  throw new Error(`There is no position ${at}.`);
}
