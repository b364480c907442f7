import { inSql } from '../../src/db/tables/sql-names.ts';
import { join } from 'node:path';
import type { ShapesOptions } from '../options.ts';
import { Random } from '../random.ts';
import { checkChildren, childShapes, largestParents } from './children.ts';
import { combinationsOf } from './combinations.ts';
import { checkGrouping, groupings } from './groups.ts';
import { type Gate, openGate, Progress } from './gate.ts';
import { type JudgedRead, report, shareOfShort, tooManyShort } from './judge.ts';
import { newlyShort, writeKnownShort } from './known-short.ts';
import { Oracle } from './oracle.ts';
import { checkPages, type CheckLane } from './pages.ts';
import { checkRest, restQueries } from './rest.ts';
import { childLists, inputFacts, type ListFacts, rootLists } from './schema-facts.ts';
import { filtersOf, type NamedFilter } from './values.ts';

export interface ShapesRun extends ShapesOptions {
  /** Whether the database was filled with crowds, so that each list has rows. */
  readonly isCrowded?: boolean;
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

/** Shapes that are judged together. */
interface Check {
  readonly kind: Kind;
  readonly key: string;
  judge(lane: CheckLane): Promise<JudgedRead[]>;
}

/** How many checks run at the same time. */
const lanes = 2;
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
  isCrowded = false,
}: ShapesRun): Promise<number> {
  // At 1,000,000 issues the bounds are those of the product; below, they shrink, or nothing would ever be short.
  const budget = Math.round(20_000 * Math.min(1, issues / 1_000_000));
  const progress = new Progress(join(import.meta.dirname, '..', '.shapes', `${issues}.ndjson`), isResumed);
  const judged: Record<Kind, JudgedRead[]> = { single: [], combined: [], rest: [], groups: [], children: [] };
  const gates = await Promise.all(Array.from({ length: lanes }, () => openGate(url, budget)));
  try {
    const checks = (await checksOf(gates[0] as Gate, { budget, oneOf, say, isCrowded })).filter(
      ({ key }) => only === undefined || key.includes(only),
    );
    const waiting = checks.values();
    const run = async (lane: CheckLane) => {
      for (const check of waiting) {
        const known = progress.get(check.key);
        const found = known ?? (await check.judge(lane));
        if (!known) progress.set(check.key, found);
        judged[check.kind].push(...found);
        for (const { name, problems } of found)
          if (problems.length > 0) say(`${name}: ${problems.join('; ')}`);
      }
    };
    await Promise.all(gates.map((gate) => run({ gate, oracle: new Oracle(gate.unbounded) })));
  } finally {
    await Promise.all(gates.map((gate) => gate.close()));
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

/** All checks, or one of so many orders of each filter. */
async function checksOf(
  gate: Gate,
  { budget, oneOf, say, isCrowded }: { budget: number; oneOf: number } & Pick<ShapesRun, 'say' | 'isCrowded'>,
): Promise<Check[]> {
  const { client } = gate;
  const checks: Check[] = [];
  const isEmpty = async ({ name, list }: ListFacts) => {
    const table = inSql(list.source.table);
    const { rows } = await client.query(`select 1 from ${table} limit 1`);
    if (rows.length > 0) return false;
    if (isCrowded) throw new Error(`The list ${name} has no rows: fill ${table} in bench/dataset.`);
    say(`${name}: not judged, because ${table} has no rows without --crowded`);
    return true;
  };
  const made = new Map<string, NamedFilter[]>();
  /** The filters of a list, the same for all lists of these rows. */
  const filtersIn = async ({ row, list }: ListFacts): Promise<NamedFilter[]> => {
    const known = made.get(row);
    if (known) return known;
    const { table } = list.source;
    const own = await filtersOf(client, table, list.filter(), inputFacts(row));
    const all = [{ name: 'no filter', filter: {} }, ...own];
    made.set(row, all);
    return all;
  };
  for (const list of rootLists) {
    if (await isEmpty(list)) continue;
    const filters = await filtersIn(list);
    const orders = 2 * Object.keys(list.list.orders).length;
    say(`${list.name}: ${filters.length} filters, ${orders / 2} orders`);
    for (const filter of filters)
      checks.push({
        kind: 'single',
        key: `${list.name} ${filter.name}`,
        judge: (lane) => {
          const isChosen = (order: number) => (order + filter.name.length) % oneOf === 0;
          return checkPages(lane, list, filter, { budget, isChosen });
        },
      });
    const random = new Random(7);
    const orderOf = new Random(8);
    for (const filter of combinationsOf(filters.slice(1), Math.ceil(combinations / oneOf), random)) {
      const chosen = orderOf.below(orders);
      checks.push({
        kind: 'combined',
        key: `${list.name} ${filter.name}`,
        judge: (lane) => checkPages(lane, list, filter, { budget, isChosen: (order) => order === chosen }),
      });
    }
    if (list.name === 'issues')
      for (const query of await restQueries(client))
        checks.push({
          kind: 'rest',
          key: `/v1/issues ${query.name}`,
          judge: (lane) => checkRest(lane, list, query, { budget, oneOf }),
        });
  }
  const { rows } = await client.query('select count(*)::int as issues from issue where deleted_utc is null');
  for (const groupBy of groupings())
    checks.push({
      kind: 'groups',
      key: `issueStats ${groupBy.join(' ')}`,
      judge: async (lane) => [await checkGrouping(lane.gate, groupBy, { issues: rows[0].issues, budget })],
    });
  // There are many times as many shapes as of roots, which differ less.
  const isChosenChild = everyNth(8 * oneOf);
  for (const list of childLists) {
    if (await isEmpty(list)) continue;
    const parents = await largestParents(gate, list);
    const filters = await filtersIn(list);
    say(`${list.parentType}.${list.name}: ${filters.length} filters`);
    for (const filter of filters) {
      const shapes = childShapes(list).filter(isChosenChild);
      checks.push({
        kind: 'children',
        key: `${list.parentType}.${list.name} ${filter.name}`,
        judge: ({ gate: own }) => checkChildren(own, list, parents, filter, { budget, shapes }),
      });
    }
  }
  return checks;
}
