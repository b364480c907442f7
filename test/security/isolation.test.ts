import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parseId } from '../../src/resolvers/ids.ts';
import { sampleLists } from '../graph/lists.ts';
import { connectionFields, type FieldOf, objectFields, rowTypeOf } from '../graph/schema-walk.ts';
import { isWholeInCi, sampledOutsideCi } from '../support/samples.ts';
import { cursorsOf, prefixOf, pathToRichest } from './parents.ts';
import { type Depth, type Position, positionsOf, type Sample } from './positions.ts';
import { type Cell, type Difference, differing, type Question, tellsApart } from './query-cells.ts';
import { besideUuid, cursorWith, ownValues, trialsOf } from './trials.ts';
import { startTwins, type TwinWorlds } from './twin-worlds.ts';
import { shortestPaths, type SelectionPath } from './selection-paths.ts';

let twins: TwinWorlds;
let sample: Sample;
let paths: ReadonlyMap<string, SelectionPath>;
let cells = 0;
/** Positions at which an object of the caller changes the answer. */
const sensitive = new Set<string>();
/** Positions at which a deleted object of the caller is distinguished from one that does not exist. */
const deletedFound = new Set<string>();

beforeAll(async () => {
  twins = await startTwins();
  sample = (naming) => ownValues(naming, twins)[0] ?? '';
  // A subscription has one root field, so other types are not read through it.
  const toSubscription: SelectionPath = { prefix: '{ ', suffix: ' }', steps: [] };
  paths = new Map([...shortestPaths('Query', sample), ['Subscription', toSubscription]]);
});
afterAll(async () => {
  await twins.stop();
  console.info(`The matrix of isolation, queries: ${cells} cells.`);
});

/** By default, one list of each type has its filters tried across relations and combinators. MATRIX=whole tries all lists. */
const whole = process.env.MATRIX === 'whole';
const shallow: Depth = { relations: 0, combinators: false, whole: true };
const depthOf = (of: FieldOf): Depth =>
  sampleLists.includes(of) ? { relations: whole ? 2 : 1, combinators: true, whole } : shallow;

const fieldsWithArguments = objectFields.filter(
  ({ parent, field }) => parent !== 'Mutation' && field.args.length > 0,
);

describe('an object of another workspace gets the same answer as one that does not exist', () => {
  it.each(sampledOutsideCi(fieldsWithArguments, 3, ({ parent }) => parent))(
    '$coordinate',
    async (of) => {
      const { here, own } = twins;
      const path = (await pathToRichest(here, own, of)) ?? paths.get(of.parent);
      if (!path) throw new Error(`No path leads to ${of.parent}.`);
      const questions = positionsOf(of, sample, depthOf(of))
        .filter(({ naming }) => naming.by !== 'cursor')
        .map((position): Question => ({ path, of, position }));
      const tried = questions.flatMap((question) =>
        trialsOf(question.position.naming, twins).map((trial): Cell => ({ ...question, ...trial })),
      );
      cells += tried.length;
      const found = await differing(here, tried, sample);
      for (const { cell } of found.filter(isOwnAndDeleted)) deletedFound.add(keyOf(of, cell.position));
      expect(found.filter((each) => !isOwnAndDeleted(each)).map(shown)).toEqual([]);
      await noteSensitive(questions);
    },
    600_000,
  );

  it.each(sampledOutsideCi(connectionFields, 3, rowTypeOf))('a cursor of $coordinate', async (of) => {
    const { here, there, own, foreign } = twins;
    const path = (await pathToRichest(here, own, of)) ?? paths.get(of.parent);
    const [first, last] = await cursorsOf(here, path ?? raise(of), of);
    const foreignPath = (await pathToRichest(there, foreign, of)) ?? paths.get(of.parent);
    const [foreignCursor] = await cursorsOf(there, foreignPath ?? raise(of), of);
    const kind = prefixOf(rowTypeOf(of));
    // Use an id of another kind: a row of the list itself could lie between the two positions.
    const other = kind === 'team' ? 'issue' : 'team';
    const absentIds = [
      ...(kind ? [own.deleted(kind)[0], foreign.deleted(kind)[0]] : []),
      foreign.notDeleted(other)[0],
      own.notDeleted(other)[0],
    ].flatMap((candidate) => parseId(candidate?.id ?? '')?.uuid ?? []);
    const values = [foreignCursor, ...absentIds.map((uuid) => cursorWith(first, () => uuid))];
    const questions = positionsOf(of, sample, shallow)
      .filter(({ naming }) => naming.by === 'cursor')
      .map((position): Question => ({ path: path ?? raise(of), of, position }));
    const tried = questions.flatMap((question) =>
      values.map((value) => ({
        ...question,
        what: 'a cursor',
        value,
        twin: cursorWith(value, besideUuid),
      })),
    );
    cells += tried.length;
    expect((await differing(here, tried, sample)).map(shown)).toEqual([]);
    const ownQuestions = questions.map((question) => ({
      ...question,
      what: 'own',
      value: first,
      twin: last,
    }));
    if (first !== last) expect(await tellsApart(here, ownQuestions, sample)).toBe(true);
  });
});

// What the matrix as a whole shows.
const onWhole = isWholeInCi ? it : it.skip;

onWhole(
  'a deleted object of the caller is distinguished from one that does not exist only where it left data',
  () => {
    // The replies to a deleted comment remain, and so do the entries of an issue in the log.
    expect([...deletedFound]).toEqual([
      'Comment(filter.parentCommentId)',
      'ChangePage(filter.issueId)',
      'Change(filter.issueId)',
    ]);
  },
);

onWhole('every position gives a different answer for some object of the caller', () => {
  // A filter is the same for all lists of a type, so one of them is enough.
  const keys = fieldsWithArguments.flatMap((of) =>
    positionsOf(of, sample, shallow)
      .filter(({ naming }) => naming.by !== 'cursor')
      .map((position) => keyOf(of, position)),
  );
  expect([...new Set(keys)].filter((key) => !sensitive.has(key))).toEqual([]);
});

function isOwnAndDeleted({ cell }: Difference): boolean {
  return cell.what.startsWith('own and deleted');
}

/** The readable fields of a difference. The others contain the schema. */
function shown({ cell: { position, what, value, twin }, answers }: Difference): unknown {
  return { at: position.at, what, value, twin, answers };
}

/** Tries the caller's objects at each position, because a position that ignores its value would prove nothing. */
async function noteSensitive(questions: readonly Question[]): Promise<void> {
  for (const [key, alike] of Map.groupBy(questions, ({ of, position }) => keyOf(of, position))) {
    if (sensitive.has(key)) continue;
    const question = alike.find(({ position }) => position.takesMany) ?? alike[0];
    const { naming, takesMany } = question?.position ?? {};
    const [trial] = naming ? trialsOf(naming, twins) : [];
    if (!question || !naming || !trial) continue;
    const values = ownValues(naming, twins);
    const own = (takesMany ? [values] : values.slice(0, 30)).map((value) => ({
      ...question,
      what: 'own',
      value,
      twin: trial.twin,
    }));
    if (await tellsApart(twins.here, own, sample)) sensitive.add(key);
  }
}

/** The position without its comparator. A filter is named by the type of its rows. */
function keyOf(of: FieldOf, { at }: Position): string {
  const key = at.replace(/(filter.*)\.\w+\)$/, '$1)');
  return key.includes('(filter') ? key.replace(of.coordinate, rowTypeOf(of)) : key;
}

function raise({ parent }: FieldOf): never {
  throw new Error(`No path leads to ${parent}.`);
}
