/**
 * How many rows may be read for a page before it ends early, for a total before it is inexact, and for statistics
 * before they are refused.
 */
export interface ReadBounds {
  /** How many rows the first statement examines, in the order of the list. It fills most pages. */
  readonly firstWalk: number;
  /** If one condition matches at most this many rows, they are read and sorted instead of looking further. */
  readonly few: number;
  /** The rows that a second walk along the order examines, from the start of the page again. */
  readonly walk: number;
  /** If the walk has not filled the page either, up to this many matches of one condition are read and sorted. */
  readonly maxRows: number;
  /** The same for a condition on rows of a join table, where each match costs several times as much. */
  readonly maxLinks: number;
  /** The smallest number of rows that are examined under each of many parents. */
  readonly eachParent: number;
  /** The maximum number of issues that statistics may count one by one if the tallies do not suffice. */
  readonly statistics: number;
}

/** The bounds of a page that may examine `rows` rows. */
export function readBounds(rows: number): ReadBounds {
  const firstWalk = Math.ceil(rows / 20);
  return {
    firstWalk,
    few: Math.ceil(rows * 0.35),
    walk: Math.max(firstWalk, rows - firstWalk),
    maxRows: rows,
    maxLinks: Math.ceil(rows / 4),
    eachParent: Math.ceil(rows / 100),
    statistics: rows * 12,
  };
}

/** The default number of rows that a page may examine; docs/decisions/0032-bounded-pages.md has the figures. */
export const defaultReadBudget = 20_000;
