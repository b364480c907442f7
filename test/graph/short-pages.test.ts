import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startApp } from '../support/app.ts';
import { Random } from '../support/random.ts';
import { isWhole, sampledExecutors } from '../support/samples.ts';
import { dataOf } from './graph-answer.ts';
import { listsOf, type Page, readPage, parentOfLongestList, rowsOf, walk } from './lists.ts';
import { type Filter, matches, type OrderBy, ordered, sortKeys } from './model-queries.ts';
import { RandomFilters } from './random-filters.ts';
import { type FieldOf, rowTypeOf } from './schema-walk.ts';
import type { ModelObject } from './model.ts';
import { addWorld, type World } from './world.ts';

// Pages of filtered lists examine a bounded number of rows. With a bound this low, every kind of step occurs, and many
// pages end early, in a workspace of only two dozen issues.
const readBudget = 4;

const filtersPerOrder = isWhole ? 2 : 1;

// The lists of the workspace are the same as those of the roots.
const lists = ['Issue', 'Comment', 'ActivityEntry', 'AuditEntry']
  .flatMap(listsOf)
  .filter(({ parent }) => parent !== 'Workspace');

const [issues] = listsOf('Issue').filter(({ parent }) => parent === 'Query') as [FieldOf];

describe.each(sampledExecutors('short-pages'))('with a low read budget, the %s executor', (EXECUTOR) => {
  let world: World;
  let short = 0;
  beforeAll(async () => {
    const app = await startApp({
      sharesDatabase: true,
      settings: { READ_BUDGET: String(readBudget), EXECUTOR },
    });
    world = { ...(await addWorld(app, 'here')), stop: () => app.stop() };
  });
  afterAll(() => world.stop());

  it.each(lists)('shows each row of $coordinate once, in any order and both directions', async (list) => {
    const typeName = rowTypeOf(list);
    const random = new Random(`short pages of ${list.coordinate}`);
    const filters = new RandomFilters(world.model, random);
    const parent = parentOfLongestList(world.model, list);
    const orders = Object.keys(sortKeys[typeName] ?? {});
    for (const field of isWhole ? orders : random.sample(orders, 3)) {
      const orderBy: OrderBy = { field, direction: random.pick(['ASC', 'DESC']) };
      for (let left = filtersPerOrder; left > 0; left -= 1) {
        const filter = filters.filter(typeName);
        const expected = expectedIds(list, rowsOf(world.model, list, parent), filter, orderBy);
        for (const backward of [false, true]) {
          const pages = await walk(world, list, parent, { filter, orderBy }, backward);
          expect({ filter, orderBy, ids: idsOf(pages) }).toEqual({ filter, orderBy, ids: expected });
          expectCursors(pages, backward);
        }
      }
    }
  });

  const children = lists.filter(({ parent }) => !['Query', 'Workspace'].includes(parent));
  it.each(children)('continues the page of each of many parents of $coordinate', async (list) => {
    const typeName = rowTypeOf(list);
    const random = new Random(`short pages under parents of ${list.coordinate}`);
    const filters = new RandomFilters(world.model, random);
    const parents = world.model.all(list.parent);
    for (let left = filtersPerOrder; left > 0; left -= 1) {
      const filter = filters.filter(typeName);
      const field = random.pick(Object.keys(sortKeys[typeName] ?? {}));
      const orderBy: OrderBy = { field, direction: random.pick(['ASC', 'DESC']) };
      const pages = await firstPages(list, parents, { filter, orderBy });
      for (const [index, parent] of parents.entries()) {
        const first = pages[index];
        if (!first) throw new Error('Each parent has a page.');
        const read = [first];
        for (let last = first; last.pageInfo.hasNextPage; ) {
          const after = last.pageInfo.endCursor;
          last = await readPage(world, list, parent, { filter, orderBy, first: 2, after });
          read.push(last);
        }
        const expected = expectedIds(list, parent[list.field.name] as ModelObject[], filter, orderBy);
        const ids = idsOf(read);
        expect({ filter, orderBy, ids }).toEqual({ filter, orderBy, ids: expected });
      }
    }
  });

  it('lists issues over REST to the end, by nextCursor', async () => {
    let early = 0;
    const filter = { dueDate: { lte: '9999-12-31' } };
    for (const field of ['TITLE', 'UPDATED', 'NUMBER']) {
      const expected = expectedIds(issues, world.model.all('Issue'), filter, { field, direction: 'ASC' });
      const ids: string[] = [];
      for (let cursor: string | undefined = ''; cursor !== undefined; ) {
        const query = `due_to=9999-12-31&sort=${field.toLowerCase()}&direction=asc&page_size=10`;
        const path: string = `/v1/issues?${query}&cursor=${cursor}`;
        const { body } = await world.app.request<RestPage>('GET', path, { token: world.workspace.token });
        ids.push(...body.results.map(({ id }) => id));
        cursor = body.pagination.nextCursor || undefined;
        if (cursor && body.results.length < 10) early += 1;
      }
      expect({ field, ids }).toEqual({ field, ids: expected });
    }
    expect(early).toBeGreaterThan(0);
  });

  it('some pages have ended early', () => {
    expect(short).toBeGreaterThan(3);
  });

  function expectCursors(pages: readonly Page[], backward: boolean): void {
    for (const { edges, pageInfo } of pages) {
      const hasMore = backward ? pageInfo.hasPreviousPage : pageInfo.hasNextPage;
      const cursor = backward ? pageInfo.startCursor : pageInfo.endCursor;
      if (edges.length < 2 && hasMore) short += 1;
      if (hasMore) expect(cursor).not.toBeNull();
      else expect(cursor).toBe((backward ? edges.at(0) : edges.at(-1))?.cursor ?? null);
    }
  }

  async function firstPages(
    list: FieldOf,
    parents: readonly ModelObject[],
    variables: { filter: Filter; orderBy: OrderBy },
  ): Promise<Page[]> {
    const row = rowTypeOf(list);
    const query = `query ($ids: [ID!]!, $filter: ${row}Filter, $orderBy: ${row}Order) {
      nodes(ids: $ids) { ... on ${list.parent} { list: ${list.field.name}(first: 2, filter: $filter, orderBy: $orderBy) {
        edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } } }`;
    const data = dataOf(await world.ask(query, { ...variables, ids: parents.map(({ id }) => id) }));
    return (data.nodes as { list: Page }[]).map((node) => node.list);
  }
});

interface RestPage {
  results: { id: string }[];
  pagination: { nextCursor: string };
}

function expectedIds(
  list: FieldOf,
  rows: readonly ModelObject[],
  filter: Filter,
  orderBy: OrderBy,
): string[] {
  const typeName = rowTypeOf(list);
  const matching = rows.filter((object) => matches(`${typeName}Filter`, filter, object));
  return ordered(typeName, matching, orderBy).map(({ id }) => String(id));
}

function idsOf(pages: readonly Page[]): string[] {
  return pages.flatMap(({ edges }) => edges.map(({ node }) => node.id));
}
