import type { Buckets, Levels, Quota, Quotas } from './rate-limit.ts';

/** How many callers are remembered; the one that was not seen for longest is forgotten first. */
const maxCallers = 100_000;

interface Held {
  requests: number;
  cost: number;
  atMs: number;
}

/**
 * Buckets in the memory of this process. By hand, where rate-limiter-flexible would keep a timer for each caller, as
 * many callers as come, and fixed windows instead of buckets: this adds a few microseconds to a request.
 */
export class MemoryBuckets implements Buckets {
  readonly #quotas: Quotas;
  readonly #now: () => number;
  readonly #maxCallers: number;
  readonly #callers = new Map<string, Held>();

  constructor(quotas: Quotas, now: () => number = () => performance.now(), most = maxCallers) {
    this.#quotas = quotas;
    this.#now = now;
    this.#maxCallers = most;
  }

  take(caller: string): Levels {
    const held = this.#filled(caller);
    const granted = held.requests >= 1;
    if (granted) held.requests -= 1;
    return { granted, requests: held.requests, cost: held.cost };
  }

  charge(caller: string, cost: number): void {
    const held = this.#filled(caller);
    held.cost -= cost;
  }

  close(): void {
    this.#callers.clear();
  }

  /** The caller's buckets as they are now; they move to the end of the map, whose order is that of last use. */
  #filled(caller: string): Held {
    const { requests, cost } = this.#quotas;
    const atMs = this.#now();
    const held = this.#callers.get(caller) ?? { requests: requests.limit, cost: cost.limit, atMs };
    const seconds = (atMs - held.atMs) / 1_000;
    held.requests = filled(requests, held.requests, seconds);
    held.cost = filled(cost, held.cost, seconds);
    held.atMs = atMs;
    this.#callers.delete(caller);
    this.#callers.set(caller, held);
    if (this.#callers.size > this.#maxCallers) {
      for (const oldest of this.#callers.keys()) {
        this.#callers.delete(oldest);
        break;
      }
    }
    return held;
  }
}

/** What a bucket holds after so many seconds in which nothing was taken. */
export function filled(
  { limit, windowSeconds }: Pick<Quota, 'limit' | 'windowSeconds'>,
  level: number,
  seconds: number,
): number {
  return Math.min(level + (seconds * limit) / windowSeconds, limit);
}
