import type { Logger } from 'pino';
import { RateLimitedError } from '../executor/challenge.ts';
import { defaultRates } from '../executor/limits.ts';
import type { QuotaState, RateLimit } from '../resolvers/context.ts';
import { MemoryBuckets } from './rate-limit-memory.ts';
import { RedisBuckets } from './rate-limit-redis.ts';

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

/** Counts what callers do: a token, or an address where there is no token. */
export class RateLimiter {
  readonly #quotas: Quotas;
  readonly #policy: string;
  readonly #buckets: Buckets;

  constructor(quotas: Quotas, buckets: Buckets) {
    this.#quotas = quotas;
    this.#buckets = buckets;
    this.#policy = [
      `"requests";q=${quotas.requests.limit};w=${quotas.requests.windowSeconds}`,
      `"cost";q=${quotas.cost.limit};w=${quotas.cost.windowSeconds};qu="objects"`,
    ].join(', ');
  }

  /** Takes one request; whether it was there is the allowance's to say, so that a refusal has the same headers. */
  async take(caller: string): Promise<Allowance> {
    const levels = await this.#buckets.take(caller);
    return new Allowance(this.#quotas, this.#policy, levels, (cost) => this.#buckets.charge(caller, cost));
  }

  close(): void {
    this.#buckets.close();
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
  return new RateLimiter(
    quotas,
    redisUrl === undefined ? memory : await RedisBuckets.open(redisUrl, quotas, memory, logger),
  );
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
    const { requests, cost } = this.#quotas;
    if (!this.#levels.granted) refuse(requests, this.#levels.requests, 'requests a minute');
    if (this.#levels.cost < 1) refuse(cost, this.#levels.cost, 'objects an hour');
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

function refuse(quota: Quota, level: number, what: string): never {
  const seconds = Math.max(secondsUntil(1, quota, level), 1);
  throw new RateLimitedError(
    `The quota of ${quota.limit.toLocaleString('en')} ${what} is used up: come back in ${seconds} s.`,
    seconds,
  );
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
