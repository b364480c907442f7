import type { IndexUse, Candidate } from '../query/walks/index-use.ts';
import type { FewStep } from '../query/walks/matches.ts';
import type { PageStep } from '../query/pages/bounded-page.ts';
import type { ProbedCandidate } from '../query/walks/candidate-probe.ts';
import type { ReadBounds } from '../query/read-bounds.ts';
import type { Position } from '../query/walks/walk.ts';

/** What has been read of the page of one parent; a list without parents has one page. */
export interface PageRead<Row> {
  readonly rows: readonly Row[];
  /** Set if the statement reached its bound: the position of the last row that it examined. */
  readonly stop: Position | undefined;
}

/** Sends the statements of the pages of one list. */
interface PageSender<Row> {
  /** Reads the pages of some of the parents, which are identified by their indexes. */
  step(step: PageStep, parents: readonly number[]): Promise<readonly PageRead<Row>[]>;
  /** Counts the rows that match each candidate, up to one more than its maximum. */
  probe(probed: readonly ProbedCandidate[], sample: number): Promise<readonly number[]>;
}

/** The pages to read: for how many parents, and how many rows make a page full. */
interface PagesRequest {
  readonly parents: number;
  readonly rows: number;
}

/**
 * Reads pages with at most five statements, which read a bounded number of rows whatever the size of the tables. A page
 * that is still not full then ends early, with its stop.
 *
 * If a condition is known to match few rows, one statement reads and sorts them. Otherwise:
 *
 * 1. A short walk along the order of the list (`bounds.firstWalk`) fills most pages or reaches their end. Where no index has the
 *    rows of each parent in that order, this statement reads all rows of each parent that has few.
 * 2. For the others, the indexes show how many rows each condition of the filter matches.
 * 3. If one condition matches few rows, they are all read and sorted.
 * 4. Otherwise a second statement walks further along the order.
 * 5. If that did not fill the page, and one condition matches at most `bounds.maxRows` rows, they are read and sorted after all.
 */
export async function readBoundedPages<Row>(
  { isOrderedByParent, isJoined, candidates, weight }: IndexUse,
  bounds: ReadBounds,
  wanted: PagesRequest,
  sender: PageSender<Row>,
): Promise<readonly PageRead<Row>[]> {
  const pages: PageRead<Row>[] = [];
  let unfinished = Array.from({ length: wanted.parents }, (_, index) => index);
  /** Runs a step for the parents whose pages are unfinished. Returns whether all pages are finished then. */
  const runStep = async (step: PageStep) => {
    const found = await sender.step(step, unfinished);
    unfinished.forEach((parent, index) => {
      pages[parent] = found[index] ?? { rows: [], stop: undefined };
    });
    unfinished = unfinished.filter((parent) => {
      const page = pages[parent];
      return page?.stop !== undefined && page.rows.length < wanted.rows;
    });
    return unfinished.length === 0;
  };
  const perParent = (rows: number) => rowsPerParent(unfinished.length, rows, bounds);

  const selective = candidates.findIndex(({ isSelective }) => isSelective);
  if (selective >= 0) {
    await runStep({ read: 'few', candidate: selective, rows: withMargin(bounds.maxRows) });
    return pages;
  }
  const walkedRows = Math.ceil(bounds.walk / weight);
  const max = isJoined ? bounds.maxLinks : bounds.maxRows;
  const first = isOrderedByParent ? Math.min(bounds.firstWalk, perParent(walkedRows)) : perParent(max);
  if (await runStep({ read: isOrderedByParent ? 'walk' : 'children', rows: first })) return pages;
  const few = Math.min(bounds.few, max);
  const best = await fewestMatches(candidates, { rows: max, links: bounds.maxLinks, text: few }, (probed) =>
    sender.probe(probed, bounds.firstWalk),
  );
  if (best && best.count <= few && (await runStep(best.step))) return pages;
  const secondWalk = isOrderedByParent ? perParent(walkedRows) : walkedRows;
  if (!isOrderedByParent || secondWalk > first) {
    if (await runStep({ read: isOrderedByParent ? 'walk' : 'shared', rows: secondWalk })) return pages;
  }
  if (best) await runStep(best.step);
  return pages;
}

/**
 * The number of rows that a statement may read under each parent: a power of two, because each number is a prepared
 * statement.
 */
export function rowsPerParent(parents: number, rows: number, { eachParent }: ReadBounds): number {
  return parents === 1 ? rows : Math.max(eachParent, 2 ** Math.floor(Math.log2(rows / parents)));
}

/** A limit for reading rows of which at most `max` were counted, with a margin for rows that were written since. */
export function withMargin(max: number): number {
  return 2 * max + 1_000;
}

/**
 * The largest number of conditions that are each counted up to their maximum. If a filter has more, each is counted
 * less far, so that all of them together cost no more.
 */
const maxFullyCounted = 4;

/** The step that reads the fewest rows by a condition; undefined if every condition matches too many. */
export async function fewestMatches(
  candidates: readonly Candidate[],
  max: Readonly<Record<Candidate['kind'], number>>,
  probe: (probed: readonly ProbedCandidate[]) => Promise<readonly number[]>,
): Promise<{ step: FewStep; count: number } | undefined> {
  if (candidates.length === 0) return undefined;
  const share = Math.min(1, maxFullyCounted / candidates.length);
  const probed = candidates.map((candidate) => ({
    candidate,
    max: Math.floor(max[candidate.kind] * share),
  }));
  const counts = await probe(probed);
  const found = probed
    .map(({ max: limit }, candidate) => ({ candidate, count: counts[candidate] ?? 0, limit }))
    .filter(({ count, limit }) => count <= limit)
    .toSorted((one, other) => one.count - other.count)[0];
  return (
    found && {
      step: { read: 'few', candidate: found.candidate, rows: withMargin(found.limit) },
      count: found.count,
    }
  );
}
