/** How often it is judged by what was done. */
const periodMs = 1_000;
/** What is done may fall by so much for the sake of being done faster; less could not be told from chance. */
const worthwhile = 0.93;
/** The best that was ever done counts for less as time goes by: what is asked for changes. */
const fading = 0.99;
/** Below this share of the most that may be in progress nothing is tried. */
const leastShare = 0.25;

/**
 * How many requests are worth working on at once in an overload: as few as get as much done. Where the processor is
 * what they wait for, fewer at once are each done faster; where it is something else, fewer get less done, and the
 * number goes back up.
 */
export class Pace {
  readonly #most: number;
  #places: number;
  #sinceMs: number | undefined;
  #done = 0;
  #best = 0;

  constructor(most: number) {
    this.#most = most;
    this.#places = most;
  }

  /** How many may be in progress. */
  get places(): number {
    return this.#places;
  }

  /** Hears of each place that is given back. */
  note(nowMs: number): void {
    this.#sinceMs ??= nowMs;
    this.#done += 1;
    const passedMs = nowMs - this.#sinceMs;
    if (passedMs < periodMs) return;
    const perSecond = (this.#done * 1_000) / passedMs;
    this.#best = Math.max(this.#best * fading, perSecond);
    const isEnough = perSecond >= worthwhile * this.#best;
    const least = Math.ceil(this.#most * leastShare);
    // Up by more than down: so what more of them would get done is looked at again and again.
    this.#places = isEnough ? Math.max(this.#places - 1, least) : Math.min(this.#places + 2, this.#most);
    this.#sinceMs = nowMs;
    this.#done = 0;
  }

  /** The overload is over. */
  reset(): void {
    this.#places = this.#most;
    this.#sinceMs = undefined;
    this.#done = 0;
    this.#best = 0;
  }
}
