import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { Random } from '../support/random.ts';
import { compiledCounts } from '../../src/executor/compiled/run/executor.ts';
import { maxFallbackCost } from '../../src/executor/limits.ts';
import { readConfig } from '../../src/server/config.ts';
import { type RunningServer, startServer } from '../../src/server/server.ts';
import { comparable, difference } from './executor-answers.ts';
import type { GraphAnswer } from './graph-answer.ts';
import { readPage, sampleLists } from './lists.ts';
import { RandomQueries, type RandomQuery } from './random-queries.ts';
import { rowTypeOf } from './schema-walk.ts';
import { generousAdmission } from '../support/generous-admission.ts';
import { isWhole } from '../support/samples.ts';
import { startWorld, type World } from './world.ts';

/** 500 in CI, 150 in other runs; QUERIES=10000 makes a long run. A failure names its seed: SEED=… runs only that query. */
const queries = Number(process.env.QUERIES ?? (isWhole ? 500 : 150));
/** A long run may take longer in proportion. */
const testMs = Math.max(120_000, 200 * queries);
const seed = process.env.SEED;
const firstSeed = Math.floor(Date.now() / 1000);

let world: World;
let servers: Record<'compiled' | 'graphql-js', RunningServer>;
let cursors: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  world = await startWorld('executors');
  const start = (EXECUTOR: 'compiled' | 'graphql-js') => {
    const rates = { REQUESTS_PER_MINUTE: '1000000000', COST_PER_HOUR: '1000000000' };
    const config = readConfig({ PORT: '0', DATA_DIR: world.app.dataDir, EXECUTOR, ...rates }, {});
    return startServer({
      database: world.app.database,
      config: { ...config, admission: generousAdmission },
      logger: pino({ level: 'silent' }),
    });
  };
  servers = { compiled: await start('compiled'), 'graphql-js': await start('graphql-js') };
  cursors = new Map(
    await Promise.all(
      sampleLists
        .filter(
          ({ parent, field }) => parent === 'Query' && !/^(accessTokens|auditEntries)$/.test(field.name),
        )
        .map(async (list) => {
          const { edges } = await readPage(world, list, undefined, { first: 20 });
          return [rowTypeOf(list), edges.map(({ cursor }) => cursor)] as const;
        }),
    ),
  );
});
afterAll(async () => {
  await Promise.all(Object.values(servers).map((server) => server.stop()));
  await world.stop();
});

it(
  'both executors give the same answer to any query, errors and their paths included, also from one snapshot',
  async () => {
    const seeds = seed ? [seed] : Array.from({ length: queries }, (_, index) => `${firstSeed}-${index}`);
    let errors = 0;
    for (const one of seeds) {
      const random = new Random(one);
      const query = new RandomQueries(world.model, random, cursors).query();
      const headers = { 'X-Workgraph-Snapshot': String(random.chance(0.3)) };
      const [compiled, graphqlJs] = await Promise.all([
        ask('compiled', query, headers),
        ask('graphql-js', query, headers),
      ]);
      if (await isCostlyRefusal(query, compiled, graphqlJs)) errors += 1;
      else if (comparable(JSON.parse(compiled)) !== comparable(JSON.parse(graphqlJs))) {
        throw new Error(`SEED=${one} ${JSON.stringify(query)}\n${difference(compiled, graphqlJs)}`);
      } else if (compiled.includes('"errors":[')) errors += 1;
    }
    // Otherwise refusals would have been compared, or answers of the same executor.
    expect(compiledCounts.answered).toBeGreaterThan(seeds.length / 2);
    expect(errors).toBeLessThan(seeds.length / 2);
  },
  testMs,
);

/**
 * Whether the compiled executor refused an operation as a whole because graphql-js may answer only cheaper ones as a fallback
 * (docs/limits.md). It then gives the first refusal that graphql-js gives beside its data, or says that the cost is too high.
 */
async function isCostlyRefusal(query: RandomQuery, compiled: string, graphqlJs: string): Promise<boolean> {
  const { data, errors: [error] = [] } = JSON.parse(compiled) as GraphAnswer['body'];
  if (data !== undefined || !error) return false;
  const priced = JSON.parse(await ask('graphql-js', query, { 'X-GraphQL-Cost': '1' })) as {
    extensions?: { cost?: { requested: number } };
  };
  const isTooComplex = error.extensions?.code === 'QUERY_TOO_COMPLEX';
  // graphql-js never reads the arguments of a list below an object that is null.
  const isOfArgument = error.extensions?.code === 'INVALID_REQUEST';
  const isKnown = isTooComplex || isOfArgument || graphqlJs.includes(JSON.stringify(error.message));
  return isKnown && (priced.extensions?.cost?.requested ?? 0) > maxFallbackCost;
}

async function ask(
  executor: 'compiled' | 'graphql-js',
  query: RandomQuery,
  headers: Record<string, string> = {},
): Promise<string> {
  const response = await fetch(`${servers[executor].url}/graphql`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${world.workspace.token}`,
      'Content-Type': 'application/json',
      'X-Request-Id': 'equal',
      ...headers,
    },
    body: JSON.stringify(query),
  });
  return response.text();
}
