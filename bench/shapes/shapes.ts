import { join } from 'node:path';
import type { ListDeclaration } from '../../src/resolvers/connections.ts';
import { listIndexes } from '../../src/db/tables/list-indexes.ts';
import type { ShapesOptions } from '../options.ts';
import type { Explained } from './explained.ts';
import { type Gate, openGate, Progress } from './gate.ts';
import { Oracle, type Sequence } from './oracle.ts';
import { connectionsOf, inputFacts } from './schema-facts.ts';
import { filtersOf, type NamedFilter } from './values.ts';

const pageSize = 50;

export interface ShapesRun extends ShapesOptions {
  readonly url: string;
  readonly issues: number;
  readonly say: (line: string) => void;
}

/** The most that a page may read, for a read budget. */
function limitsFor(budget: number) {
  return {
    heapRows: 2 * budget + 4 * pageSize,
    buffers: 2.25 * budget,
    indexEntries: 4 * (budget + 1),
    sorted: budget + 1,
  };
}

interface PageShape {
  readonly name: string;
  readonly args: Record<string, unknown>;
  /** The ids that the page must have. */
  readonly expected: readonly string[];
}

interface Judged {
  readonly name: string;
  readonly statements: number;
  readonly heapRows: number;
  readonly buffers: number;
  readonly ms: number;
  readonly isShort: boolean;
  readonly problems: readonly string[];
}

/** Judges every filter and order of the graph's root lists; returns the number of shapes that break a rule. */
export async function checkShapes(options: ShapesRun): Promise<number> {
  const { url, issues, say } = options;
  // At 1,000,000 issues the bounds are those of the product; below, they shrink, or nothing would ever be short.
  const budget = Math.round(20_000 * Math.min(1, issues / 1_000_000));
  const gate = await openGate(url, budget);
  const oracle = new Oracle(gate.client);
  const progress = new Progress(
    join(import.meta.dirname, '..', '.shapes', `${issues}.json`),
    options.isResumed,
  );
  const judged: Judged[] = [];
  try {
    for (const { name, row, list } of connectionsOf('Query')) {
      if (!listIndexes[list.source.table]) continue;
      const filters = await filtersOf(gate.client, list.source.table, list.filter(), inputFacts(row));
      say(`${name}: ${filters.length} filters, ${Object.keys(list.orders).length} orders, both directions`);
      for (const filter of [{ name: 'no filter', filter: {} }, ...filters]) {
        const key = `${name} ${filter.name}`;
        if (options.only !== undefined && !key.includes(options.only)) continue;
        const found =
          (progress.get(key) as Judged[] | undefined) ??
          (await checkFilter(gate, oracle, { name, row, list }, filter, { budget, oneOf: options.oneOf }));
        progress.set(key, found);
        judged.push(...found);
        for (const each of found)
          if (each.problems.length > 0) say(`${each.name}: ${each.problems.join('; ')}`);
      }
    }
  } finally {
    await gate.close();
  }
  report(judged, say);
  return judged.filter(({ problems }) => problems.length > 0).length;
}

async function checkFilter(
  gate: Gate,
  oracle: Oracle,
  { name, row, list }: { name: string; row: string; list: ListDeclaration },
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
  for (const [order, { field, direction }] of orders.entries()) {
    if ((order + filterName.length) % oneOf !== 0) continue;
    const sequence = await oracle.sequence(list, coerced, { field, direction }, pageSize);
    for (const [index, page] of pagesOf(sequence).entries()) {
      // Statements are planned anew for each run, or once for all values.
      const isGeneric = (index + order) % 2 === 1;
      const variables = { filter, orderBy: { field, direction }, ...page.args };
      const { data, statements } = await gate.ask(document, variables, { isGeneric });
      const shape = `${name} ${filterName}, ${field} ${direction}, ${page.name}`;
      judged.push(judge(shape, data['list'] as ListPage, statements, page, budget));
    }
  }
  return judged;
}

interface ListPage {
  nodes: readonly { id: string }[];
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean };
}

/** The first page, one in the middle, one among the nulls, and the last one. */
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

function judge(
  name: string,
  { nodes, pageInfo }: ListPage,
  statements: readonly Explained[],
  { args, expected }: PageShape,
  budget: number,
): Judged {
  const sum = (of: (each: Explained) => number) => statements.reduce((total, each) => total + of(each), 0);
  const most = limitsFor(budget);
  const heapRows = sum((each) => each.heapRows);
  const indexEntries = sum((each) => each.indexEntries);
  const buffers = sum((each) => each.buffers);
  const ids = nodes.map(({ id }) => id);
  const isBackward = 'last' in args;
  const hasMore = isBackward ? pageInfo.hasPreviousPage : pageInfo.hasNextPage;
  const isShort = ids.length < expected.length && hasMore;
  const wanted = isBackward ? expected.slice(expected.length - ids.length) : expected.slice(0, ids.length);
  const problems = [
    heapRows > most.heapRows && `${heapRows} heap rows`,
    indexEntries > most.indexEntries && `${indexEntries} index entries`,
    buffers > most.buffers && `${buffers} buffers`,
    statements.length > 5 && `${statements.length} statements`,
    ...statements.map(({ sortedRows }) => sortedRows > most.sorted && `a sort of ${sortedRows} rows`),
    ...statements.flatMap(({ sequential }) =>
      sequential.map(({ table, rows }) => rows > 1_000 && `a scan of ${table} (${rows} rows)`),
    ),
    ids.length < expected.length && !hasMore && `${ids.length} rows for ${expected.length}, and no more`,
    ids.join() !== wanted.join() && 'other rows than the oracle',
  ].filter((problem) => problem !== false);
  return {
    name,
    statements: statements.length,
    heapRows,
    buffers,
    ms: sum((each) => each.ms),
    isShort,
    problems,
  };
}

function report(judged: readonly Judged[], say: (line: string) => void): void {
  const sorted = (of: (each: Judged) => number) => judged.map(of).toSorted((one, other) => one - other);
  const at = (values: readonly number[], part: number) =>
    Math.round(values[Math.floor((values.length - 1) * part)] ?? 0);
  const line = (title: string, of: (each: Judged) => number) => {
    const values = sorted(of);
    say(
      `${title.padEnd(12)} median ${at(values, 0.5)}, 95 % ${at(values, 0.95)}, 99 % ${at(values, 0.99)}, most ${at(values, 1)}`,
    );
  };
  say(`${judged.length} pages`);
  line('heap rows', ({ heapRows }) => heapRows);
  line('buffers', ({ buffers }) => buffers);
  line('ms', ({ ms }) => ms);
  line('statements', ({ statements }) => statements);
  say(
    `over 100 ms: ${judged.filter(({ ms }) => ms > 100).length}, over 1 s: ${judged.filter(({ ms }) => ms > 1_000).length}`,
  );
  const short = judged.filter(({ isShort }) => isShort);
  say(`short: ${short.length} (${((100 * short.length) / judged.length).toFixed(1)} %)`);
  say(`with problems: ${judged.filter(({ problems }) => problems.length > 0).length}`);
}
