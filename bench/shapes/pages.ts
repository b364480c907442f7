import type { Gate } from './gate.ts';
import { judgeReads, type Judged, pageSize } from './judge.ts';
import type { Oracle, Sequence } from './oracle.ts';
import type { ListFacts } from './schema-facts.ts';
import type { NamedFilter } from './values.ts';

interface PageShape {
  readonly name: string;
  readonly args: Record<string, unknown>;
  /** The ids that the page must have. */
  readonly expected: readonly string[];
}

interface ListPage {
  nodes: readonly { id: string }[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean };
}

/** Judges the pages of a root list with a filter, in every order and direction or one of so many. */
export async function checkPages(
  gate: Gate,
  oracle: Oracle,
  { name, row, list }: ListFacts,
  { name: filterName, filter }: NamedFilter,
  { budget, oneOf }: { budget: number; oneOf: number },
): Promise<Judged[]> {
  const document = `query ($filter: ${row}Filter, $orderBy: ${row}Order, $first: Int, $last: Int, $after: String, $before: String) {
    list: ${name}(filter: $filter, orderBy: $orderBy, first: $first, last: $last, after: $after, before: $before) {
      nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
  const judged: Judged[] = [];
  const coerced = gate.coerced(document, { filter })['filter'] as Record<string, unknown>;
  await oracle.match(gate.workspaceId, list, coerced);
  const orders = Object.keys(list.orders).flatMap((field) =>
    (['ASC', 'DESC'] as const).map((direction) => ({ field, direction })),
  );
  for (const [order, orderBy] of orders.entries()) {
    if ((order + filterName.length) % oneOf !== 0) continue;
    const sequence = await oracle.sequence(list, coerced, orderBy, pageSize);
    for (const [index, page] of pagesOf(sequence).entries()) {
      // Half of the statements are planned for their values, the others once for all values.
      const isGeneric = (index + order) % 2 === 1;
      const variables = { filter, orderBy, ...page.args };
      const { data, statements } = await gate.ask(document, variables, { isGeneric });
      const reads = judgeReads(statements, { budget, parents: 1, size: pageSize });
      const answer = comparison(data['list'] as ListPage, page);
      judged.push({
        ...reads,
        name: `${name} ${filterName}, ${orderBy.field} ${orderBy.direction}, ${page.name}`,
        isShort: answer.isShort,
        problems: [...reads.problems, ...answer.problems],
      });
    }
  }
  return judged;
}

/** The first page, one in the middle, the last one, and one among the nulls. */
function pagesOf({ first, middle, nulls, last }: Sequence): PageShape[] {
  return [
    { name: 'first', args: { first: pageSize }, expected: first },
    ...(middle
      ? [{ name: 'middle', args: { first: pageSize, after: middle.cursor }, expected: middle.ids }]
      : []),
    { name: 'last', args: { last: pageSize }, expected: last },
    ...(nulls
      ? [{ name: 'nulls', args: { first: pageSize, after: nulls.cursor }, expected: nulls.ids }]
      : []),
  ];
}

/** A page that ended early must have the first of the expected rows, any other page all of them. */
function comparison({ nodes, pageInfo }: ListPage, { args, expected }: PageShape) {
  const ids = nodes.map(({ id }) => id);
  const isBackward = 'last' in args;
  const hasMore = isBackward ? pageInfo.hasPreviousPage : pageInfo.hasNextPage;
  const wanted = isBackward ? expected.slice(expected.length - ids.length) : expected.slice(0, ids.length);
  const problems = [
    ids.length < expected.length && !hasMore && `${ids.length} rows for ${expected.length}, and no more`,
    ids.join() !== wanted.join() && 'other rows than the oracle',
  ].filter((problem) => problem !== false);
  return { isShort: ids.length < expected.length && hasMore, problems };
}
