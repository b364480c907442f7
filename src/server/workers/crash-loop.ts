/** So many deaths of workers within the time end the service. */
const mostDeaths = 5;
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

  /** Notes a death. Returns the pause before the next start, or undefined when there were too many deaths to go on. */
  pauseAfterDeath(nowMs: number): number | undefined {
    this.#deaths = [...this.#deaths.filter((atMs) => nowMs - atMs < withinMs), nowMs];
    const { length } = this.#deaths;
    if (length >= mostDeaths) return undefined;
    return length === 1 ? 0 : this.#firstPauseMs * 2 ** (length - 2);
  }
}
