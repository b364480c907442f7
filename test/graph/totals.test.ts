import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApp } from '../support/app.ts';
import type { Random } from '../support/random.ts';
import { isWhole, randomOf, sampledExecutors } from '../support/samples.ts';
import { dataOf } from './graph-answer.ts';
import { listsOf, parentOfLongestList, rowsOf } from './lists.ts';
import { type Filter, matches } from './model-queries.ts';
import { RandomFilters } from './random-filters.ts';
import { type FieldOf, rowTypeOf } from './schema-walk.ts';
import type { ModelObject } from './model.ts';
import { addWorld, type World } from './world.ts';

// Totals count a bounded number of rows. With a bound this low, every kind of step occurs, and many totals are not exact.
const readBudget = 4;
const rounds = isWhole ? 12 : 4;

// The lists of the workspace are the same as those of the roots.
const lists = ['Issue', 'Comment', 'ActivityEntry', 'AuditEntry']
  .flatMap(listsOf)
  .filter(({ parent }) => parent !== 'Workspace');
/** Lists of one issue are counted exactly. */
const issueParts = new Set(['Issue', 'Comment']);

interface Total {
  totalCount: number;
  totalCountIsExact: boolean;
}

interface Group {
  count: number;
  estimateSum: number;
}

describe.each(sampledExecutors('totals'))('with a low read budget, the %s executor', (EXECUTOR) => {
  let world: World;
  let random: Random;
  beforeAll(async () => {
    const app = await startApp({
      sharesDatabase: true,
      settings: { READ_BUDGET: String(readBudget), EXECUTOR },
    });
    world = { ...(await addWorld(app, 'here')), stop: () => app.stop() };
    random = randomOf(`totals ${EXECUTOR}`);
  });
  afterAll(() => world.stop());

  it.each(lists)('counts $coordinate exactly, or says that there are more', async (list) => {
    const typeName = rowTypeOf(list);
    const filters = new RandomFilters(world.model, random);
    const parent = parentOfLongestList(world.model, list);
    for (let left = rounds; left > 0; left -= 1) {
      const filter = filters.filter(typeName);
      const total = await totalOf(list, parent, filter);
      const expected = countOf(list, rowsOf(world.model, list, parent), filter);
      expectTotal(total, expected, { filter });
      if (issueParts.has(list.parent)) expect(total.totalCountIsExact).toBe(true);
    }
  });

  const children = lists.filter(({ parent }) => !['Query', 'Workspace'].includes(parent));
  it.each(children)(
    'counts $coordinate of many parents exactly, or says that there are more',
    async (list) => {
      const typeName = rowTypeOf(list);
      const filters = new RandomFilters(world.model, random);
      const parents = world.model.all(list.parent);
      for (let left = rounds; left > 0; left -= 1) {
        const filter = filters.filter(typeName);
        const query = `query ($ids: [ID!]!, $filter: ${typeName}Filter) {
        nodes(ids: $ids) { ... on ${list.parent} { list: ${list.field.name}(filter: $filter) { totalCount totalCountIsExact } } } }`;
        const { nodes } = dataOf(await world.ask(query, { filter, ids: parents.map(({ id }) => id) }));
        (nodes as { list: Total }[]).forEach((node, index) => {
          const rows = parents[index]?.[list.field.name] as ModelObject[];
          expectTotal(node.list, countOf(list, rows, filter), { filter, parent: parents[index]?.id });
        });
      }
    },
  );

  it('some counts end early', async () => {
    const filters = new RandomFilters(world.model, random);
    let inexact = 0;
    for (let left = 300; left > 0 && inexact <= 3; left -= 1) {
      const list = random.pick(lists);
      const parent = parentOfLongestList(world.model, list);
      const { totalCountIsExact } = await totalOf(list, parent, filters.filter(rowTypeOf(list)));
      if (!totalCountIsExact) inexact += 1;
    }
    expect(inexact).toBeGreaterThan(3);
  });

  const [issues] = listsOf('Issue').filter(({ parent }) => parent === 'Query') as [FieldOf];
  const talliedLists = listsOf('Issue').filter(({ parent }) =>
    ['Query', 'Team', 'Project', 'Delivery'].includes(parent),
  );

  it.each(talliedLists)('counts $coordinate exactly by filters that tallies answer', async (list) => {
    const parent = parentOfLongestList(world.model, list);
    const rows = rowsOf(world.model, list, parent);
    for (let left = rounds * 3; left > 0; left -= 1) {
      const filter = talliedFilter(list.parent === 'Query' || list.parent === 'Team');
      const total = await totalOf(list, parent, filter);
      const expected = { totalCount: countOf(list, rows, filter), totalCountIsExact: true };
      expect({ filter, ...total }).toEqual({ filter, ...expected });
    }
  });

  it('returns the same groups from tallies as by counting issues', async () => {
    const groups = [
      'STATUS',
      'STATUS_CATEGORY',
      'TEAM',
      'PRIORITY',
      'PROJECT',
      'DELIVERY',
      'ASSIGNEE',
      'LABEL',
    ];
    const fields = `status { id } statusCategory team { id } priority project { id } delivery { id } assignee { id }
      label { id } count estimateSum`;
    // All issues meet this condition, which tallies cannot answer.
    const untallied = { number: { gte: 1 } };
    for (let left = rounds * 3; left > 0; left -= 1) {
      const groupBy = random.sample(groups, random.integer(0, 3));
      const filter = random.chance(0.3) ? {} : talliedFilter(true);
      const query = `query ($groupBy: [IssueStatsGroup!]!, $filter: IssueFilter, $all: IssueFilter) {
        tallied: issueStats(groupBy: $groupBy, filter: $filter) { ${fields} }
        counted: issueStats(groupBy: $groupBy, filter: $all) { ${fields} } }`;
      const all = { and: [filter, untallied] };
      const { tallied, counted } = dataOf(await world.ask(query, { groupBy, filter, all })) as Record<
        'tallied' | 'counted',
        Group[]
      >;
      expect({ groupBy, filter, tallied }).toEqual({ groupBy, filter, tallied: counted });
    }
  });

  it('reports over REST that a total is not exact', async () => {
    const expected = countOf(issues, world.model.all('Issue'), { dueDate: { lte: '9999-12-31' } });
    const counted = await restTotal('due_to=9999-12-31');
    expect(counted.header).toBe('false');
    expect(counted.totalCount).toBeGreaterThan(0);
    expect(counted.totalCount).toBeLessThan(expected);
    const all = world.model.all('Issue').length;
    expect(await restTotal('')).toEqual({ totalCount: all, header: undefined });
    const open = countOf(issues, world.model.all('Issue'), { status: { isTerminal: { eq: false } } });
    expect(await restTotal('include_completed=false')).toEqual({ totalCount: open, header: undefined });
  });

  async function restTotal(query: string) {
    const { body, headers } = await world.app.request<{ pagination: { totalCount: number } }>(
      'GET',
      `/v1/issues?${query}`,
      { token: world.workspace.token },
    );
    return {
      totalCount: body.pagination.totalCount,
      header: headers.get('x-total-count-exact') ?? undefined,
    };
  }

  async function totalOf(list: FieldOf, parent: ModelObject | undefined, filter: Filter): Promise<Total> {
    const field = `list: ${list.field.name}(filter: $filter) { totalCount totalCountIsExact }`;
    const type = `${rowTypeOf(list)}Filter`;
    const data = dataOf(
      parent
        ? await world.ask(
            `query ($id: ID!, $filter: ${type}) { node(id: $id) { ... on ${list.parent} { ${field} } } }`,
            { id: parent.id, filter },
          )
        : await world.ask(`query ($filter: ${type}) { ${field} }`, { filter }),
    );
    return ((parent ? data.node : data) as { list: Total }).list;
  }

  function countOf(list: FieldOf, rows: readonly ModelObject[], filter: Filter): number {
    return rows.filter((object) => matches(`${rowTypeOf(list)}Filter`, filter, object)).length;
  }

  function expectTotal({ totalCount, totalCountIsExact }: Total, expected: number, about: object): void {
    if (totalCountIsExact) expect({ ...about, totalCount }).toEqual({ ...about, totalCount: expected });
    else expect({ ...about, isTooMany: totalCount > expected }).toEqual({ ...about, isTooMany: false });
  }

  /** Conditions on team, status and priority, or on team, status and one reference of an issue. */
  function talliedFilter(withOthers: boolean): Filter {
    const shared = ['teamId', 'statusId'];
    const own = random.pick([
      'priority',
      'projectId',
      'deliveryId',
      'primaryAssigneeUserAccountId',
      'status',
    ]);
    const field = random.pick([...shared, withOthers ? own : 'status']);
    const conditions = Array.from({ length: random.integer(1, 3) }, () => {
      const name = random.pick([...shared, withOthers ? own : 'status', field]);
      return { [name]: condition(name) };
    });
    const label = withOthers && own === 'status' && random.chance(0.4);
    const labels = world.model.all('Label').map(({ id }) => id);
    return {
      ...(label && { labels: { some: { id: { eq: random.pick(labels) } } } }),
      [random.pick(['and', 'or'])]: random.chance(0.3)
        ? [{ not: conditions[0] }, ...conditions.slice(1)]
        : conditions,
    };
  }

  function condition(name: string): Filter {
    if (name === 'status') {
      return random.pick<Filter>([
        { isTerminal: { eq: random.chance(0.5) } },
        { category: { in: ['OPEN', 'ACTIVE'] } },
        { category: { nin: ['COMPLETED'] } },
      ]);
    }
    const all = world.model.all('Issue').map((issue) => issue[name]);
    const values = random.sample([...new Set(all)], 3).filter((value) => value !== null);
    if (name === 'priority') return { in: values };
    return random.pick<Filter>([
      { in: values },
      { nin: values },
      { eq: values[0] ?? null },
      { isNull: random.chance(0.5) },
    ]);
  }
});
