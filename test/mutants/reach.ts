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
  readonly notes: Readonly<Record<string, readonly Omit<Note, 'place'>[]>>;
}

/** The number of trials for one process, in whose memory the modules of past trials remain. */
export const trialsAtOnce = 40;

/** The guards that each test file reaches. Requested files without a cached result are run once, within the time. */
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
    if (hangs) {
      // It proves nothing about a guard, like a file that fails. Those behind it have their turn in the next process.
      const [file, ...behind] = some.slice(results.length);
      process.stdout.write(`${file ?? some.at(-1)} does not end.\n`);
      if (file !== undefined) known.set(file, { hash: hashOf(file), ms: Number.NaN, fails: true, notes: {} });
      unknown.unshift(...behind);
    }
    process.stdout.write(`The guards that ${known.size} of ${files.length} test files reach are known.\n`);
    mkdirSync(dirname(kept), { recursive: true });
    writeFileSync(kept, JSON.stringify([...known]));
  }
  return known;
}

/** Leaves out fuzzers, whose findings vary, and tests of browsers, of documented commands and of the source's style, which are slow and find no guard. */
function isLeftOut(file: string): boolean {
  return leftOut.some((start) => file.startsWith(start));
}

const leftOut = [
  'test/inputs/fuzz',
  'test/inputs/naughty',
  'test/pages/',
  'test/docs/',
  'test/contract/eslint',
  'test/contract/imports',
];
