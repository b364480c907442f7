import type { ExplainedStatement } from './explained.ts';

export const pageSize = 50;

/** The largest number of tallies in the data of the check; a workspace of a million issues has 46,000. */
const maxTallies = 100_000;

/** The reads of one page, or of the pages of several parents. */
export interface JudgedRead {
  readonly name: string;
  readonly statements: number;
  readonly heapRows: number;
  readonly buffers: number;
  readonly ms: number;
  /** Whether a page ended early, or a total is not exact. */
  readonly isShort: boolean;
  /** Whether it is a total and no page. */
  readonly isTotal?: boolean;
  readonly problems: readonly string[];
}

/** The read budget, the parents whose pages were read, and the size of each page. */
export interface ReadExpectation {
  readonly budget: number;
  readonly parents: number;
  readonly size: number;
  /** How many statements there may be; 5 by default. */
  readonly statements?: number;
}

/** Compares what statements read with what they may read. */
export function judgeReads(
  statements: readonly ExplainedStatement[],
  { budget, parents, size, statements: maxStatements = 5 }: ReadExpectation,
): Pick<JudgedRead, 'statements' | 'heapRows' | 'buffers' | 'ms' | 'problems'> {
  const sum = (of: (each: ExplainedStatement) => number) =>
    statements.reduce((total, each) => total + of(each), 0);
  const heapRows = sum((each) => each.heapRows);
  const indexEntries = sum((each) => each.indexEntries);
  const tallyRows = sum((each) => each.tallyRows);
  const buffers = sum((each) => each.buffers);
  // With very many parents, a few rows of each are examined, whatever the budget.
  const most = Math.max(budget, (parents * budget) / 100);
  // Conditions are counted by index entries. Further entries are those of a walk that reads nothing but its index.
  const walkedEntries = Math.max(0, indexEntries - 4 * (most + 1));
  const problems = [
    heapRows + walkedEntries > 2 * most + 4 * size * parents &&
      `${heapRows} heap rows and ${indexEntries} index entries`,
    tallyRows > maxTallies && `${tallyRows} tallies`,
    // An entry of an index is looked up in the visibility map, whose pages take turns in a table of more than 255 MB.
    buffers > 2.25 * most + 8 * size * parents + indexEntries + tallyRows && `${buffers} buffers`,
    statements.length > maxStatements && `${statements.length} statements`,
    ...statements.map(({ sortedRows }) => sortedRows > most + 1 && `a sort of ${sortedRows} rows`),
    ...statements.flatMap(({ sequential }) =>
      sequential.map(({ table, rows }) => rows > 1_000 && `a scan of ${table} (${rows} rows)`),
    ),
  ].filter((problem) => problem !== false);
  return { statements: statements.length, heapRows, buffers, ms: sum((each) => each.ms), problems };
}

/** Prints the reads of all pages together. */
export function report(judged: readonly JudgedRead[], say: (line: string) => void): void {
  const line = (title: string, of: (each: JudgedRead) => number) => {
    const values = judged.map(of).toSorted((one, other) => one - other);
    const at = (part: number) => Math.round(values[Math.floor((values.length - 1) * part)] ?? 0);
    say(`${title.padEnd(12)} median ${at(0.5)}, 95 % ${at(0.95)}, 99 % ${at(0.99)}, most ${at(1)}`);
  };
  const count = (of: (each: JudgedRead) => boolean) => judged.filter(of).length;
  say(`${judged.length} pages`);
  line('heap rows', ({ heapRows }) => heapRows);
  line('buffers', ({ buffers }) => buffers);
  line('ms', ({ ms }) => ms);
  line('statements', ({ statements }) => statements);
  say(`over 100 ms: ${count(({ ms }) => ms > 100)}, over 1 s: ${count(({ ms }) => ms > 1_000)}`);
  say(`with problems: ${count(({ problems }) => problems.length > 0)}`);
}

/** How many of the pages ended early. */
export function shareOfShort(judged: readonly JudgedRead[]): string {
  const [totals, pages] = [true, false].map((wanted) =>
    judged.filter(({ isTotal = false }) => isTotal === wanted),
  ) as [JudgedRead[], JudgedRead[]];
  const short = (of: readonly JudgedRead[]) => of.filter(({ isShort }) => isShort).length;
  const share = ((100 * short(pages)) / pages.length).toFixed(1);
  return `${pages.length} pages, ${short(pages)} ended early (${share} %); ${totals.length} totals, ${short(totals)} not exact`;
}

/** The largest shares of pages that may end early: of filters by one condition, and of combinations. */
const maxShort = { single: 0.03, combined: 0.08 };

/** These comparators read what `lt` and `gt` read, so each range would count twice. */
const twin = / (?:lte|gte) at /;

export function tooManyShort(
  judged: Readonly<Record<keyof typeof maxShort, readonly JudgedRead[]>>,
): string[] {
  return Object.entries(maxShort).flatMap(([kind, most]) => {
    const pages = judged[kind as keyof typeof maxShort].filter(
      ({ name, isTotal }) => !isTotal && !twin.test(name),
    );
    const short = pages.filter(({ isShort }) => isShort).length;
    return short > most * pages.length ? [`${kind}: more than ${100 * most} % of the pages end early`] : [];
  });
}
