import type { Logger } from 'pino';
import { RateLimitedError } from '../../executor/challenge.ts';
import { defaultRates } from '../../executor/limits.ts';
import type { QuotaState, RateLimit } from '../../resolvers/context.ts';
import type { Refused } from '../http/early-refusal.ts';
import { filled, MemoryBuckets } from './rate-limit-memory.ts';
import { recentlyUsed } from './recently-used.ts';

/** A bucket that holds `limit` tokens and fills up evenly within the window. */
export interface Quota {
  readonly name: 'requests' | 'cost';
  readonly limit: number;
  readonly windowSeconds: number;
}

/** The quotas of each caller, the same on both faces. */
export interface Quotas {
  readonly requests: Quota;
  readonly cost: Quota;
}

/** What a caller's buckets hold after a request was taken out; a debt is negative. */
export interface Levels {
  /** Was there a request to take. */
  readonly granted: boolean;
  readonly requests: number;
  readonly cost: number;
}

/** Where the buckets of all callers are. */
export interface Buckets {
  /** Takes one request out of the caller's bucket, if there is one. */
  take(caller: string): Levels | Promise<Levels>;
  /** Takes what an operation gave back; beyond what is there it becomes a debt. */
  charge(caller: string, cost: number): void;
  close(): void;
}

interface RateSettings {
  readonly requestsPerMinute: number;
  readonly costPerHour: number;
}

/** How many callers without a request left are remembered. */
const maxExhausted = 10_000;

/** Counts what callers do: a token, or an address where there is no token. */
export class RateLimiter {
  readonly #quotas: Quotas;
  readonly #policy: string;
  readonly #buckets: Buckets;
  readonly #now: () => number;
  /** What callers had, and when, that had no request left. */
  readonly #exhausted = recentlyUsed<{ levels: Levels; atMs: number }>(maxExhausted);

  constructor(quotas: Quotas, buckets: Buckets, now: () => number = () => performance.now()) {
    this.#quotas = quotas;
    this.#buckets = buckets;
    this.#now = now;
    this.#policy = [
      `"requests";q=${quotas.requests.limit};w=${quotas.requests.windowSeconds}`,
      `"cost";q=${quotas.cost.limit};w=${quotas.cost.windowSeconds};qu="objects"`,
    ].join(', ');
  }

  /** Takes one request; whether it was there is the allowance's to say, so that a refusal has the same headers. */
  async take(caller: string): Promise<Allowance> {
    const levels = await this.#buckets.take(caller);
    if (!levels.granted) this.#remember(caller, levels);
    return this.#allowance(caller, levels);
  }

  /** May `exhausted` know of anybody: else nobody need be told apart for it. */
  get hasExhausted(): boolean {
    return this.#exhausted.size > 0;
  }

  /**
   * What a caller has who had no request left, for as long as none can have filled in: nobody else fills a bucket, so
   * nothing need be asked for that. Undefined when there may be one to take.
   */
  exhausted(caller: string): Allowance | undefined {
    const known = this.#exhausted.get(caller);
    if (!known) return undefined;
    const seconds = (this.#now() - known.atMs) / 1_000;
    const requests = filled(this.#quotas.requests, known.levels.requests, seconds);
    if (requests >= 1) {
      this.#exhausted.delete(caller);
      return undefined;
    }
    const cost = filled(this.#quotas.cost, known.levels.cost, seconds);
    return this.#allowance(caller, { granted: false, requests, cost });
  }

  close(): void {
    this.#buckets.close();
  }

  #allowance(caller: string, levels: Levels): Allowance {
    return new Allowance(this.#quotas, this.#policy, levels, (cost) => this.#buckets.charge(caller, cost));
  }

  #remember(caller: string, levels: Levels): void {
    this.#exhausted.set(caller, { levels, atMs: this.#now() });
  }
}

/** The limiter of a server: in memory, or shared with other processes through Redis. */
export async function openRateLimiter(
  { requestsPerMinute, costPerHour }: RateSettings = defaultRates,
  redisUrl: string | undefined,
  logger: Logger,
): Promise<RateLimiter> {
  const quotas: Quotas = {
    requests: { name: 'requests', limit: requestsPerMinute, windowSeconds: 60 },
    cost: { name: 'cost', limit: costPerHour, windowSeconds: 3_600 },
  };
  const memory = new MemoryBuckets(quotas);
  if (redisUrl === undefined) return new RateLimiter(quotas, memory);
  // Loaded by those alone who have one.
  const { RedisBuckets } = await import('./rate-limit-redis.ts');
  return new RateLimiter(quotas, await RedisBuckets.open(redisUrl, quotas, memory, logger));
}

/** What one request has found in its caller's buckets, and what it leaves there. */
export class Allowance implements RateLimit {
  readonly #quotas: Quotas;
  readonly #policy: string;
  readonly #levels: Levels;
  readonly #charge: (cost: number) => void;
  #spent = 0;

  constructor(quotas: Quotas, policy: string, levels: Levels, charge: (cost: number) => void) {
    this.#quotas = quotas;
    this.#policy = policy;
    this.#levels = levels;
    this.#charge = charge;
  }

  /** Throws `rate_limited` when a quota was used up before this request. */
  check(): void {
    const { overdrawn } = this;
    if (overdrawn) throw new RateLimitedError(overdrawn.message, overdrawn.retryAfterSeconds);
  }

  /** Which quota was used up before this request, in words; undefined when none was. */
  get overdrawn(): Refused | undefined {
    const { requests, cost } = this.#quotas;
    if (!this.#levels.granted) return refused(requests, this.#levels.requests, 'requests a minute');
    return this.#levels.cost < 1 ? refused(cost, this.#levels.cost, 'objects an hour') : undefined;
  }

  /** Takes what the operation gave back, after it. */
  charge(cost: number): void {
    if (cost === 0) return;
    this.#spent += cost;
    this.#charge(cost);
  }

  get requests(): QuotaState {
    return stateOf(this.#quotas.requests, this.#levels.requests);
  }

  get cost(): QuotaState {
    return stateOf(this.#quotas.cost, this.#costLevel());
  }

  /** By draft-ietf-httpapi-ratelimit-headers-11. */
  headers(): Record<string, string> {
    const { requests, cost } = this.#quotas;
    const limits = `${limitOf(requests, this.#levels.requests)}, ${limitOf(cost, this.#costLevel())}`;
    return { RateLimit: limits, 'RateLimit-Policy': this.#policy };
  }

  #costLevel(): number {
    return this.#levels.cost - this.#spent;
  }
}

export function callerOfToken(tokenId: string): string {
  return `token:${tokenId}`;
}

/**
 * Who an address is: addresses of IPv6 by the 64 bits of their network, of which one person has as many as he wants.
 */
export function callerOfAddress(address: string | undefined): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address ?? '')?.[1];
  if (mapped !== undefined || !address?.includes(':')) return `address:${mapped ?? address}`;
  const [head = '', tail = ''] = (address.split('%')[0] ?? '').split('::');
  const groups = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  const missing = Math.max(8 - groups.length - after.length, 0);
  const all = [...groups, ...Array.from({ length: missing }, () => '0'), ...after];
  return `address:${all.slice(0, 4).join(':')}::/64`;
}

/** Made once: who is greedy is refused a thousand times a second. */
const inWords = new Intl.NumberFormat('en');

function refused(quota: Quota, level: number, what: string): Refused {
  const retryAfterSeconds = Math.max(secondsUntil(1, quota, level), 1);
  const message = `The quota of ${inWords.format(quota.limit)} ${what} is used up: come back in ${retryAfterSeconds} s.`;
  return { code: 'rate_limited', message, retryAfterSeconds };
}

/** One item of the RateLimit field: what is left, and in how many seconds there is more. */
function limitOf(quota: Quota, level: number): string {
  const more = Math.min(Math.floor(Math.max(level, 0)) + 1, quota.limit);
  return `"${quota.name}";r=${Math.max(Math.floor(level), 0)};t=${secondsUntil(more, quota, level)}`;
}

function stateOf(quota: Quota, level: number): QuotaState {
  return {
    limit: quota.limit,
    remaining: Math.max(Math.floor(level), 0),
    resetUtc: new Date(Date.now() + secondsUntil(quota.limit, quota, level) * 1_000),
  };
}

function secondsUntil(wanted: number, { limit, windowSeconds }: Quota, level: number): number {
  return Math.max(Math.ceil(((wanted - level) * windowSeconds) / limit), 0);
}
