import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { candidatesFor } from './candidate-tests.ts';
import { Copy, type Trial } from './copy.ts';
import { findMutants, type Mutant } from './find.ts';
import { type Reach, reachOf, trialsAtOnce } from './reach.ts';
import { Verdicts } from './verdicts.ts';

// Switches off one guard of the source after the other, and runs the tests that should then fail. This happens in a copy in which
// every guard has a switch, so that one process can try many:
//   npm run mutants -- [--list] [--only tenant|scope|limit|check] [--match <expression for the name>] [--tests <beginning of a path>,…]
//                      [--files 12] [--minutes 3] [--again]
// Verdicts are stored in verdicts.json, by the text of the guard. Guards with a verdict are not tried again. With --again,
// those are tried that survived, or that only a time-out killed, which proves nothing on an overloaded machine. A mutant that no
// test detects is a survivor. The exit code is the number of survivors.
const { values: chosen } = parseArgs({
  options: {
    list: { type: 'boolean', default: false },
    only: { type: 'string' },
    match: { type: 'string' },
    tests: { type: 'string', default: 'test/' },
    /** A guard has survived once this many test files have passed without it. */
    files: { type: 'string', default: '12' },
    /** The time limit of the run. The rest is left to the next run. */
    minutes: { type: 'string', default: '600' },
    again: { type: 'boolean', default: false },
  },
});
const root = resolve(import.meta.dirname, '../..');
const until = Date.now() + Number(chosen.minutes) * 60_000;
const all = findMutants(root);
const mutants = all.filter(
  ({ kind, name }) => (!chosen.only || kind === chosen.only) && new RegExp(chosen.match ?? '').test(name),
);
const prefixes = chosen.tests.split(',');
const isRequested = (file: string) => prefixes.some((start) => file.startsWith(start));
const verdicts = new Verdicts(all.map(({ guard }) => guard));

if (chosen.list) {
  for (const { name, guard } of mutants) process.stdout.write(`${name}\n  ${verdicts.shown(guard)}\n`);
} else {
  const copy = new Copy();
  process.once('SIGTERM', () => process.exit(1)).once('SIGINT', () => process.exit(1));
  process.once('exit', () => copy.remove());
  await judgeAll(copy);
}

/** Runs trials in rounds: every mutant has its first trial before any has its second. */
async function judgeAll(copy: Copy): Promise<void> {
  await copy.make(root, all);
  const reach = await reachOf(copy, all, root, { until, isRequested });
  if (chosen.again) for (const { guard } of mutants) if (!verdicts.isSure(guard)) verdicts.forget(guard);
  for (let round = nextTrials(reach); round.length > 0; round = nextTrials(reach)) {
    while (round.length > 0) {
      const { results, hangs } = await copy.run(round.slice(0, trialsAtOnce), until);
      if (results.length === 0 && !hangs) return report();
      for (const trial of round.splice(0, results.length + Number(hangs))) {
        const { failed, failureMessage, ms } = results.shift() ?? { failed: 'hangs', ms: Number.NaN };
        const { name, guard } = trial.guard;
        if (failed === undefined) verdicts.addSurvival(guard, trial.file);
        else verdicts.addKill(guard, trial.file, /^hangs$|Exceeded timeout/.test(failureMessage ?? failed));
        process.stdout.write(
          `${name}\n  ${verdicts.shown(guard)}: ${failed ?? 'no test failed'} (${ms} ms)\n`,
        );
      }
    }
  }
  const knowsAll = chosen.tests === 'test/' && Date.now() < until;
  for (const mutant of mutants)
    if (knowsAll && candidatesFor(mutant, reach).length === 0) verdicts.addSurvival(mutant.guard);
  report();
}

function nextTrials(reach: ReadonlyMap<string, Reach>): (Trial & { guard: Mutant })[] {
  // Mutants that an earlier run has tried come after those that it has not.
  const ordered = mutants.toSorted(
    (one, other) => verdicts.survivals(one.guard) - verdicts.survivals(other.guard),
  );
  return ordered.flatMap((guard) => {
    if (verdicts.isKilled(guard.guard)) return [];
    const trial = candidatesFor(guard, reach)
      .filter(({ file }) => isRequested(file))
      .slice(0, Number(chosen.files))
      .find(({ file }) => !verdicts.hasSurvived(guard.guard, file));
    return trial ? [{ ...trial, guard, mutant: all.indexOf(guard) }] : [];
  });
}

function report(): void {
  const counts = Object.groupBy(mutants, ({ guard }) => verdicts.shown(guard).split(' ', 1)[0] ?? '');
  for (const [verdict, sameVerdict] of Object.entries(counts))
    process.stdout.write(`${sameVerdict?.length} ${verdict}\n`);
  process.exitCode = Math.min(counts.survived?.length ?? 0, 100);
}
