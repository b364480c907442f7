import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Mutant, GuardEvent } from './find.ts';

/** One run of a test file with one guard switched off. */
export interface Trial {
  readonly file: string;
  /** The index of the guard that is switched off, if any. */
  readonly mutant?: number;
  /** The last test that reaches the guard. Later tests are skipped. */
  readonly last?: string;
}

/** The result of a trial. */
export interface TrialResult {
  readonly ms: number;
  /** The name of the test that failed. No test runs after it. */
  readonly failed?: string;
  readonly failureMessage?: string;
  readonly notes: readonly Note[];
}

/** The first and the last test of a file that reached a guard. */
export interface Note {
  /** The index of the guard. */
  readonly mutant: number;
  readonly how: GuardEvent;
  readonly first: string;
  readonly last: string;
  /** The time from the start of the file to the end of the first such test. */
  readonly ms: number;
}

/** A trial without output for this long counts as hanging. */
const hangMs = 300_000;

/** A copy of the repository in which each guard has a switch. */
export class Copy {
  readonly #directory = mkdtempSync(join(tmpdir(), 'workgraph-mutants-'));
  readonly #notes = join(this.#directory, '.workgraph');
  #running: ChildProcess | undefined;

  async make(root: string, mutants: readonly Mutant[]): Promise<void> {
    for (const name of copied) cpSync(join(root, name), join(this.#directory, name), { recursive: true });
    const links = ['-al', join(root, 'node_modules'), join(this.#directory, 'node_modules')];
    await ended(spawn('cp', links, { stdio: 'inherit' }));
    mkdirSync(this.#notes);
    for (const [file, guards] of Map.groupBy(mutants.entries(), ([, { file }]) => file)) {
      const path = join(this.#directory, file);
      // Imported first, so that the switches exist wherever the source runs, in a test or in a process that a test starts.
      const first = `import '${join(this.#directory, 'test/mutants/switch.ts')}'; `;
      writeFileSync(path, first + withSwitches(readFileSync(path, 'utf8'), guards));
    }
  }

  /** Removes the copy, and ends its running processes. */
  remove(): void {
    if (this.#running?.pid !== undefined) killGroup(this.#running.pid);
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /**
   * Runs trials one after the other in one process. Returns the results of those that have run. Trials after one that hangs
   * do not run, nor do those for which no time is left.
   */
  async run(trials: readonly Trial[], until: number): Promise<{ results: TrialResult[]; hangs: boolean }> {
    const results = join(this.#notes, 'results');
    rmSync(results, { force: true });
    writeFileSync(join(this.#notes, 'trials'), JSON.stringify(trials));
    const files = [...new Set(trials.map(({ file }) => file))];
    const args = ['--config', 'test/mutants/jest.config.js', '--runInBand', '--silent', '--runTestsByPath'];
    const child = spawn('npm', ['test', '--', ...args, ...files], {
      cwd: this.#directory,
      stdio: process.env.DEBUG ? 'inherit' : 'ignore',
      detached: true,
      env: {
        ...process.env,
        // jest needs this to run each trial in a context of its own, which loads the modules again.
        NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --experimental-vm-modules`.trim(),
        MUTANTS_NOTES: this.#notes,
        MUTANTS_UNTIL: String(until),
      },
    });
    this.#running = child;
    const read = () => (existsSync(results) ? readFileSync(results, 'utf8').trim().split('\n') : []);
    let [seen, at, hangs] = [0, Date.now(), false];
    const watch = setInterval(() => {
      const count = read().length;
      if (count > seen) [seen, at] = [count, Date.now()];
      hangs = Date.now() - at > hangMs;
      if (hangs && child.pid !== undefined) killGroup(child.pid);
    }, 1_000);
    await ended(child);
    clearInterval(watch);
    this.#running = undefined;
    return { results: read().map((line) => JSON.parse(line) as TrialResult), hangs };
  }
}

/** Puts a switch around each guard. Guards may be nested. */
function withSwitches(text: string, guards: Iterable<readonly [number, Mutant]>): string {
  const edits = [...guards].flatMap(([index, { start, end, switched }]) => {
    const [before, after] = switched((how = 'refused') => `globalThis.guardIsOn(${index}, '${how}')`);
    return [
      { at: start, put: before, order: -end },
      { at: end, put: after, order: -start - text.length },
    ];
  });
  let changed = text;
  for (const { at, put } of edits.toSorted((one, other) => other.at - one.at || other.order - one.order))
    changed = changed.slice(0, at) + put + changed.slice(at);
  return changed;
}

const copied = [
  'src',
  'test',
  'migrations',
  'docs',
  'bin',
  'bench',
  'demo',
  '.ci',
  'LICENSE',
  'README.md',
  'CONTRIBUTING.md',
  '.oxlintrc.json',
  'biome.json',
  'package.json',
  'package-lock.json',
  'jest.config.js',
  'tsconfig.json',
  'tsconfig.build.json',
  'build.ts',
  'schema.graphql',
  'openapi.json',
  'codegen.ts',
];

function ended(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve) => child.once('exit', resolve));
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The process has ended already.
  }
}
