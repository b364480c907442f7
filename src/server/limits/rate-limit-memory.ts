import type { Buckets, Levels, Quota, Quotas } from './rate-limit.ts';
import { recentlyUsed } from './recently-used.ts';

/** How many callers are remembered. The least recently seen caller is forgotten first. */
const maxCallers = 100_000;

interface Bucket {
  requests: number;
  cost: number;
  atMs: number;
}

/**
 * Buckets in the memory of this process. They take a few microseconds of a request. rate-limiter-flexible would keep a
 * timer for each caller, would not limit the number of callers, and counts in fixed windows.
 */
export class MemoryBuckets implements Buckets {
  readonly #quotas: Quotas;
  readonly #now: () => number;
  readonly #callers;

  constructor(quotas: Quotas, now: () => number = () => performance.now(), limit = maxCallers) {
    this.#quotas = quotas;
    this.#now = now;
    this.#callers = recentlyUsed<Bucket>(limit);
  }

  take(caller: string): Levels {
    const held = this.#refill(caller);
    const granted = held.requests >= 1;
    if (granted) held.requests -= 1;
    return { granted, requests: held.requests, cost: held.cost };
  }

  charge(caller: string, cost: number): number {
    const held = this.#refill(caller);
    held.cost -= cost;
    return held.cost;
  }

  /** Takes several requests out of the bucket without checking its level, or puts some back if the number is negative. */
  move(caller: string, requests: number): void {
    const held = this.#refill(caller);
    held.requests = Math.min(held.requests - requests, this.#quotas.requests.limit);
  }

  close(): void {
    this.#callers.clear();
  }

  /** Fills the caller's buckets with what has come since they were last used. */
  #refill(caller: string): Bucket {
    const { requests, cost } = this.#quotas;
    const atMs = this.#now();
    let held = this.#callers.get(caller);
    if (!held) {
      held = { requests: requests.limit, cost: cost.limit, atMs };
      this.#callers.set(caller, held);
    }
    const seconds = (atMs - held.atMs) / 1_000;
    held.requests = levelAfter(requests, held.requests, seconds);
    held.cost = levelAfter(cost, held.cost, seconds);
    held.atMs = atMs;
    return held;
  }
}

/** The level of a bucket after `seconds` in which nothing was taken from it. */
export function levelAfter(
  { limit, windowSeconds }: Pick<Quota, 'limit' | 'windowSeconds'>,
  level: number,
  seconds: number,
): number {
  return Math.min(level + (seconds * limit) / windowSeconds, limit);
}
