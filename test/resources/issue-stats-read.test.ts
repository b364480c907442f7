import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { GraphQLEnumType } from 'graphql';
import { Random } from '../support/random.ts';
import { schema } from '../../src/schema/index.ts';
import { type Filter, matches } from '../graph/model-queries.ts';
import { RandomFilters } from '../graph/random-filters.ts';
import type { ModelObject } from '../graph/model.ts';
import { codesOf, dataOf } from '../graph/graph-answer.ts';
import { sharedWorld, type SharedWorld } from '../graph/shared-world.ts';
import { isGraphqlJs } from '../support/chosen-executor.ts';

let world: SharedWorld;
beforeAll(async () => {
  world = await sharedWorld();
});
afterAll(() => world.stop());

/** For each grouping, its column in the answer and the groups to which an issue belongs. */
const groups: Readonly<Record<string, { shown: string; under: (issue: ModelObject) => readonly unknown[] }>> =
  {
    STATUS: { shown: 'status', under: ({ statusId }) => [statusId] },
    STATUS_CATEGORY: { shown: 'statusCategory', under: ({ status }) => [(status as ModelObject).category] },
    TEAM: { shown: 'team', under: ({ teamId }) => [teamId] },
    PROJECT: { shown: 'project', under: ({ projectId }) => [projectId] },
    DELIVERY: { shown: 'delivery', under: ({ deliveryId }) => [deliveryId] },
    ASSIGNEE: {
      shown: 'assignee',
      under: ({ primaryAssignee }) => [(primaryAssignee as ModelObject | null)?.id ?? null],
    },
    PRIORITY: { shown: 'priority', under: ({ priority }) => [priority] },
    LABEL: {
      shown: 'label',
      under: ({ labelIds }) => ((labelIds as unknown[]).length > 0 ? (labelIds as unknown[]) : [null]),
    },
  };
const names = Object.keys(groups);
const selection =
  'status { id } statusCategory team { id } project { id } delivery { id } assignee { id } priority label { id } count estimateSum';
const query = `query ($filter: IssueFilter, $by: [IssueStatsGroup!]!) { issueStats(filter: $filter, groupBy: $by) { ${selection} } }`;

const pairs = names.flatMap((first, index) => names.slice(index + 1).map((second) => [first, second]));
const cases: string[][] = [
  [],
  ...names.map((name) => [name]),
  ...pairs,
  ['LABEL', 'STATUS', 'TEAM'],
  ['PRIORITY', 'ASSIGNEE', 'PROJECT'],
];

it('the test covers every grouping of the schema', () => {
  const type = schema.getType('IssueStatsGroup') as GraphQLEnumType;
  expect(
    type
      .getValues()
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(names.toSorted());
});

it.each(cases.map((by) => ({ by })))(
  'issueStats counts and sums by $by as the model does',
  async ({ by }) => {
    const filters = new RandomFilters(world.model, new Random(`stats by ${by.join(' ')}`));
    for (const filter of [{}, filters.filter('Issue'), filters.filter('Issue')]) {
      const answer = await world.ask(query, { by, filter });
      const found = (dataOf(answer).issueStats as Record<string, unknown>[]).map(shortened);
      expect(found.toSorted(byText)).toEqual(counted(by, filter).toSorted(byText));
      const counts = found.map(({ count }) => Number(count));
      expect(counts).toEqual(counts.toSorted((a, b) => b - a));
    }
  },
);

it('issueStats takes one statement for the counts, and one for each kind of object that the groups select', async () => {
  const count = '{ issueStats(groupBy: [TEAM, STATUS]) { count } }';
  const named = '{ issueStats(groupBy: [TEAM, STATUS]) { count team { name } status { name } } }';
  await world.ask(count);
  const { statements } = await world.ask('{ viewer { scopes } }');
  expect((await world.ask(count)).statements).toBe(statements + 1);
  expect((await world.ask(named)).statements).toBe(statements + (isGraphqlJs ? 3 : 1));
});

it('issueStats refuses more than three groupings, and accepts a repeated one', async () => {
  const by = ['TEAM', 'STATUS', 'PRIORITY', 'LABEL'];
  const answer = await world.ask(query, { by });
  expect(codesOf(answer)).toEqual(['INVALID_REQUEST']);
  expect(answer.body.errors?.[0]?.message).toBe('groupBy: takes 3 columns at most.');
  const doubled = await world.ask(query, { by: ['TEAM', 'TEAM', 'TEAM', 'TEAM'] });
  expect(dataOf(doubled)).toEqual(dataOf(await world.ask(query, { by: ['TEAM'] })));
});

it.each([[['ASSIGNEE', 'PRIORITY']], [['LABEL']], [['STATUS_CATEGORY', 'TEAM', 'PROJECT']]])(
  'issueStats returns the first groups by %j, in the same order whatever their number',
  async (by) => {
    const groupsOf = async (first: number | null | undefined) => {
      const query = `query ($by: [IssueStatsGroup!]!, $first: Int) { issueStats(groupBy: $by, first: $first) { ${selection} } }`;
      const answer = await world.ask(query, { by, ...(first !== undefined && { first }) });
      return dataOf(answer).issueStats as unknown[];
    };
    const all = await groupsOf(1_000);
    expect(all.length).toBeGreaterThan(3);
    expect(await groupsOf(undefined)).toEqual(all);
    expect(await groupsOf(null)).toEqual(all);
    for (const first of [1, 2, 3, all.length]) expect(await groupsOf(first)).toEqual(all.slice(0, first));
  },
);

it.each([0, -1, 1_001, 2_147_483_647])('issueStats refuses to return %i groups', async (first) => {
  const answer = await world.ask(`{ issueStats(groupBy: [TEAM], first: ${first}) { count } }`);
  expect(codesOf(answer)).toEqual(['INVALID_REQUEST']);
  expect(answer.body.errors?.[0]?.message).toBe('first: must be a whole number from 1 to 1000.');
});

function counted(by: readonly string[], filter: Filter): Record<string, unknown>[] {
  const found = new Map<string, Record<string, unknown> & { count: number; estimateSum: number }>();
  for (const issue of world.model.all('Issue').filter((each) => matches('IssueFilter', filter, each))) {
    let keys: Record<string, unknown>[] = [{}];
    for (const name of by) {
      const { shown, under } = groups[name] ?? raiseUnknown(name);
      keys = keys.flatMap((key) => under(issue).map((value) => ({ ...key, [shown]: value })));
    }
    for (const key of keys) {
      const name = JSON.stringify(key);
      const row = found.get(name) ?? { ...empty, ...key, count: 0, estimateSum: 0 };
      found.set(name, {
        ...row,
        count: row.count + 1,
        estimateSum: row.estimateSum + Number(issue.estimateValue ?? 0),
      });
    }
  }
  // Without a grouping there is one total, even of no issues.
  if (by.length === 0 && found.size === 0) return [{ ...empty, count: 0, estimateSum: 0 }];
  return [...found.values()];
}

const empty = Object.fromEntries(Object.values(groups).map(({ shown }) => [shown, null]));

function raiseUnknown(name: string): never {
  throw new Error(`The model does not know ${name}.`);
}

/** Replaces objects by their ids. */
function shortened(row: Record<string, unknown>): Record<string, unknown> {
  const isObject = (value: unknown): value is { id: string } => typeof value === 'object' && value !== null;
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, isObject(value) ? value.id : value]),
  );
}

function byText(a: object, b: object): number {
  const text = (row: object) =>
    JSON.stringify(Object.entries(row).toSorted(([one], [two]) => (one < two ? -1 : 1)));
  return text(a) < text(b) ? -1 : 1;
}
