import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Copy, Note } from './copy.ts';
import type { Mutant } from './find.ts';

/** What a test file does when every guard is there, by the guards' names. */
export interface Reach {
  /** Of the test's source: what was learnt holds as long as that does. */
  readonly hash: string;
  readonly ms: number;
  /** What fails without any change says nothing of one. */
  readonly fails: boolean;
  readonly notes: Readonly<Record<string, readonly Omit<Note, 'place'>[]>>;
}

/** How many trials one process runs: modules of past ones stay in its memory. */
export const trialsAtOnce = 40;

/** What each test file comes to; those asked for of which that is not known are run once, as long as there is time. */
export async function reachOf(
  copy: Copy,
  mutants: readonly Mutant[],
  root: string,
  { until, isAsked }: { until: number; isAsked: (file: string) => boolean },
): Promise<ReadonlyMap<string, Reach>> {
  const kept = join(root, 'node_modules/.cache/workgraph-mutants.json');
  const known = new Map<string, Reach>(existsSync(kept) ? JSON.parse(readFileSync(kept, 'utf8')) : []);
  const files = globSync('test/**/*.test.ts', { cwd: root }).filter((file) => !isLeftOut(file));
  const hashOf = (file: string) =>
    createHash('sha256')
      .update(readFileSync(join(root, file)))
      .digest('hex');
  for (const file of known.keys()) if (!files.includes(file)) known.delete(file);
  const unknown = files.filter((file) => isAsked(file) && known.get(file)?.hash !== hashOf(file)).toSorted();
  while (unknown.length > 0 && Date.now() < until) {
    const some = unknown.splice(0, trialsAtOnce);
    const { results, hangs } = await copy.run(
      some.map((file) => ({ file })),
      until,
    );
    for (const [place, { ms, failed, notes }] of results.entries()) {
      const file = some[place] ?? '';
      if (failed) process.stdout.write(`${file} fails by itself: ${failed}\n`);
      const byGuard = Object.groupBy(notes, (note) => mutants[note.place]?.guard ?? '');
      known.set(file, {
        hash: hashOf(file),
        ms,
        fails: failed !== undefined,
        notes: byGuard as Reach['notes'],
      });
    }
    if (hangs) throw new Error(`${some[results.length]} does not come to an end.`);
    process.stdout.write(`What ${known.size} of ${files.length} test files come to is known.\n`);
    mkdirSync(dirname(kept), { recursive: true });
    writeFileSync(kept, JSON.stringify([...known]));
  }
  return known;
}

/** What fuzzers find today they may miss tomorrow; browsers and the style of the source miss no guard, and are slow. */
function isLeftOut(file: string): boolean {
  return leftOut.some((start) => file.startsWith(start));
}

const leftOut = [
  'test/inputs/fuzz',
  'test/inputs/naughty',
  'test/pages/',
  'test/contract/eslint',
  'test/contract/imports',
];
