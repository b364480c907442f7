/** The number of deaths within the time that end the service, if each of them left no worker that answers. */
const maxDeaths = 5;
const withinMs = 60_000;

/** The pause after the second of several deaths. It doubles with each further one, up to a maximum. */
const defaultPauseMs = 1_000;
const maxPauseMs = 30_000;

/** Decides when a worker that died is started again. */
export class CrashLoop {
  readonly #firstPauseMs: number;
  /** The deaths of the last minute that left no worker. */
  #outages: number[] = [];
  /** The number of consecutive deaths, and the time from which another death starts a new series. */
  #inARow = 0;
  #calmAtMs = 0;

  constructor(firstPauseMs = defaultPauseMs) {
    this.#firstPauseMs = firstPauseMs;
  }

  /**
   * Records a death. Returns the pause before the next start, or undefined when too many deaths left no worker. As long as a
   * worker is left, the service continues, however many others cannot start.
   */
  pauseAfterDeath(nowMs: number, isOneLeft: boolean): number | undefined {
    this.#inARow = nowMs < this.#calmAtMs ? this.#inARow + 1 : 1;
    let pauseMs = this.#pauseAfter(this.#inARow);
    if (!isOneLeft) {
      this.#outages = [...this.#outages.filter((atMs) => nowMs - atMs < withinMs), nowMs];
      if (this.#outages.length >= maxDeaths) return undefined;
      // Earlier failures of other workers to start must not prolong an outage.
      pauseMs = this.#pauseAfter(this.#outages.length);
    }
    this.#calmAtMs = nowMs + pauseMs + withinMs;
    return pauseMs;
  }

  #pauseAfter(deaths: number): number {
    return deaths === 1 ? 0 : Math.min(this.#firstPauseMs * 2 ** (deaths - 2), maxPauseMs);
  }
}
