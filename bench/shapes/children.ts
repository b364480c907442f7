import type { Gate } from './gate.ts';
import { judgeReads, type JudgedRead } from './judge.ts';
import type { ChildList } from './schema-facts.ts';
import type { NamedFilter } from './values.ts';

const size = 10;

/** Ids of the parents with the most rows of a list, the largest first. */
export async function largestParents(gate: Gate, list: ChildList): Promise<string[]> {
  const { table, where, parent } = list.rows;
  const { rows } = await gate.client.query<{ id: string }>(`
    with largest as (select ${parent} as key, count(*) as n from ${table} ${where} group by 1 order by 2 desc limit 250)
    select p.id from largest join ${list.parentTable} p on p.${list.parentKey} = largest.key
    where to_jsonb(p) ->> 'deleted_utc' is null order by n desc`);
  return rows.map(({ id }) => list.encoded(id));
}

interface Parent {
  list: { nodes: unknown[]; pageInfo: { hasNextPage: boolean } };
}

/** A page of a list under a number of parents. */
export interface ChildShape {
  readonly orderBy: { readonly field: string; readonly direction: 'ASC' | 'DESC' };
  readonly parents: number;
  readonly isGeneric: boolean;
}

/** All orders and directions of a list, under one, 50 and 250 parents. Half of the statements are planned once for all values. */
export function childShapes({ list }: ChildList): ChildShape[] {
  return Object.keys(list.orders)
    .flatMap((field) => (['ASC', 'DESC'] as const).map((direction) => ({ field, direction })))
    .flatMap((orderBy) => [1, 50, 250].map((count) => ({ orderBy, parents: count })))
    .map((shape, index) => ({ ...shape, isGeneric: index % 2 === 1 }));
}

/** The root lists of parents that `nodes` leaves to graphql-js, whose statements are not judged here. */
const rootsOf: Readonly<Record<string, string>> = { Webhook: 'webhooks' };

/** Judges pages under parents with a filter. */
export async function checkChildren(
  gate: Gate,
  { name, row, parentType, parentTable }: ChildList,
  parents: readonly string[],
  { name: filterName, filter }: NamedFilter,
  { budget, shapes }: { budget: number; shapes: readonly ChildShape[] },
): Promise<JudgedRead[]> {
  const root = rootsOf[parentType];
  const fields = `list: ${name}(first: ${size}, filter: $filter, orderBy: $orderBy) { nodes { id } pageInfo { hasNextPage } }`;
  const document = root
    ? `query ($count: Int, $filter: ${row}Filter, $orderBy: ${row}Order) {
      all: ${root}(first: $count) { parents: nodes { ${fields} } } }`
    : `query ($ids: [ID!]!, $filter: ${row}Filter, $orderBy: ${row}Order) {
      parents: nodes(ids: $ids) { ... on ${parentType} { ${fields} } } }`;
  const judged: JudgedRead[] = [];
  for (const { orderBy, parents: count, isGeneric } of shapes) {
    const ids = parents.slice(0, count);
    const variables = { ...(root ? { count: ids.length } : { ids }), filter, orderBy };
    const { data, statements } = await gate.execute(document, variables, { isGeneric });
    const { parents: found } = (root ? data['all'] : data) as { parents: Parent[] };
    const pages = found.map(({ list }) => list);
    // The parents themselves are read by a statement of their own, unless they are in memory.
    const own = statements.filter(({ text }) => !text.includes(`from "${parentTable}" as "r0" where`));
    judged.push({
      ...judgeReads(own, { budget, parents: ids.length, size }),
      name: `${parentType}.${name} ${filterName}, ${orderBy.field} ${orderBy.direction}, ${ids.length} parents`,
      isShort: pages.some(({ nodes, pageInfo }) => nodes.length < size && pageInfo.hasNextPage),
    });
  }
  return judged;
}
