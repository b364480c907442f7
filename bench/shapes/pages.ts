import type { Gate } from './gate.ts';
import { judgeReads, type JudgedRead, pageSize } from './judge.ts';
import type { Oracle, Sequence } from './oracle.ts';
import { checkTotal } from './totals.ts';
import type { ListFacts } from './schema-facts.ts';
import type { NamedFilter } from './values.ts';

interface PageShape {
  readonly name: string;
  readonly args: Record<string, unknown>;
  /** The ids that the page must have. */
  readonly expected: readonly string[];
}

/** The answered page of a list. */
export interface ListPage {
  nodes: readonly { id: string }[];
  pageInfo: {
    hasNextPage: boolean;
    hasPreviousPage: boolean;
    startCursor: string | null;
    endCursor: string | null;
  };
}

/** Connections and an oracle of their own, so that checks can run at the same time. */
export interface CheckLane {
  readonly gate: Gate;
  readonly oracle: Oracle;
}

/** Judges the total of a root list with a filter, and its pages in the chosen ones of all orders and directions. */
export async function checkPages(
  { gate, oracle }: CheckLane,
  { name, row, list }: ListFacts,
  { name: filterName, filter }: NamedFilter,
  { budget, isChosen }: { budget: number; isChosen: (order: number) => boolean },
): Promise<JudgedRead[]> {
  const document = `query ($filter: ${row}Filter, $orderBy: ${row}Order, $first: Int, $last: Int, $after: String, $before: String) {
    list: ${name}(filter: $filter, orderBy: $orderBy, first: $first, last: $last, after: $after, before: $before) {
      nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`;
  const judged: JudgedRead[] = [];
  const coerced = gate.coerced(document, { filter })['filter'] as Record<string, unknown>;
  const matched = await oracle.match(gate.workspaceId, list, coerced);
  judged.push(await checkTotal(gate, { name, row, list }, { name: filterName, filter }, { budget, matched }));
  const orders = Object.keys(list.orders).flatMap((field) =>
    (['ASC', 'DESC'] as const).map((direction) => ({ field, direction })),
  );
  for (const [order, orderBy] of orders.entries()) {
    if (!isChosen(order)) continue;
    const sequence = await oracle.sequence(list, coerced, orderBy, pageSize);
    for (const [index, page] of pagesOf(sequence).entries()) {
      // Half of the statements are planned for their values, the others once for all values.
      const isGeneric = (index + order) % 2 === 1;
      const variables = { filter, orderBy, ...page.args };
      const { data, statements } = await gate.execute(document, variables, { isGeneric });
      const reads = judgeReads(statements, { budget, parents: 1, size: pageSize });
      const answered = data['list'] as ListPage;
      const answer = comparison(answered, page);
      const lost = answer.isShort
        ? await continued(answered, page, async (args) => {
            const next = await gate.execute(document, { filter, orderBy, ...args }, { isGeneric });
            return next.data['list'] as ListPage;
          })
        : [];
      judged.push({
        ...reads,
        name: `${name} ${filterName}, ${orderBy.field} ${orderBy.direction}, ${page.name}`,
        isShort: answer.isShort,
        problems: [...reads.problems, ...answer.problems, ...lost],
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

/** The maximum number of pages that are read after a page that ended early. */
const maxContinued = 5;

/** Reads on from a page that ended early. Its rows and those of the next pages must be the expected ones without gaps. */
async function continued(
  page: ListPage,
  { args, expected }: PageShape,
  fetchPage: (args: Record<string, unknown>) => Promise<ListPage>,
): Promise<string[]> {
  const isBackward = 'last' in args;
  let ids = page.nodes.map(({ id }) => id);
  let at = page.pageInfo;
  for (let more = 0; more < maxContinued && ids.length < expected.length; more += 1) {
    if (!(isBackward ? at.hasPreviousPage : at.hasNextPage))
      return ['rows are missing behind a page that ended early'];
    const next = await fetchPage(
      isBackward ? { last: pageSize, before: at.startCursor } : { first: pageSize, after: at.endCursor },
    );
    const found = next.nodes.map(({ id }) => id);
    ids = isBackward ? [...found, ...ids] : [...ids, ...found];
    at = next.pageInfo;
  }
  const compared = Math.min(ids.length, expected.length);
  const [got, wanted] = isBackward
    ? [ids.slice(ids.length - compared), expected.slice(expected.length - compared)]
    : [ids.slice(0, compared), expected.slice(0, compared)];
  return got.join() === wanted.join() ? [] : ['other rows than the oracle behind a page that ended early'];
}

/** A page that ended early must have the first of the expected rows, any other page all of them. */
export function comparison(
  { nodes, pageInfo }: ListPage,
  { args, expected }: Pick<PageShape, 'args' | 'expected'>,
) {
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
