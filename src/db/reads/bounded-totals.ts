import type { IndexUse } from '../query/walks/index-use.ts';
import type { CountStep } from '../query/totals/bounded-count.ts';
import type { ProbedCandidate } from '../query/walks/candidate-probe.ts';
import type { ReadBounds } from '../query/read-bounds.ts';
import { fewestMatches, withMargin, rowsPerParent } from './bounded-pages.ts';

/** The number of rows, or a lower bound of it if it is not exact. */
export interface Total {
  readonly count: number;
  readonly isExact: boolean;
}

/** Sends the statements of the totals of one list. */
export interface TotalSender {
  /**
   * Counts the children of some of the parents, which are identified by their indexes; a list without parents counts as
   * one.
   */
  count(step: CountStep, parents: readonly number[]): Promise<readonly Total[]>;
  /** Counts the rows that match each candidate, up to one more than its maximum. */
  probe(probed: readonly ProbedCandidate[], sample: number): Promise<readonly number[]>;
}

/**
 * Counts rows with at most four statements, which read a bounded number of rows whatever the size of the tables. If
 * that does not suffice, a total is not exact.
 *
 * 1. Short lists are counted by a short walk (`bounds.firstWalk`).
 * 2. Of the others, the indexes show how many rows each condition of the filter matches.
 * 3. If one condition does not match too many rows, they are read.
 * 4. Otherwise the rows are counted up to the bound.
 */
export async function countWithinBounds(
  { isJoined, candidates, weight }: IndexUse,
  bounds: ReadBounds,
  parents: number,
  sender: TotalSender,
): Promise<readonly Total[]> {
  const totals: Total[] = Array.from({ length: parents }, () => ({ count: 0, isExact: false }));
  let unfinished = Array.from(totals.keys());
  /** Runs a step for the parents whose totals are not exact. Returns whether all are exact then. */
  const runStep = async (step: CountStep) => {
    const counted = await sender.count(step, unfinished);
    unfinished.forEach((parent, index) => {
      const { count, isExact } = counted[index] ?? { count: 0, isExact: true };
      totals[parent] = { count: isExact ? count : Math.max(count, totals[parent]?.count ?? 0), isExact };
    });
    unfinished = unfinished.filter((parent) => !totals[parent]?.isExact);
    return unfinished.length === 0;
  };
  const selective = candidates.findIndex(({ isSelective }) => isSelective);
  if (selective >= 0) {
    await runStep({ read: 'few', candidate: selective, rows: withMargin(bounds.maxRows) });
    return totals;
  }
  const walkedRows = Math.ceil(bounds.walk / weight);
  const first = Math.min(bounds.firstWalk, rowsPerParent(unfinished.length, walkedRows, bounds));
  if (await runStep({ read: 'walk', rows: first })) return totals;
  const max = isJoined ? bounds.maxLinks : bounds.maxRows;
  const best = await fewestMatches(
    candidates,
    { rows: max, links: bounds.maxLinks, text: Math.min(bounds.few, max) },
    (probed) => sender.probe(probed, bounds.firstWalk),
  );
  if (best && (await runStep(best.step))) return totals;
  const secondWalk = rowsPerParent(unfinished.length, walkedRows, bounds);
  if (secondWalk > first) await runStep({ read: 'walk', rows: secondWalk });
  return totals;
}
