/** The number of deaths of workers within the time that ends the service. */
const maxDeaths = 5;
const withinMs = 60_000;

/** The pause after the second death within the time. It doubles with each further one. */
const defaultPauseMs = 1_000;

/** Decides when a worker that died is started again. */
export class CrashLoop {
  readonly #firstPauseMs: number;
  #deaths: number[] = [];

  constructor(firstPauseMs = defaultPauseMs) {
    this.#firstPauseMs = firstPauseMs;
  }

  /** Records a death. Returns the pause before the next start, or undefined when there were too many deaths to continue. */
  pauseAfterDeath(nowMs: number): number | undefined {
    this.#deaths = [...this.#deaths.filter((atMs) => nowMs - atMs < withinMs), nowMs];
    const { length } = this.#deaths;
    if (length >= maxDeaths) return undefined;
    return length === 1 ? 0 : this.#firstPauseMs * 2 ** (length - 2);
  }
}
