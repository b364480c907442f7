import type { Filter, OrderBy } from './model-queries.ts';
import { connectionFields, type FieldOf, rowTypeOf } from './schema-walk.ts';
import type { ModelObject, Model } from './model.ts';
import { dataOf, type GraphAnswer } from './graph-answer.ts';
import type { SharedWorld } from './shared-world.ts';

/** The arguments of a connection. */
export interface PageArguments {
  first?: number | null;
  last?: number | null;
  after?: string | null;
  before?: string | null;
  filter?: Filter | null;
  orderBy?: OrderBy | { field: string } | null;
}

/** The fields of a page that the tests select. */
export interface Page {
  totalCount: number;
  edges: { cursor: string; node: { id: string } }[];
  nodes: { id: string }[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
}

const wholePage =
  'totalCount edges { cursor node { id } } nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
const argumentNames = ['first', 'last', 'after', 'before', 'filter', 'orderBy'] as const;

/** A query for one page of a list of a root, or of the object with the id `$id`. */
function pageQuery(list: FieldOf, selection = wholePage): string {
  const row = rowTypeOf(list);
  const types = ['Int', 'Int', 'String', 'String', `${row}Filter`, `${row}Order`];
  const variables = argumentNames.map((name, index) => `$${name}: ${types[index]}`).join(', ');
  const args = argumentNames.map((name) => `${name}: $${name}`).join(', ');
  const field = `list: ${list.field.name}(${args}) { ${selection} }`;
  return list.parent === 'Query'
    ? `query (${variables}) { ${field} }`
    : `query ($id: ID!, ${variables}) { node(id: $id) { ... on ${list.parent} { ${field} } } }`;
}

/** Requests one page. */
export function askPage(
  world: SharedWorld,
  list: FieldOf,
  parent: ModelObject | undefined,
  args: PageArguments,
): Promise<GraphAnswer> {
  return world.ask(pageQuery(list), { ...args, id: parent?.id });
}

/** Reads one page, and throws if it is refused. */
export async function readPage(
  world: SharedWorld,
  list: FieldOf,
  parent: ModelObject | undefined,
  args: PageArguments,
): Promise<Page> {
  const data = dataOf(await askPage(world, list, parent, args));
  const holder = list.parent === 'Query' ? data : (data.node as Record<string, unknown>);
  return holder.list as Page;
}

/** The parent whose list is the longest; undefined for the list of a root. */
export function parentOfLongestList(model: Model, list: FieldOf): ModelObject | undefined {
  if (list.parent === 'Query') return undefined;
  const [longest] = model
    .all(list.parent)
    .toSorted((a, b) => rowsOf(model, list, b).length - rowsOf(model, list, a).length);
  return longest;
}

/** The expected rows of the whole list, in any order. */
export function rowsOf(model: Model, list: FieldOf, parent: ModelObject | undefined): readonly ModelObject[] {
  return parent ? (parent[list.field.name] as ModelObject[]) : model.all(rowTypeOf(list));
}

/** Every connection whose nodes have a type. */
export function listsOf(typeName: string): FieldOf[] {
  return connectionFields.filter((list) => rowTypeOf(list) === typeName);
}

/** Reads all pages of a list, forwards or backwards. The rows are in the order of the list in both cases. */
export async function walk(
  world: SharedWorld,
  list: FieldOf,
  parent: ModelObject | undefined,
  args: PageArguments,
  backward = false,
): Promise<Page[]> {
  const pages: Page[] = [];
  let cursor: string | null = null;
  do {
    const size = backward ? { last: 2, before: cursor } : { first: 2, after: cursor };
    const page = await readPage(world, list, parent, { ...args, ...size });
    if (backward) pages.unshift(page);
    else pages.push(page);
    const { hasNextPage, hasPreviousPage, startCursor, endCursor } = page.pageInfo;
    const more = backward ? hasPreviousPage : hasNextPage;
    cursor = more ? (backward ? startCursor : endCursor) : null;
    if (pages.length > 500) throw new Error(`${list.coordinate} does not end.`);
  } while (cursor !== null);
  return pages;
}

/** One list of each type, preferably of a root: the meaning of arguments does not depend on the parent. */
export const sampleLists: readonly FieldOf[] = [
  ...new Map(
    connectionFields
      .toSorted((a, b) => Number(a.parent === 'Query') - Number(b.parent === 'Query'))
      .map((list) => [rowTypeOf(list), list]),
  ).values(),
];
