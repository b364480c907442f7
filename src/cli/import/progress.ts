import type { CommandEnvironment } from '../environment.ts';

/** How often progress is printed, without a terminal and in a terminal. */
const linesEveryMs = 5_000;
const barEveryMs = 100;
const maxBarWidth = 40;

/** Shows the progress of a long command: as a bar in a terminal, otherwise as a line every few seconds. */
export class Progress {
  readonly #env: Pick<CommandEnvironment, 'stderr' | 'isTerminal' | 'columns'>;
  readonly #total: number;
  #saidAtMs = performance.now();
  #isBarShown = false;

  constructor(env: Pick<CommandEnvironment, 'stderr' | 'isTerminal' | 'columns'>, total: number) {
    this.#env = env;
    this.#total = total;
  }

  /** Prints how much of the total is done, unless the last output was too recent. */
  update(done: number, words: string): void {
    const nowMs = performance.now();
    const everyMs = this.#env.isTerminal ? barEveryMs : linesEveryMs;
    if (nowMs - this.#saidAtMs < everyMs) return;
    this.#saidAtMs = nowMs;
    const share = this.#total > 0 ? Math.min(done / this.#total, 1) : 1;
    if (this.#env.isTerminal) this.#showBar(share, words);
    else this.#env.stderr(`${percent(share)}, ${words}\n`);
  }

  /** Prints a line of text, in place of the bar if there is one. */
  say(text: string): void {
    this.end();
    this.#env.stderr(`${text}\n`);
  }

  /** Removes the bar. */
  end(): void {
    if (this.#isBarShown) this.#env.stderr('\r\u001b[K');
    this.#isBarShown = false;
  }

  #showBar(share: number, words: string): void {
    const room = this.#env.columns - words.length - 10;
    const width = Math.max(0, Math.min(maxBarWidth, room));
    const filled = Math.round(share * width);
    const bar = width > 0 ? `[${'#'.repeat(filled)}${'-'.repeat(width - filled)}] ` : '';
    this.#env.stderr(
      `\r\u001b[K${`${bar}${percent(share).padStart(4)} ${words}`.slice(0, Math.max(1, this.#env.columns - 1))}`,
    );
    this.#isBarShown = true;
  }
}

function percent(share: number): string {
  return `${Math.floor(share * 100)}%`;
}
