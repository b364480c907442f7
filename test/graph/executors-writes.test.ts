import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Random } from '../support/random.ts';
import { isWhole } from '../support/samples.ts';
import { compiledCounts } from '../../src/executor/compiled/run/executor.ts';
import { parseId } from '../../src/resolvers/ids.ts';
import { type App, startApp } from '../support/app.ts';
import { comparable, difference } from './executor-answers.ts';
import { RandomQueries } from './random-queries.ts';
import { RandomWrites } from './random-writes.ts';
import { dataOf, type GraphAnswer } from './graph-answer.ts';
import { addWorld, type World } from './world.ts';

/** 100 in CI, 40 in other runs; WRITES=5000 makes a long run. Each write depends on those before, so SEED=… repeats a whole run. */
const writes = Number(process.env.WRITES ?? (isWhole ? 100 : 40));
const seed = process.env.SEED ?? String(Date.now());

let apps: App[];
/** Two workspaces with the same rows, one for each executor. */
let worlds: Record<'compiled' | 'graphql-js', World>;
const beganMs = Date.now();

beforeAll(async () => {
  const start = async (EXECUTOR: 'compiled' | 'graphql-js') => {
    const app = await startApp({ settings: { EXECUTOR } });
    return { app, world: await addWorld(app, 'executors', undefined, beganMs) };
  };
  const [compiled, graphqlJs] = [await start('compiled'), await start('graphql-js')];
  apps = [compiled.app, graphqlJs.app];
  worlds = { compiled: compiled.world, 'graphql-js': graphqlJs.world };
});
afterAll(() => Promise.all(apps.map((app) => app.stop())));

it(
  'both executors give the same answer to any mutation, errors and their paths included',
  async () => {
    const random = new Random(seed);
    const { model } = worlds.compiled;
    const queries = new RandomQueries(model, random, new Map());
    let refused = 0;
    for (let index = 0; index < writes; index += 1) {
      const { query, variables } = queries.mutation(new RandomWrites(model, random).writes());
      const answers = await Promise.all([
        worlds.compiled.ask(query, variables),
        worlds['graphql-js'].ask(query, variables),
      ]);
      const [compiled, graphqlJs] = answers.map((answer) => comparable(settled(answer)));
      if (compiled === undefined || compiled !== graphqlJs) {
        const request = JSON.stringify({ query, variables });
        throw new Error(
          `SEED=${seed} at ${index}: ${request}\n${difference(compiled ?? '', graphqlJs ?? '')}`,
        );
      }
      if (answers[0].body.errors) refused += 1;
    }
    // Otherwise mostly refusals would have been compared.
    expect(compiledCounts.answered).toBeGreaterThan(writes / 2);
    expect(refused).toBeLessThan(writes / 2);
  },
  60_000 + 500 * writes,
);

it('writes to two databases never share a batch, even if the workspaces have the same id', async () => {
  const [team] = worlds.compiled.model.all('Team');
  const create = async (world: World) => {
    const answer = await world.ask(
      'mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { issue { number } } }',
      { input: { teamId: team?.id, title: 'At the same time' } },
    );
    return (dataOf(answer).issueCreate as { issue: { number: number } }).issue.number;
  };
  const before = await Promise.all([worlds.compiled, worlds['graphql-js']].map(create));
  // Alternating, so that each write finds one of the other database waiting.
  const numbers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => create(index % 2 ? worlds['graphql-js'] : worlds.compiled)),
  );
  for (const [world, last = 0] of before.entries()) {
    const own = numbers.filter((_, index) => index % 2 === world).toSorted((one, other) => one - other);
    expect(own).toEqual(Array.from({ length: 10 }, (_, index) => last + 1 + index));
  }
});

it.each(['compiled', 'graphql-js'] as const)(
  'the %s executor does a write once whose answer is refused',
  async (executor) => {
    const world = worlds[executor];
    // A new issue, because the random writes may have deleted any other.
    const [team] = world.model.all('Team');
    const created = await world.ask(
      'mutation ($input: IssueCreateInput!) { issueCreate(input: $input) { issue { key } } }',
      { input: { teamId: team?.id, title: 'To be commented on' } },
    );
    const { issue } = dataOf(created).issueCreate as { issue: { key: string } };
    const count = async () => {
      const answer = await world.ask('query ($key: String!) { issue(key: $key) { commentCount } }', {
        key: issue.key,
      });
      return (dataOf(answer).issue as { commentCount: number }).commentCount;
    };
    const before = await count();
    const { body } = await world.ask(
      `mutation ($input: CommentCreateInput!) {
      written: commentCreate(input: $input) { issue { comments(first: 0) { totalCount } } }
      never: commentCreate(input: $input) { comment { id } }
    }`,
      { input: { issueKey: issue.key, body: 'Once' } },
    );
    expect(body.errors).toMatchObject([{ path: ['written', 'issue', 'comments'] }]);
    expect(await count()).toBe(before + 1);
  },
);

/** Replaces new ids and times by numbers in the order of their occurrence, and cursors, which contain both, by a constant. */
function settled({ body }: GraphAnswer): GraphAnswer['body'] {
  const ids = new Map<string, string>();
  return JSON.parse(JSON.stringify(body), (_name, value: unknown) => {
    if (typeof value !== 'string') return value;
    // Base64 of the beginning of a JSON list.
    if (/^Wy[\w-]{20,}$/.test(value)) return 'cursor';
    if (/^\d{4}-\d\d-\d\dT/.test(value) && Date.parse(value) >= beganMs) return 'now';
    if (!/^[a-z]{1,16}_[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(value) || isOld(value)) return value;
    const known = ids.get(value) ?? `new ${ids.size}`;
    ids.set(value, known);
    return known;
  }) as GraphAnswer['body'];
}

/** Whether an id existed before this run, by the time in it. */
function isOld(id: string): boolean {
  const uuid = parseId(id)?.uuid.replaceAll('-', '') ?? '';
  return Number.parseInt(uuid.slice(0, 12), 16) < beganMs;
}
