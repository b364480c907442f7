import type { Grant } from '../limits/leased-buckets.ts';
import { MemoryBuckets } from '../limits/rate-limit-memory.ts';
import type { Quotas } from '../limits/rate-limit.ts';

/** The maximum number of requests of a lease, and of all leases of a caller together as a fraction of its quota. */
const maxInLease = 10;
const leasedFraction = 1 / 20;

/** A caller gets leases while it has at least this fraction of both quotas left. */
const ampleFraction = 1 / 2;

/** The buckets of all callers, which the supervisor holds for its workers. */
export class QuotaLeases {
  readonly #quotas: Quotas;
  readonly #buckets: MemoryBuckets;
  readonly #further: number;

  constructor(quotas: Quotas, workers: number, now?: () => number) {
    this.#quotas = quotas;
    this.#buckets = new MemoryBuckets(quotas, now);
    const perWorker = Math.floor((quotas.requests.limit * leasedFraction) / workers);
    this.#further = Math.min(Math.max(perWorker, 1), maxInLease) - 1;
  }

  /** Takes one request, and further ones as a lease if the caller has much left. */
  take(caller: string, unused: number): Grant {
    this.giveBack(caller, unused);
    const levels = this.#buckets.take(caller);
    const { requests, cost } = this.#quotas;
    const isAmple =
      levels.requests >= requests.limit * ampleFraction && levels.cost >= cost.limit * ampleFraction;
    const further = isAmple ? Math.min(this.#further, Math.floor(levels.requests)) : 0;
    if (further > 0) this.#buckets.move(caller, further);
    return { ...levels, requests: levels.requests - further, further };
  }

  giveBack(caller: string, unused: number): void {
    if (unused > 0) this.#buckets.move(caller, -unused);
  }

  /** Charges costs, and returns the levels of the callers whose buckets are used up now. */
  charge(costs: readonly (readonly [caller: string, cost: number])[]): [caller: string, level: number][] {
    const levels = new Map(costs.map(([caller, cost]) => [caller, this.#buckets.charge(caller, cost)]));
    return [...levels].filter(([, level]) => level < 1);
  }
}
