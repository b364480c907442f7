import { join } from 'node:path';
import type { ShapesOptions } from '../options.ts';
import { checkChildren, largestParents } from './children.ts';
import { openGate, Progress } from './gate.ts';
import { type Judged, report } from './judge.ts';
import { Oracle } from './oracle.ts';
import { checkPages } from './pages.ts';
import { childLists, inputFacts, inSql, type ListFacts, rootLists } from './schema-facts.ts';
import { filtersOf, type NamedFilter } from './values.ts';

export interface ShapesRun extends ShapesOptions {
  readonly url: string;
  readonly issues: number;
  readonly say: (line: string) => void;
}

/**
 * Judges every filter and order of the graph's lists, of roots and under parents; returns the number of shapes that break a rule.
 */
export async function checkShapes({ url, issues, say, only, oneOf, isResumed }: ShapesRun): Promise<number> {
  // At 1,000,000 issues the bounds are those of the product; below, they shrink, or nothing would ever be short.
  const budget = Math.round(20_000 * Math.min(1, issues / 1_000_000));
  const gate = await openGate(url, budget);
  const oracle = new Oracle(gate.client);
  const progress = new Progress(join(import.meta.dirname, '..', '.shapes', `${issues}.json`), isResumed);
  const judged: Judged[] = [];
  const judge = async (key: string, check: () => Promise<Judged[]>) => {
    if (only !== undefined && !key.includes(only)) return;
    const found = progress.get(key) ?? (await check());
    progress.set(key, found);
    judged.push(...found);
    for (const { name, problems } of found) if (problems.length > 0) say(`${name}: ${problems.join('; ')}`);
  };
  const isEmpty = async ({ list }: ListFacts) => {
    const { rows } = await gate.client.query(`select 1 from ${inSql(list.source.table)} limit 1`);
    return rows.length === 0;
  };
  const filtersIn = async ({ row, list }: ListFacts): Promise<NamedFilter[]> => [
    { name: 'no filter', filter: {} },
    ...(await filtersOf(gate.client, list.source.table, list.filter(), inputFacts(row))),
  ];
  try {
    for (const list of rootLists) {
      if (await isEmpty(list)) continue;
      const filters = await filtersIn(list);
      say(`${list.name}: ${filters.length} filters, ${Object.keys(list.list.orders).length} orders`);
      for (const filter of filters)
        await judge(`${list.name} ${filter.name}`, () =>
          checkPages(gate, oracle, list, filter, { budget, oneOf }),
        );
    }
    for (const list of childLists) {
      if (await isEmpty(list)) continue;
      const parents = await largestParents(gate, list);
      const filters = await filtersIn(list);
      say(`${list.parentType}.${list.name}: ${filters.length} filters`);
      for (const filter of filters)
        await judge(`${list.parentType}.${list.name} ${filter.name}`, () =>
          // There are many times as many shapes as of roots, which differ less.
          checkChildren(gate, list, parents, filter, { budget, oneOf: 8 * oneOf }),
        );
    }
  } finally {
    await gate.close();
  }
  report(judged, say);
  return judged.filter(({ problems }) => problems.length > 0).length;
}
