/** How long one concurrency is tried before the other. */
const periodMs = 200;
/** Which of the two has which turn, so that neither gains by what changes meanwhile; then there is a rest. */
const turns = ['own', 'other', 'other', 'own', 'own', 'other', 'other', 'own'] as const;
const restingTurns = 8;
/** What is done may fall by so much for the sake of being done faster; less could not be told from chance. */
const worthwhile = 0.95;
/** More at once must get so much more done. */
const worthMore = 1.08;
/** The other number is by so much smaller or larger. */
const step = 0.75;
/** An overload begins with this share of the most that may be in progress. */
const firstShare = 0.75;
/** Below this share nothing is tried. */
const leastShare = 0.25;

/**
 * How many requests are worth working on at once in an overload: as few as get as much done. Where the processor is
 * what they wait for, fewer at once are each done faster; where it is something else, fewer get less done. Another
 * number is compared with its own by turns, since what a machine gets done changes by more than what is to be told.
 */
export class Pace {
  readonly #most: number;
  readonly #least: number;
  #own: number;
  #other: number;
  #turn = 0;
  #done = { own: 0, other: 0 };
  #sinceMs: number | undefined;
  /** Is the other number the smaller one, this time. */
  #looksDown = true;

  constructor(most: number) {
    this.#most = most;
    this.#least = Math.ceil(most * leastShare);
    this.#own = Math.ceil(most * firstShare);
    this.#other = this.#next();
  }

  /** How many may be in progress. */
  get concurrency(): number {
    return this.#arm === 'own' ? this.#own : this.#other;
  }

  /** Counts one request that is done. */
  note(nowMs: number): void {
    this.#sinceMs ??= nowMs;
    this.#done[this.#arm] += 1;
    if (nowMs - this.#sinceMs < periodMs) return;
    this.#sinceMs = nowMs;
    this.#turn += 1;
    if (this.#turn === turns.length) this.#judge();
    if (this.#turn === turns.length + restingTurns) this.#compare();
  }

  /** The overload is over. */
  reset(): void {
    if (this.#sinceMs === undefined) return;
    this.#own = Math.ceil(this.#most * firstShare);
    this.#looksDown = true;
    this.#sinceMs = undefined;
    this.#compare();
  }

  get #arm(): 'own' | 'other' {
    return turns[this.#turn] ?? 'own';
  }

  /** Where the other number is better, it is compared with the next one at once. */
  #judge(): void {
    const { own, other } = this.#done;
    const isBetter = other >= own * (this.#other < this.#own ? worthwhile : worthMore);
    if (isBetter) {
      this.#own = this.#other;
      this.#compare();
    } else this.#looksDown = !this.#looksDown;
  }

  #compare(): void {
    this.#turn = 0;
    this.#done = { own: 0, other: 0 };
    this.#other = this.#next();
  }

  #next(): number {
    const fewer = Math.max(Math.floor(this.#own * step), this.#least);
    const more = Math.min(Math.ceil(this.#own / step), this.#most);
    if (this.#own === this.#least) return more;
    return this.#looksDown || this.#own === this.#most ? fewer : more;
  }
}
