/** How long one number of requests is tried before the other. */
const periodMs = 200;
/** The order in which the two numbers are tried, so that a trend favors neither. A pause follows. */
const turns = ['own', 'other', 'other', 'own', 'own', 'other', 'other', 'own'] as const;
const restingTurns = 8;
/** Throughput may fall by this much in exchange for shorter times. Smaller differences are indistinguishable from chance. */
const worthwhile = 0.95;
/** A larger number must raise throughput by this much. */
const worthMore = 1.08;
/** The factor by which the other number is smaller or larger. */
const step = 0.75;
/** An overload begins with this share of the largest number of requests in progress. */
const firstShare = 0.75;
/** Numbers below this share are not tried. */
const leastShare = 0.25;

/**
 * Finds how many requests to handle at once in an overload: the smallest number with the same throughput. If the processor is the
 * bottleneck, fewer requests at once are each faster. Otherwise fewer requests mean less throughput. The current number is
 * compared with another one in alternation, because the throughput of a machine varies by more than the difference.
 */
export class Pace {
  readonly #most: number;
  readonly #least: number;
  #own: number;
  #other: number;
  #turn = 0;
  #done = { own: 0, other: 0 };
  #sinceMs: number | undefined;
  /** Whether the other number is the smaller one this time. */
  #looksDown = true;

  constructor(most: number) {
    this.#most = most;
    this.#least = Math.ceil(most * leastShare);
    this.#own = Math.ceil(most * firstShare);
    this.#other = this.#next();
  }

  /** How many requests may be in progress. */
  get concurrency(): number {
    return this.#arm === 'own' ? this.#own : this.#other;
  }

  /** Counts a completed request. */
  note(nowMs: number): void {
    this.#sinceMs ??= nowMs;
    this.#done[this.#arm] += 1;
    if (nowMs - this.#sinceMs < periodMs) return;
    this.#sinceMs = nowMs;
    this.#turn += 1;
    if (this.#turn === turns.length) this.#choose();
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

  /** If the other number is better, it is compared with the next one immediately. */
  #choose(): void {
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
