import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const kept = join(import.meta.dirname, 'verdicts.json');

const late = '(timed out)';

/** By guard, the test file that fails without it, or the list of those that pass. */
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

  /** Whether an expectation of a test killed the mutant, and not a time-out. */
  isSure(guard: string): boolean {
    return this.isKilled(guard) && !this.#known[guard]?.includes(late);
  }

  addKill(guard: string, file: string, isLate: boolean): void {
    this.#change((known) => (known[guard] = isLate ? `${file} ${late}` : file));
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
    return `survived ${known.length > 0 ? known.join(' ') : 'since no test comes to it'}`;
  }

  #change(change: (known: Known) => void): void {
    this.#known = existsSync(kept) ? (JSON.parse(readFileSync(kept, 'utf8')) as Known) : {};
    change(this.#known);
    const there = Object.keys(this.#known)
      .filter((guard) => this.#guards.has(guard))
      .toSorted();
    const lines = there.map((guard) => `${JSON.stringify(guard)}: ${JSON.stringify(this.#known[guard])}`);
    writeFileSync(kept, `{\n${lines.join(',\n')}\n}\n`);
  }
}
