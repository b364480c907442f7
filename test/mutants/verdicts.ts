import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const verdictsPath = join(import.meta.dirname, 'verdicts.json');

const timedOut = '(timed out)';

/** For each guard, the test file that fails without it, or the list of those that pass. */
type Known = Record<string, string | string[]>;

/** The verdict of each guard, in a file to which several runs may write. */
export class Verdicts {
  readonly #guards: ReadonlySet<string>;
  #known: Known = {};

  /** Drops the verdicts of guards that no longer exist. */
  constructor(guards: Iterable<string>) {
    this.#guards = new Set(guards);
    this.#change(() => {});
  }

  isKilled(guard: string): boolean {
    return typeof this.#known[guard] === 'string';
  }

  hasSurvived(guard: string, file: string): boolean {
    return this.#known[guard]?.includes(file) ?? false;
  }

  /** The number of test files that have passed without the guard. */
  survivals(guard: string): number {
    const known = this.#known[guard];
    return Array.isArray(known) ? known.length : 0;
  }

  /** Whether a failed assertion killed the mutant, and not a time-out. */
  isSure(guard: string): boolean {
    return this.isKilled(guard) && !this.#known[guard]?.includes(timedOut);
  }

  addKill(guard: string, file: string, isTimeout: boolean): void {
    this.#change((known) => (known[guard] = isTimeout ? `${file} ${timedOut}` : file));
  }

  /** Records that one more test file has passed without the guard, or all of them if none reaches it. */
  addSurvival(guard: string, file?: string): void {
    this.#change((known) => (known[guard] = [known[guard] ?? [], file ?? []].flat()));
  }

  forget(guard: string): void {
    this.#change((known) => delete known[guard]);
  }

  shown(guard: string): string {
    const known = this.#known[guard];
    if (known === undefined) return 'unknown';
    if (typeof known === 'string') return `killed by ${known}`;
    return `survived ${known.length > 0 ? known.join(' ') : 'since no test reaches it'}`;
  }

  #change(change: (known: Known) => void): void {
    this.#known = existsSync(verdictsPath) ? (JSON.parse(readFileSync(verdictsPath, 'utf8')) as Known) : {};
    change(this.#known);
    const existing = Object.keys(this.#known)
      .filter((guard) => this.#guards.has(guard))
      .toSorted();
    const lines = existing.map((guard) => `${JSON.stringify(guard)}: ${JSON.stringify(this.#known[guard])}`);
    writeFileSync(verdictsPath, `{\n${lines.join(',\n')}\n}\n`);
  }
}
