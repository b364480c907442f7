import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { coerceInputValue, isInputObjectType } from 'graphql';
import { always, type Predicate } from '../../src/db/query/conditions/predicate.ts';
import type { StatsColumn } from '../../src/db/reads/statistics/issue-groups.ts';
import { selectBurnup } from '../../src/db/reads/statistics/burnup.ts';
import { selectIssueFlow } from '../../src/db/reads/statistics/issue-flow.ts';
import { selectIssueStats } from '../../src/db/reads/statistics/issue-stats.ts';
import { selectIssueTrend } from '../../src/db/reads/statistics/issue-trend.ts';
import { Violations } from '../../src/resolvers/errors.ts';
import { filterPredicate } from '../../src/resolvers/filters.ts';
import { schema } from '../../src/schema/index.ts';
import { Issue } from '../../src/schema/issues.ts';
import { type App, startApp } from '../support/app.ts';
import type { Random } from '../support/random.ts';
import { isWhole, randomOf } from '../support/samples.ts';
import { RandomFilters } from './random-filters.ts';
import { addWorld, type World } from './world.ts';
import { uuidOf } from '../support/ids.ts';

// Statistics read a bounded number of issues. Bounds this low exercise every way to find the issues, and many refusals.
const rounds = isWhole ? 200 : 60;
const unbounded = 1_000_000;

let app: App;
let world: World;
let random: Random;
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true, settings: { READ_BUDGET: '1' } });
  world = { ...(await addWorld(app, 'here')), stop: () => app.stop() };
  random = randomOf('bounded statistics');
});
afterAll(() => world.stop());

const columns: readonly StatsColumn[] = ['statusId', 'labelId', 'projectId', 'primaryAssigneeUserAccountId'];
const day = 86_400_000;

function randomChoice(): { where: Predicate; filter: Predicate } {
  if (random.chance(0.2)) return { where: Issue.where, filter: always };
  const filter = new RandomFilters(world.model, random).filter('Issue');
  return {
    where: Issue.where,
    filter: filterPredicate(Issue.filterFields(), coerced(filter), new Violations()),
  };
}

/** A filter with the internal values of enums, as resolvers receive it. */
function coerced(filter: unknown): Record<string, unknown> {
  const type = schema.getType('IssueFilter');
  if (!isInputObjectType(type)) throw new Error('The schema has filters of issues.');
  return coerceInputValue(filter, type) as Record<string, unknown>;
}

/** Adjacent periods that start long before the first issue. */
function randomPeriods() {
  const end = Date.now() + day;
  const count = random.integer(1, 12);
  const length = random.integer(1, 400) * day;
  return Array.from({ length: count }, (_, index) => ({
    startUtc: new Date(end - (count - index) * length),
    endUtc: new Date(end - (count - index - 1) * length),
  }));
}

/**
 * Reads with a random bound and without one. An answer within the bound must be the same. It continues until several reads were
 * answered and several were refused, so that only the duration of the test depends on chance.
 */
async function compare(
  read: (maxIssues: number) => Promise<unknown>,
): Promise<{ answered: number; refused: number }> {
  const tally = { answered: 0, refused: 0 };
  const isDone = (round: number) => round >= rounds && Math.min(tally.answered, tally.refused) > 3;
  for (let round = 0; !isDone(round) && round < rounds * 10; round += 1) {
    const bounded = await read(random.pick([1, 4, 12, 30]));
    tally[bounded ? 'answered' : 'refused'] += 1;
    if (bounded) expect(bounded).toEqual(await read(unbounded));
  }
  return tally;
}

/** Makes a random read, which runs first with a bound and then without one. */
function withAndWithoutBound(
  makeRead: () => (maxIssues: number) => Promise<unknown>,
): (maxIssues: number) => Promise<unknown> {
  let read = makeRead();
  return (maxIssues) => {
    if (maxIssues !== unbounded) read = makeRead();
    return read(maxIssues);
  };
}

it('bounded counts of issues by groups are those without a bound, or are refused', async () => {
  const db = app.database.of(world.workspace.workspaceId);
  const tally = await compare(
    withAndWithoutBound(() => {
      const choice = randomChoice();
      const groups = random.sample([...columns], random.integer(0, 3));
      return (maxIssues) => selectIssueStats(db, choice, groups, { limit: 1000, maxIssues });
    }),
  );
  expect(Math.min(tally.answered, tally.refused)).toBeGreaterThan(3);
});

it('bounded trends are those without a bound, or are refused', async () => {
  const db = app.database.of(world.workspace.workspaceId);
  const tally = await compare(
    withAndWithoutBound(() => {
      const choice = randomChoice();
      const shape = {
        periods: randomPeriods(),
        columns: random.sample([...columns], random.integer(0, 2)),
        limit: 100,
      };
      return (maxIssues) => selectIssueTrend(db, choice, shape, maxIssues);
    }),
  );
  expect(Math.min(tally.answered, tally.refused)).toBeGreaterThan(3);
});

it('bounded flows and burnups are those without a bound, or are refused', async () => {
  const db = app.database.of(world.workspace.workspaceId);
  const projects = world.model.all('Project').map(({ id }) => uuidOf(String(id)));
  const tally = await compare(
    withAndWithoutBound(() => {
      const periods = randomPeriods();
      if (random.chance(0.5)) {
        const teams = random.pick([always, { column: 'code', is: 'gt', value: 'M' } as const]);
        return (maxIssues) => selectIssueFlow(db, teams, periods, maxIssues);
      }
      const keys = random.sample(projects, random.integer(1, projects.length));
      return (maxIssues) => selectBurnup(db, 'projectId', keys, periods, maxIssues);
    }),
  );
  expect(Math.min(tally.answered, tally.refused)).toBeGreaterThan(3);
});

it('statistics of too many issues are refused with an error that says what to do', async () => {
  const span = { from: '2000-01-01', to: '2030-01-01' };
  const ask = (field: string) => world.ask(`{ ${field} }`, {});
  const refused = await Promise.all([
    ask('issueStats(groupBy: [ASSIGNEE, LABEL]) { count }'),
    ask(
      `issueTrend(every: MONTH, from: "${span.from}", to: "${span.to}", groupBy: [LABEL]) { periods { closed } }`,
    ),
  ]);
  for (const { body } of refused)
    expect(body.errors).toMatchObject([
      { message: expect.stringContaining("'"), extensions: { code: 'QUERY_TOO_COMPLEX' } },
    ]);
  const { status, body } = await app.request<{ code: string }>(
    'GET',
    '/v1/stats?group_by=assignee&group_by=label',
    {
      token: world.workspace.token,
    },
  );
  expect({ status, code: body.code }).toEqual({ status: 400, code: 'query_too_complex' });
});
