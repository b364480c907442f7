import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { parseId } from '../../src/resolvers/ids.ts';
import { table } from '../../src/rest-compat/table.ts';
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
const sample = samplesFrom(0);
let cells = 0;
let thereBefore: Record<string, string>;

beforeAll(async () => {
  twins = await startTwins();
  thereBefore = await digestOf(twins, twins.there.workspace.workspaceId);
});
// What was deleted or made by the tests before is not what it was.
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

/** The caller's own things to go with a value; others than the first where those do not fit. */
function samplesFrom(place: number): Sample {
  return (naming) => {
    const values = ownValues(naming, twins);
    return values[naming.of === 'issue' ? 0 : Math.min(place, values.length - 1)] ?? '';
  };
}

/** Everything at the place that is not the caller's own is answered like what is nowhere. */
async function expectAlike(at: string, naming: Naming, ask: Ask): Promise<void> {
  for (const { what, value, twin } of trialsOf(naming, twins)) {
    const seen = [seenIn(await ask(value), value), seenIn(await ask(twin), twin)];
    cells += 1;
    if (what.startsWith('own and deleted') && seen[0] !== seen[1]) deletedFound.add(at);
    else expect([at, what, seen[0]]).toEqual([at, what, seen[1]]);
  }
}

/** Places at which what the caller himself has deleted was told from what is nowhere. */
const deletedFound = new Set<string>();

/** Something of the caller's own does what it is for: a place where nothing would, proves nothing. */
async function expectToWork(at: string, naming: Naming, askWith: (samples: Sample) => Ask): Promise<void> {
  const [trial] = trialsOf(naming, twins);
  const refused = trial && seenIn(await askWith(sample)(trial.twin), trial.twin);
  let last = '';
  for (let place = 0; place < 6; place += 1) {
    const ask = askWith(samplesFrom(place));
    // What hangs on the issue of the samples comes last, so that it is there for those that follow.
    for (const value of ownValues(naming, twins).toReversed()) {
      const answer = await ask(value);
      last = seenIn(answer, value);
      const isRefused = answer.status >= 400 || (answer.body as { errors?: unknown }).errors !== undefined;
      if (!isRefused && last !== refused) return;
    }
  }
  throw new Error(`Nothing of the caller's own works at ${at}: ${last}`);
}

const mutations = objectFields.filter(({ parent }) => parent === 'Mutation');
const noFilters = { relations: 0, combinators: false, whole: true };

describe('a mutation', () => {
  it.each(mutations)('$coordinate', async (of) => {
    for (const position of positionsOf(of, sample, noFilters)) {
      const ask: Ask = (value) => mutate(twins.here, of, position.given(value));
      await expectAlike(position.at, position.naming, ask);
    }
    for (const [place, { at, naming }] of positionsOf(of, sample, noFilters).entries()) {
      await expectToWork(at, naming, (samples) => {
        const position = positionsOf(of, samples, noFilters)[place];
        return (value) => mutate(twins.here, of, position?.given(value));
      });
    }
  });

  it('finds what is deleted only to bring it back', () => {
    expect([...deletedFound]).toEqual(['Mutation.issueRestore(input.key)']);
  });
});

function mutate({ app, workspace }: World, { field }: FieldOf, input: unknown): Promise<Answer> {
  const [argument] = field.args;
  const query = `mutation ($input: ${String(argument?.type)}) { ${field.name}(input: $input)${wholeSelection(field)} }`;
  return app.graphql(query, { input }, { token: workspace.token, headers: uncompressed });
}

const routes = table
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
    for (const [place, { at, naming }] of positions.entries()) {
      if (naming.by === 'cursor') continue;
      await expectToWork(at, naming, (samples) => {
        const { request } = restPositions(route, samples)[place] ?? raise(at);
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

/** A cursor leads to a place, whosever row stood there. */
async function cursorsAreAlike(method: string, request: (value: string) => Request): Promise<void> {
  const { here, there, own, foreign } = twins;
  const shortPage = { ...request(''), path: `${request('').path}&page_size=1` };
  const { body } = (await send(here, method, shortPage)) as Answer<{ nextCursor: string }>;
  const theirs = (await send(there, method, shortPage)) as Answer<{ nextCursor?: string }>;
  if (!body.nextCursor) return;
  const uuids = [own, foreign].flatMap((things) => parseId(things.living('team')[0]?.id ?? '')?.uuid ?? []);
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

it('nothing is written in the other workspace by all this', async () => {
  expect(await digestOf(twins, twins.there.workspace.workspaceId)).toEqual(thereBefore);
});

function raise(at: string): never {
  throw new Error(`There is no place ${at}.`);
}
