import { inSql } from '../../src/db/tables/sql-names.ts';
import { join } from 'node:path';
import type { ShapesOptions } from '../options.ts';
import { Random } from '../random.ts';
import { checkChildren, largestParents } from './children.ts';
import { combinationsOf } from './combinations.ts';
import { checkGrouping, groupings } from './groups.ts';
import { openGate, Progress } from './gate.ts';
import { type Judged, report, shareOfShort, tooManyShort } from './judge.ts';
import { newlyShort, writeKnownShort } from './known-short.ts';
import { Oracle } from './oracle.ts';
import { checkPages } from './pages.ts';
import { checkRest, restQueries } from './rest.ts';
import { childLists, inputFacts, type ListFacts, rootLists } from './schema-facts.ts';
import { filtersOf, type NamedFilter } from './values.ts';

export interface ShapesRun extends ShapesOptions {
  readonly url: string;
  readonly issues: number;
  readonly say: (line: string) => void;
}

/** True for the first call and every nth after it, whatever the calls are about. */
function everyNth(nth: number): () => boolean {
  let call = -1;
  return () => {
    call += 1;
    return call % nth === 0;
  };
}

type Kind = 'single' | 'combined' | 'rest' | 'groups' | 'children';

/** How many filters of several conditions are tried for each list of the root. */
const combinations = 300;

/**
 * Judges every filter and order of the graph's lists, of roots and under parents; returns the number of shapes that break a rule.
 */
export async function checkShapes({
  url,
  issues,
  say,
  only,
  oneOf,
  isResumed,
  writes,
}: ShapesRun): Promise<number> {
  // At 1,000,000 issues the bounds are those of the product; below, they shrink, or nothing would ever be short.
  const budget = Math.round(20_000 * Math.min(1, issues / 1_000_000));
  const gate = await openGate(url, budget);
  const oracle = new Oracle(gate.unbounded);
  const progress = new Progress(join(import.meta.dirname, '..', '.shapes', `${issues}.json`), isResumed);
  const judged: Record<Kind, Judged[]> = { single: [], combined: [], rest: [], groups: [], children: [] };
  const judge = async (kind: Kind, key: string, check: () => Promise<Judged[]>) => {
    if (only !== undefined && !key.includes(only)) return;
    const found = progress.get(key) ?? (await check());
    progress.set(key, found);
    judged[kind].push(...found);
    for (const { name, problems } of found) if (problems.length > 0) say(`${name}: ${problems.join('; ')}`);
  };
  const isEmpty = async ({ list }: ListFacts) => {
    const { rows } = await gate.client.query(`select 1 from ${inSql(list.source.table)} limit 1`);
    return rows.length === 0;
  };
  const made = new Map<string, NamedFilter[]>();
  /** The filters of a list, the same for all lists of these rows. */
  const filtersIn = async ({ row, list }: ListFacts): Promise<NamedFilter[]> => {
    const known = made.get(row);
    if (known) return known;
    const { table } = list.source;
    const own = await filtersOf(gate.client, table, list.filter(), inputFacts(row));
    const all = [{ name: 'no filter', filter: {} }, ...own];
    made.set(row, all);
    return all;
  };
  try {
    for (const list of rootLists) {
      if (await isEmpty(list)) continue;
      const filters = await filtersIn(list);
      const orders = 2 * Object.keys(list.list.orders).length;
      say(`${list.name}: ${filters.length} filters, ${orders / 2} orders`);
      for (const filter of filters)
        await judge('single', `${list.name} ${filter.name}`, () => {
          const isChosen = (order: number) => (order + filter.name.length) % oneOf === 0;
          return checkPages(gate, oracle, list, filter, { budget, isChosen });
        });
      const random = new Random(7);
      const orderOf = new Random(8);
      const combined = combinationsOf(filters.slice(1), Math.ceil(combinations / oneOf), random);
      for (const filter of combined) {
        const chosen = orderOf.below(orders);
        await judge('combined', `${list.name} ${filter.name}`, () =>
          checkPages(gate, oracle, list, filter, { budget, isChosen: (order) => order === chosen }),
        );
      }
      if (list.name === 'issues')
        for (const query of await restQueries(gate.client))
          await judge('rest', `/v1/issues ${query.name}`, () =>
            checkRest(gate, oracle, list, query, { budget, oneOf }),
          );
    }
    const { rows } = await gate.client.query(
      'select count(*)::int as issues from issue where deleted_utc is null',
    );
    for (const groupBy of groupings())
      await judge('groups', `issueStats ${groupBy.join(' ')}`, async () => [
        await checkGrouping(gate, groupBy, { issues: rows[0].issues, budget }),
      ]);
    const isChosenChild = everyNth(8 * oneOf);
    for (const list of childLists) {
      if (await isEmpty(list)) continue;
      const parents = await largestParents(gate, list);
      const filters = await filtersIn(list);
      say(`${list.parentType}.${list.name}: ${filters.length} filters`);
      for (const filter of filters)
        await judge('children', `${list.parentType}.${list.name} ${filter.name}`, () =>
          // There are many times as many shapes as of roots, which differ less.
          checkChildren(gate, list, parents, filter, { budget, isChosen: isChosenChild }),
        );
    }
  } finally {
    await gate.close();
  }
  const all = Object.values(judged).flat();
  report(all, say);
  for (const [kind, pages] of Object.entries(judged))
    if (pages.length > 0) say(`${kind}: ${shareOfShort(pages)}`);
  const short = [...judged.single, ...judged.combined, ...judged.rest].filter(({ isShort }) => isShort);
  const isWhole = only === undefined && oneOf === 1;
  if (isWhole && writes) writeKnownShort(issues, short);
  const fresh = newlyShort(issues, short);
  for (const { name } of fresh)
    say(`${name}: ends early, which it did not when short/${issues}.txt was written`);
  const tooMany = isWhole && issues >= 1_000_000 ? tooManyShort(judged) : [];
  for (const problem of tooMany) say(problem);
  return all.filter(({ problems }) => problems.length > 0).length + fresh.length + tooMany.length;
}
