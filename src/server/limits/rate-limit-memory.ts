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
 * Buckets in the memory of this process. They take a few microseconds of each request. rate-limiter-flexible is not used, because it keeps a timer
 * for each caller, does not limit the number of callers, and counts in fixed windows.
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
    const bucket = this.#refill(caller);
    const granted = bucket.requests >= 1;
    if (granted) bucket.requests -= 1;
    return { granted, requests: bucket.requests, cost: bucket.cost };
  }

  charge(caller: string, cost: number): number {
    const bucket = this.#refill(caller);
    bucket.cost -= cost;
    return bucket.cost;
  }

  /** Takes several requests out of the bucket without checking its level, or puts some back if the number is negative. */
  move(caller: string, requests: number): void {
    const bucket = this.#refill(caller);
    bucket.requests = Math.min(bucket.requests - requests, this.#quotas.requests.limit);
  }

  close(): void {
    this.#callers.clear();
  }

  /** Refills the caller's buckets for the time since they were last used. */
  #refill(caller: string): Bucket {
    const { requests, cost } = this.#quotas;
    const atMs = this.#now();
    let bucket = this.#callers.get(caller);
    if (!bucket) {
      bucket = { requests: requests.limit, cost: cost.limit, atMs };
      this.#callers.set(caller, bucket);
    }
    const seconds = (atMs - bucket.atMs) / 1_000;
    bucket.requests = levelAfter(requests, bucket.requests, seconds);
    bucket.cost = levelAfter(cost, bucket.cost, seconds);
    bucket.atMs = atMs;
    return bucket;
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
