/** How long one of the two numbers of requests is used at a time. */
const periodMs = 200;
/** The order in which the two numbers are used. It is symmetrical, so that a trend favors neither. A pause follows. */
const order = ['current', 'trial', 'trial', 'current', 'current', 'trial', 'trial', 'current'] as const;
const restingPeriods = 8;
/** Throughput may fall to this share in exchange for shorter times. Smaller differences are indistinguishable from chance. */
const minThroughputOfFewer = 0.95;
/** A larger number must raise throughput by this factor. */
const minThroughputOfMore = 1.08;
/** The factor by which the number on trial is smaller or larger. */
const trialFactor = 0.75;
/** An overload begins with this share of the largest number of requests in progress. */
const firstShare = 0.75;
/** Numbers below this share are not tried. */
const minShare = 0.25;

/**
 * Finds how many requests to handle at once in an overload: the smallest number with the same throughput. If the processor is the
 * bottleneck, fewer requests at once are each faster. Otherwise fewer requests mean less throughput. The current number is
 * compared with a number on trial, in alternation, because the throughput of a machine varies by more than the difference.
 */
export class AdaptiveConcurrency {
  readonly #max: number;
  readonly #min: number;
  #current: number;
  #trial: number;
  /** The number of periods since the comparison began. */
  #period = 0;
  #done = { current: 0, trial: 0 };
  #sinceMs: number | undefined;
  /** Whether the number on trial is the smaller one this time. */
  #triesFewer = true;

  constructor(max: number) {
    this.#max = max;
    this.#min = Math.ceil(max * minShare);
    this.#current = Math.ceil(max * firstShare);
    this.#trial = this.#nextTrial();
  }

  /** How many requests may be in progress. */
  get concurrency(): number {
    return this.#tried === 'current' ? this.#current : this.#trial;
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
    this.#current = Math.ceil(this.#max * firstShare);
    this.#triesFewer = true;
    this.#sinceMs = undefined;
    this.#compareNext();
  }

  get #tried(): 'current' | 'trial' {
    return order[this.#period] ?? 'current';
  }

  /** Adopts the number on trial if it is better, and then compares it with the next one at once. */
  #choose(): void {
    const { current, trial } = this.#done;
    const minThroughput = this.#trial < this.#current ? minThroughputOfFewer : minThroughputOfMore;
    const isBetter = trial >= current * minThroughput;
    if (isBetter) {
      this.#current = this.#trial;
      this.#compareNext();
    } else this.#triesFewer = !this.#triesFewer;
  }

  #compareNext(): void {
    this.#period = 0;
    this.#done = { current: 0, trial: 0 };
    this.#trial = this.#nextTrial();
  }

  #nextTrial(): number {
    const fewer = Math.max(Math.floor(this.#current * trialFactor), this.#min);
    const more = Math.min(Math.ceil(this.#current / trialFactor), this.#max);
    if (this.#current === this.#min) return more;
    return this.#triesFewer || this.#current === this.#max ? fewer : more;
  }
}
