import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Copy, Note } from './copy.ts';
import type { Mutant } from './find.ts';

/** The guards that a test file reaches when none is switched off. */
export interface Reach {
  /** The hash of the test's source. The notes are valid as long as it is the same. */
  readonly hash: string;
  readonly ms: number;
  /** Whether the file fails without any change, so that its failure would prove nothing. */
  readonly fails: boolean;
  readonly notes: Readonly<Record<string, readonly Omit<Note, 'mutant'>[]>>;
}

/** How many trials run in one process. It is limited, because the modules of past trials stay in memory. */
export const trialsAtOnce = 40;

/** The guards that each test file reaches. Runs the requested files that have no cached result, until the time is over. */
export async function reachOf(
  copy: Copy,
  mutants: readonly Mutant[],
  root: string,
  { until, isRequested }: { until: number; isRequested: (file: string) => boolean },
): Promise<ReadonlyMap<string, Reach>> {
  const cachePath = join(root, 'node_modules/.cache/workgraph-mutants.json');
  const known = new Map<string, Reach>(
    existsSync(cachePath) ? JSON.parse(readFileSync(cachePath, 'utf8')) : [],
  );
  const files = globSync('test/**/*.test.ts', { cwd: root }).filter((file) => !isExcluded(file));
  const hashOf = (file: string) =>
    createHash('sha256')
      .update(readFileSync(join(root, file)))
      .digest('hex');
  for (const file of known.keys()) if (!files.includes(file)) known.delete(file);
  const unknown = files
    .filter((file) => isRequested(file) && known.get(file)?.hash !== hashOf(file))
    .toSorted();
  while (unknown.length > 0 && Date.now() < until) {
    const batch = unknown.splice(0, trialsAtOnce);
    const { results, hangs } = await copy.run(
      batch.map((file) => ({ file })),
      until,
    );
    for (const [index, { ms, failed, notes }] of results.entries()) {
      const file = batch[index] ?? '';
      if (failed) process.stdout.write(`${file} fails by itself: ${failed}\n`);
      const byGuard = Object.groupBy(notes, (note) => mutants[note.mutant]?.guard ?? '');
      known.set(file, {
        hash: hashOf(file),
        ms,
        fails: failed !== undefined,
        notes: byGuard as Reach['notes'],
      });
    }
    if (hangs) {
      // Like a file that fails, it proves nothing about a guard. The files after it run in the next process.
      const [file, ...remaining] = batch.slice(results.length);
      process.stdout.write(`${file ?? batch.at(-1)} does not end.\n`);
      if (file !== undefined) known.set(file, { hash: hashOf(file), ms: Number.NaN, fails: true, notes: {} });
      unknown.unshift(...remaining);
    }
    process.stdout.write(`The guards that ${known.size} of ${files.length} test files reach are known.\n`);
    mkdirSync(dirname(cachePath), { recursive: true });
    writeFileSync(cachePath, JSON.stringify([...known]));
  }
  return known;
}

/** Excludes fuzzers, whose findings vary, and tests of browsers, of documented commands and of the source's style, which are slow and find no guard. */
function isExcluded(file: string): boolean {
  return excluded.some((start) => file.startsWith(start));
}

const excluded = [
  'test/inputs/fuzz',
  'test/inputs/naughty',
  'test/pages/',
  'test/docs/',
  'test/contract/eslint',
  'test/contract/imports',
];
