import { entitiesByPrefix } from '../../src/schema/builder/entity.ts';
import type { IdPrefix } from '../../src/resolvers/ids.ts';
import type { FieldOf } from '../graph/schema-walk.ts';
import { dataOf } from '../graph/graph-answer.ts';
import type { World } from '../graph/world.ts';
import type { Candidates } from './candidates.ts';
import { isNodeType, type SelectionPath, pathByNode } from './selection-paths.ts';

interface Counted {
  id: string;
  list: { totalCount: number };
}

/** The prefix of a type's ids, if it has ids. */
export function prefixOf(typeName: string): IdPrefix | undefined {
  return [...entitiesByPrefix.values()].find(({ name }) => name === typeName)?.options.prefix;
}

/** The selection path to that object of the type which has the longest list. */
export async function pathToRichest(
  world: World,
  candidates: Candidates,
  { parent, field }: FieldOf,
): Promise<SelectionPath | undefined> {
  const prefix = isNodeType(parent) ? prefixOf(parent) : undefined;
  if (!prefix || !field.args.some(({ name }) => name === 'first')) return undefined;
  const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { ... on ${parent} { id list: ${field.name} { totalCount } } } }`;
  const ids = candidates.notDeleted(prefix).map(({ id }) => id);
  const { nodes } = dataOf(await world.ask(query, { ids })) as { nodes: (Counted | null)[] };
  const [richest] = nodes
    .filter((node) => node !== null)
    .toSorted((left, right) => right.list.totalCount - left.list.totalCount);
  if (!richest) throw new Error(`The fixture has no ${parent}.`);
  return pathByNode(parent, richest.id);
}

/** The cursors of the first and the last row of a list. */
export async function cursorsOf(
  world: World,
  path: SelectionPath,
  { field }: FieldOf,
): Promise<[string, string]> {
  const { prefix, suffix } = path;
  const data = dataOf(await world.ask(`${prefix}${field.name} { edges { cursor } }${suffix}`));
  const cursors = JSON.stringify(data).match(/(?<="cursor":")[\w-]+/g) ?? [];
  return [cursors[0] ?? '', cursors.at(-1) ?? ''];
}
