import { describe, expect, it } from '@jest/globals';
import { Random } from '../support/random.ts';
import { listsOf, type Page, parentOfLongestList, rowsOf, walk } from './lists.ts';
import {
  defaultOrder,
  type Filter,
  matches,
  type OrderBy,
  ordered,
  projected,
  sortKeys,
} from './model-queries.ts';
import { RandomFilters } from './random-filters.ts';
import { type FieldOf, inputType, rowTypeOf, selectionOf } from './schema-walk.ts';
import type { ModelObject } from './model.ts';
import type { SharedWorld } from './shared-world.ts';
import { dataOf } from './graph-answer.ts';

const filtersAtOnce = 10;
const filterCount = 120;

export interface ReadOptions {
  /** The lists to walk in every order, if one of a root and one of a parent are enough. The default is all lists. */
  thorough?: readonly string[];
  /** Fields to leave out because their values change between reads. */
  leave?: readonly string[];
}

/**
 * The guarantees of reading that hold for every type: each field has the value of the model, each list can be
 * walked in each order in both directions, and each filter matches the same objects as in the model.
 */
export function describeReads(typeName: string, world: () => SharedWorld, options: ReadOptions = {}): void {
  describe(typeName, () => {
    it('has the values of the model in each field of each object', async () => {
      const { model } = world();
      const { leave = [] } = options;
      expect(model.all(typeName)).not.toHaveLength(0);
      expect(await readNodes(world(), typeName, leave)).toEqual(
        model.all(typeName).map((object) => projected(typeName, object, leave)),
      );
    });
    if (listsOf(typeName).length > 0) describeLists(typeName, world, options);
  });
}

function describeLists(typeName: string, world: () => SharedWorld, { thorough }: ReadOptions): void {
  const lists = listsOf(typeName);
  // The lists of the workspace are the same as those of the roots.
  const distinct = lists.filter(
    ({ parent }) => parent !== 'Workspace' || lists.every((each) => each.parent !== 'Query'),
  );

  it.each(distinct.filter(({ coordinate }) => thorough?.includes(coordinate) ?? true))(
    '$coordinate can be walked in every order in both directions, and returns each row once',
    async (list) => {
      const orders = Object.keys(sortKeys[typeName] ?? {});
      expect(orders.toSorted()).toEqual(orderNames(typeName));
      for (const field of orders) {
        await expectWalk(world(), list, { field, direction: 'ASC' });
        await expectWalk(world(), list, { field, direction: 'DESC' });
      }
    },
  );

  it.each(lists)('$coordinate has a default order', async (list) => {
    const parent = parentOfLongestList(world().model, list);
    const rows = rowsOf(world().model, list, parent);
    const order = defaultOrder(typeName, list.coordinate);
    const pages = await walk(world(), list, parent, {});
    expect(idsOf(pages)).toEqual(ordered(typeName, rows, order).map(({ id }) => id));
    // The default direction is ascending.
    const upward = await walk(world(), list, parent, { orderBy: { field: order.field } });
    const expected = ordered(typeName, rows, { field: order.field, direction: 'ASC' });
    expect(idsOf(upward)).toEqual(expected.map(({ id }) => id));
  });

  const children = lists.filter(({ parent }) => parent !== 'Query' && parent !== 'Workspace');
  if (children.length > 0) {
    it.each(children)(
      '$coordinate returns the right page and count for each of many parents in one query',
      (list) => expectPagesOfAll(world(), list),
    );
  }

  it('has filters that match the same objects as the model', () => expectFilters(world(), typeName));

  it('can be walked with a filter, with the total of the filter on every page', () =>
    expectFilteredWalk(world(), typeName));
}

/** Reads every object of a type by id, in the order of the ids. */
async function readNodes(world: SharedWorld, typeName: string, leave: readonly string[]): Promise<unknown[]> {
  const ids = world.model.all(typeName).map(({ id }) => id);
  const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on ${typeName} { ${selectionOf(typeName, leave)} } } }`;
  return dataOf(await world.ask(query, { ids })).nodes as unknown[];
}

function orderNames(typeName: string): string[] {
  const field = inputType(`${typeName}Order`).getFields().field?.type;
  return field && 'ofType' in field && 'getValues' in field.ofType
    ? field.ofType
        .getValues()
        .map(({ name }) => name)
        .toSorted()
    : [];
}

async function expectWalk(
  world: SharedWorld,
  list: FieldOf,
  orderBy: OrderBy,
  filter: Filter = {},
): Promise<void> {
  const parent = parentOfLongestList(world.model, list);
  const typeName = rowTypeOf(list);
  const rows = rowsOf(world.model, list, parent).filter((object) =>
    matches(`${typeName}Filter`, filter, object),
  );
  const expected = ordered(typeName, rows, orderBy).map(({ id }) => id);
  const forward = await walk(world, list, parent, { orderBy, filter });
  expect([orderBy, idsOf(forward)]).toEqual([orderBy, expected]);
  const backward = await walk(world, list, parent, { orderBy, filter }, true);
  expect([orderBy, idsOf(backward)]).toEqual([orderBy, expected]);
  expectPageInfo(forward, expected.length);
  for (const page of backward) expect(page.totalCount).toBe(expected.length);
}

/** Checks the total, the cursors and hasNextPage and hasPreviousPage of each page. */
function expectPageInfo(pages: readonly Page[], total: number): void {
  for (const [index, { totalCount, edges, nodes, pageInfo }] of pages.entries()) {
    expect(totalCount).toBe(total);
    expect(nodes).toEqual(edges.map(({ node }) => node));
    expect(pageInfo).toEqual({
      hasPreviousPage: index > 0,
      hasNextPage: index < pages.length - 1,
      startCursor: edges.at(0)?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    });
  }
}

function idsOf(pages: readonly Page[]): string[] {
  return pages.flatMap(({ edges }) => edges.map(({ node }) => node.id));
}

async function expectPagesOfAll(world: SharedWorld, list: FieldOf): Promise<void> {
  const typeName = rowTypeOf(list);
  const { name } = list.field;
  const parents = world.model.all(list.parent);
  const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on ${list.parent} { ${name}(first: 2) { totalCount nodes { id } } } } }`;
  const answered = dataOf(await world.ask(query, { ids: parents.map(({ id }) => id) })).nodes;
  expect(answered).toEqual(
    parents.map((parent) => {
      const rows = ordered(typeName, parent[name] as ModelObject[], defaultOrder(typeName, list.coordinate));
      return { [name]: { totalCount: rows.length, nodes: rows.slice(0, 2).map(({ id }) => ({ id })) } };
    }),
  );
}

/** The list of a type that has the most rows. */
function longestList(world: SharedWorld, typeName: string): FieldOf {
  const size = (list: FieldOf) => rowsOf(world.model, list, parentOfLongestList(world.model, list)).length;
  const [longest] = listsOf(typeName).toSorted((a, b) => size(b) - size(a));
  if (!longest) throw new Error(`There is no list of ${typeName}.`);
  return longest;
}

async function expectFilters(world: SharedWorld, typeName: string): Promise<void> {
  const list = longestList(world, typeName);
  const parent = parentOfLongestList(world.model, list);
  const rows = rowsOf(world.model, list, parent);
  const filters = new RandomFilters(world.model, new Random(`filters of ${typeName}`));
  const names = Object.keys(inputType(`${typeName}Filter`).getFields()).filter(
    (name) => !['and', 'or', 'not'].includes(name),
  );
  // A few filters for each field, so that all are covered, and then random ones.
  const allFilters: Filter[] = [
    ...names.flatMap((name) => [0, 1, 2].map(() => ({ [name]: filters.field(typeName, name, 1) }))),
    ...Array.from({ length: filterCount }, () => filters.filter(typeName)),
  ];
  let selective = 0;
  for (let start = 0; start < allFilters.length; start += filtersAtOnce) {
    const chunk = allFilters.slice(start, start + filtersAtOnce);
    const found = await readFiltered(world, list, parent, chunk);
    for (const [index, filter] of chunk.entries()) {
      const expected = rows
        .filter((object) => matches(`${typeName}Filter`, filter, object))
        .map(({ id }) => id);
      if (expected.length > 0 && expected.length < rows.length) selective += 1;
      const sorted = (ids: readonly unknown[] = []) => ids.map(String).toSorted();
      expect({ filter, ids: sorted(found[index]?.ids) }).toEqual({ filter, ids: sorted(expected) });
      const totalCount = expected.length;
      expect({ filter, totalCount: found[index]?.totalCount }).toEqual({ filter, totalCount });
    }
  }
  // Filters that match nothing or everything would prove little.
  expect(selective).toBeGreaterThan(allFilters.length / 8);
}

/** Reads one list with several filters in one operation. */
async function readFiltered(
  world: SharedWorld,
  list: FieldOf,
  parent: ModelObject | undefined,
  filters: readonly Filter[],
) {
  const row = rowTypeOf(list);
  const variables = filters.map((_filter, index) => `$f${index}: ${row}Filter`).join(', ');
  const fields = filters
    .map(
      (_filter, index) =>
        `a${index}: ${list.field.name}(first: 250, filter: $f${index}) { totalCount nodes { id } }`,
    )
    .join('\n');
  const query = parent
    ? `query ($id: ID!, ${variables}) { node(id: $id) { ... on ${list.parent} { ${fields} } } }`
    : `query (${variables}) { ${fields} }`;
  const values = Object.fromEntries(filters.map((filter, index) => [`f${index}`, filter]));
  const data = dataOf(await world.ask(query, { ...values, id: parent?.id }));
  const holder = (parent ? data.node : data) as Record<
    string,
    { totalCount: number; nodes: { id: string }[] }
  >;
  return filters.map((_filter, index) => {
    const answer = holder[`a${index}`];
    return { totalCount: answer?.totalCount, ids: (answer?.nodes ?? []).map(({ id }) => id) };
  });
}

/** Walks a list with a few filters that match several rows, in a few orders. */
async function expectFilteredWalk(world: SharedWorld, typeName: string): Promise<void> {
  const list = longestList(world, typeName);
  const rows = rowsOf(world.model, list, parentOfLongestList(world.model, list));
  const random = new Random(`walks of ${typeName}`);
  const filters = new RandomFilters(world.model, random);
  for (let left = 200, walked = 0; left > 0 && walked < 5; left -= 1) {
    const filter = filters.filter(typeName);
    const kept = rows.filter((object) => matches(`${typeName}Filter`, filter, object)).length;
    if (kept < 2 || kept === rows.length) continue;
    const field = random.pick(Object.keys(sortKeys[typeName] ?? {}));
    await expectWalk(world, list, { field, direction: walked % 2 ? 'ASC' : 'DESC' }, filter);
    walked += 1;
  }
}
