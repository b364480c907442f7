import type { Logger } from 'pino';
import { RateLimitedError } from '../../executor/answers/challenge.ts';
import { defaultRates } from '../../executor/limits.ts';
import type { QuotaState, RateLimit } from '../../resolvers/context.ts';
import type { RefusalReason } from './refusals.ts';
import { LeasedBuckets, type LeaseLink } from './leased-buckets.ts';
import { quotasOf, type RateSettings } from './quotas.ts';
import { levelAfter, MemoryBuckets } from './rate-limit-memory.ts';
import { recentlyUsed } from './recently-used.ts';

/** A bucket that holds `limit` units and refills evenly within the window. */
export interface Quota {
  readonly name: 'requests' | 'cost';
  readonly limit: number;
  readonly windowSeconds: number;
}

/** The quotas of each caller, which are the same for GraphQL and REST. */
export interface Quotas {
  readonly requests: Quota;
  readonly cost: Quota;
}

/** The levels of a caller's buckets after a request was taken out. A debt is negative. */
export interface Levels {
  /** Whether there was a request left. */
  readonly granted: boolean;
  readonly requests: number;
  readonly cost: number;
}

/** The buckets of all callers. */
export interface Buckets {
  /** Takes one request out of the bucket of the caller, if there is one left. */
  take(caller: string): Levels | Promise<Levels>;
  /**
   * Charges the cost of an operation. If the bucket does not hold that much, the rest becomes a debt. Returns the level
   * afterwards; undefined where another process holds the bucket, because that process reports debts by itself.
   */
  charge(caller: string, cost: number): number | undefined | Promise<number | undefined>;
  close(): void;
}

/** How many callers without requests left are remembered, and how many without objects left. */
const maxExhausted = 10_000;

/** Counts requests and costs of callers. A caller is a token, or an address if there is no token. */
export class RateLimiter {
  readonly #quotas: Quotas;
  readonly #policy: string;
  readonly #buckets: Buckets;
  readonly #now: () => number;
  /** The callers without requests left: the levels of their buckets, and when they were read. */
  readonly #exhausted = recentlyUsed<{ levels: Levels; atMs: number }>(maxExhausted);
  /** The callers without objects left, by their own doing or that of other workers. */
  readonly #indebted = recentlyUsed<{ level: number; atMs: number }>(maxExhausted);

  constructor(quotas: Quotas, buckets: Buckets, now: () => number = () => performance.now()) {
    this.#quotas = quotas;
    this.#buckets = buckets;
    this.#now = now;
    this.#policy = [
      `"requests";q=${quotas.requests.limit};w=${quotas.requests.windowSeconds}`,
      `"cost";q=${quotas.cost.limit};w=${quotas.cost.windowSeconds};qu="objects"`,
    ].join(', ');
  }

  /** Counts one request. The returned allowance says whether it is refused, so that refusals have the same headers. */
  async take(caller: string): Promise<Allowance> {
    const levels = await this.#buckets.take(caller);
    if (!levels.granted) this.#exhausted.set(caller, { levels, atMs: this.#now() });
    this.noteObjectsLeft(caller, levels.cost);
    return this.#allowance(caller, levels);
  }

  /** Whether `exhausted` may return something. If not, callers need not be identified for it. */
  get hasExhausted(): boolean {
    return this.#exhausted.size > 0;
  }

  /**
   * The allowance of a caller who has no request left, without asking the buckets: their levels follow from the time alone.
   * Undefined when the caller may have a request left.
   */
  exhausted(caller: string): Allowance | undefined {
    const known = this.#exhausted.get(caller);
    if (!known) return undefined;
    const seconds = (this.#now() - known.atMs) / 1_000;
    const requests = levelAfter(this.#quotas.requests, known.levels.requests, seconds);
    if (requests >= 1) {
      this.#exhausted.delete(caller);
      return undefined;
    }
    const cost = levelAfter(this.#quotas.cost, known.levels.cost, seconds);
    return this.#allowance(caller, { granted: false, requests, cost });
  }

  /** Remembers whether the bucket of objects of a caller is used up. `level` is what it holds. */
  noteObjectsLeft(caller: string, level: number): void {
    if (level < 1) this.#indebted.set(caller, { level, atMs: this.#now() });
    else this.#indebted.delete(caller);
  }

  /** The refusal for a caller who is known to have no objects left; undefined for any other. */
  indebted(caller: string): RefusalReason | undefined {
    const known = this.#indebted.get(caller);
    if (!known) return undefined;
    const { cost: quota } = this.#quotas;
    const level = levelAfter(quota, known.level, (this.#now() - known.atMs) / 1_000);
    if (level < 1) return quotaRefusal(quota, level, 'objects an hour');
    this.#indebted.delete(caller);
    return undefined;
  }

  close(): void {
    this.#buckets.close();
  }

  #allowance(caller: string, levels: Levels): Allowance {
    return new Allowance(this.#quotas, this.#policy, levels, (cost) => void this.#charge(caller, cost));
  }

  async #charge(caller: string, cost: number): Promise<void> {
    const level = await this.#buckets.charge(caller, cost);
    if (level !== undefined) this.noteObjectsLeft(caller, level);
  }
}

/** Opens the rate limiter of a server: in memory, shared with other workers, or shared with other servers through Redis. */
export async function openRateLimiter(
  rates: RateSettings | undefined,
  redisUrl: string | undefined,
  logger: Logger,
  link?: LeaseLink,
): Promise<RateLimiter> {
  const quotas = quotasOf(rates ?? defaultRates);
  const memory = link ? new LeasedBuckets({ quotas, link, logger }) : new MemoryBuckets(quotas);
  if (redisUrl === undefined) return new RateLimiter(quotas, memory);
  // Loaded only if Redis is configured.
  const { RedisBuckets } = await import('./rate-limit-redis.ts');
  return new RateLimiter(quotas, await RedisBuckets.open(redisUrl, quotas, memory, logger));
}

/** The state of the caller's buckets for one request. */
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

  /** A sentence about the quota that was used up before this request; undefined when none was. */
  get overdrawn(): RefusalReason | undefined {
    const { requests, cost } = this.#quotas;
    if (!this.#levels.granted) return quotaRefusal(requests, this.#levels.requests, 'requests a minute');
    return this.#levels.cost < 1 ? quotaRefusal(cost, this.#levels.cost, 'objects an hour') : undefined;
  }

  /** Charges the cost of the operation when it is done. */
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

  /** The headers of draft-ietf-httpapi-ratelimit-headers-11. */
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
 * The caller for an address. An IPv6 address counts by the 64 bits of its network, because a client has all addresses in it.
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

/** Formats numbers. Created once, because a client over its quota may be refused a thousand times a second. */
const numberFormat = new Intl.NumberFormat('en');

function quotaRefusal(quota: Quota, level: number, unit: string): RefusalReason {
  const retryAfterSeconds = Math.max(secondsUntil(1, quota, level), 1);
  const message = `The quota of ${numberFormat.format(quota.limit)} ${unit} is used up: try again in ${retryAfterSeconds} s.`;
  return { code: 'rate_limited', message, retryAfterSeconds };
}

/** One item of the `RateLimit` header: what is left, and in how many seconds there is more. */
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
