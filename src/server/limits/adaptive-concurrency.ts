/** How long one number of requests is tried before the other. */
const periodMs = 200;
/** The order in which the two numbers are tried, so that a trend favors neither. A pause follows. */
const order = [
  'current',
  'candidate',
  'candidate',
  'current',
  'current',
  'candidate',
  'candidate',
  'current',
] as const;
const restingPeriods = 8;
/** Throughput may fall to this share in exchange for shorter times. Smaller differences are indistinguishable from chance. */
const minThroughputOfFewer = 0.95;
/** A larger number must raise throughput by this factor. */
const minThroughputOfMore = 1.08;
/** The factor by which the candidate is smaller or larger. */
const step = 0.75;
/** An overload begins with this share of the largest number of requests in progress. */
const firstShare = 0.75;
/** Numbers below this share are not tried. */
const leastShare = 0.25;

/**
 * Finds how many requests to handle at once in an overload: the smallest number with the same throughput. If the processor is the
 * bottleneck, fewer requests at once are each faster. Otherwise fewer requests mean less throughput. The current number is
 * compared with a candidate in alternation, because the throughput of a machine varies by more than the difference.
 */
export class AdaptiveConcurrency {
  readonly #most: number;
  readonly #least: number;
  #current: number;
  #candidate: number;
  /** The number of periods since the comparison began. */
  #period = 0;
  #done = { current: 0, candidate: 0 };
  #sinceMs: number | undefined;
  /** Whether the candidate is the smaller number this time. */
  #triesFewer = true;

  constructor(most: number) {
    this.#most = most;
    this.#least = Math.ceil(most * leastShare);
    this.#current = Math.ceil(most * firstShare);
    this.#candidate = this.#nextCandidate();
  }

  /** How many requests may be in progress. */
  get concurrency(): number {
    return this.#tried === 'current' ? this.#current : this.#candidate;
  }

  /** Counts a completed request. */
  note(nowMs: number): void {
    this.#sinceMs ??= nowMs;
    this.#done[this.#tried] += 1;
    if (nowMs - this.#sinceMs < periodMs) return;
    this.#sinceMs = nowMs;
    this.#period += 1;
    if (this.#period === order.length) this.#choose();
    if (this.#period === order.length + restingPeriods) this.#compareNext();
  }

  /** The overload is over. */
  reset(): void {
    if (this.#sinceMs === undefined) return;
    this.#current = Math.ceil(this.#most * firstShare);
    this.#triesFewer = true;
    this.#sinceMs = undefined;
    this.#compareNext();
  }

  get #tried(): 'current' | 'candidate' {
    return order[this.#period] ?? 'current';
  }

  /** If the candidate is better, it is compared with the next one immediately. */
  #choose(): void {
    const { current, candidate } = this.#done;
    const minThroughput = this.#candidate < this.#current ? minThroughputOfFewer : minThroughputOfMore;
    const isBetter = candidate >= current * minThroughput;
    if (isBetter) {
      this.#current = this.#candidate;
      this.#compareNext();
    } else this.#triesFewer = !this.#triesFewer;
  }

  #compareNext(): void {
    this.#period = 0;
    this.#done = { current: 0, candidate: 0 };
    this.#candidate = this.#nextCandidate();
  }

  #nextCandidate(): number {
    const fewer = Math.max(Math.floor(this.#current * step), this.#least);
    const more = Math.min(Math.ceil(this.#current / step), this.#most);
    if (this.#current === this.#least) return more;
    return this.#triesFewer || this.#current === this.#most ? fewer : more;
  }
}
