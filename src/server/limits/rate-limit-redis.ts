import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { cutWhenSilent } from '../redis-silence.ts';
import type { Buckets, Levels, Quota, Quotas } from './rate-limit.ts';
import { withTimeout } from './with-timeout.ts';

/** How long a request may wait for Redis, and how long Redis is not tried after it has failed. */
const commandTimeoutMs = 50;
const retryMs = 1_000;

/** How long the start of a server waits for Redis. */
const connectTimeoutMs = 1_000;

/**
 * Buckets that several processes share in Redis. While Redis is unavailable, each process counts by itself, so that Redis
 * causes no refusal and few requests wait for it. This is logged once, and Redis is tried again every second.
 */
export class RedisBuckets implements Buckets {
  readonly #redis: Redis;
  readonly #requests: Limiter;
  readonly #cost: Limiter;
  readonly #local: Buckets;
  readonly #logger: Logger;
  #isUnavailable = false;
  #nextTryMs = 0;

  private constructor(redis: Redis, quotas: Quotas, local: Buckets, logger: Logger) {
    this.#redis = redis;
    this.#requests = new Limiter(redis, quotas.requests);
    this.#cost = new Limiter(redis, quotas.cost);
    this.#local = local;
    this.#logger = logger;
  }

  static async open(url: string, quotas: Quotas, local: Buckets, logger: Logger): Promise<RedisBuckets> {
    const redis = new Redis(url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: connectTimeoutMs,
      retryStrategy: () => retryMs,
    });
    const buckets = new RedisBuckets(redis, quotas, local, logger);
    redis.on('error', (error: unknown) => buckets.#countLocally(error));
    cutWhenSilent(redis, (error) => buckets.#countLocally(error));
    // The server starts without Redis too, which is tried again later.
    await withTimeout(connectTimeoutMs, buckets.#connect(), 'Redis').catch((error: unknown) =>
      buckets.#countLocally(error),
    );
    return buckets;
  }

  /** Connects, and makes a first call that loads the script into Redis before a request needs it. */
  async #connect(): Promise<void> {
    await this.#redis.connect();
    await this.#requests.take('start', 0);
  }

  async take(caller: string): Promise<Levels> {
    if (this.#skipsRedis()) return this.#local.take(caller);
    try {
      // Both calls are sent together and take one round trip.
      const [requests, cost] = await withTimeout(
        commandTimeoutMs,
        Promise.all([this.#requests.take(caller, 1), this.#cost.take(caller, 0)]),
        'Redis',
      );
      this.#countInRedis();
      return { granted: requests.granted, requests: requests.level, cost: cost.level };
    } catch (error) {
      this.#countLocally(error);
      return this.#local.take(caller);
    }
  }

  async charge(caller: string, cost: number): Promise<number | undefined> {
    if (this.#skipsRedis()) return this.#local.charge(caller, cost);
    try {
      return (await withTimeout(commandTimeoutMs, this.#cost.take(caller, cost), 'Redis')).level;
    } catch (error) {
      this.#countLocally(error);
      return this.#local.charge(caller, cost);
    }
  }

  close(): void {
    this.#redis.disconnect();
    this.#local.close();
  }

  /** While Redis is unavailable, one request per second tries it, and the others do not wait for the result. */
  #skipsRedis(): boolean {
    if (!this.#isUnavailable) return false;
    const nowMs = performance.now();
    if (nowMs < this.#nextTryMs) return true;
    this.#nextTryMs = nowMs + retryMs;
    return false;
  }

  #countLocally(error: unknown): void {
    if (!this.#isUnavailable) {
      this.#logger.warn({ err: error }, 'Redis does not answer: this process counts requests for itself');
    }
    // The other end of a silent connection may be gone, and one that refuses to write may have become a replica. A new connection
    // reaches the server that has the address now.
    if (this.#redis.status === 'ready') this.#redis.disconnect(true);
    this.#isUnavailable = true;
    this.#nextTryMs = performance.now() + retryMs;
  }

  #countInRedis(): void {
    if (this.#isUnavailable) this.#logger.info('Redis answers again: requests are counted together');
    this.#isUnavailable = false;
  }
}

const prefixOf = (name: Quota['name']) => `workgraph:${name}`;

/** One quota in Redis: rate-limiter-flexible with a script of our own, which replaces its fixed window by a bucket. */
class Limiter {
  readonly #limiter: RateLimiterRedis;
  readonly #perMs: number;

  constructor(redis: Redis, { name, limit, windowSeconds }: Quota) {
    this.#perMs = limit / windowSeconds / 1_000;
    this.#limiter = new RateLimiterRedis({
      storeClient: redis,
      keyPrefix: prefixOf(name),
      points: limit,
      duration: windowSeconds,
      rejectIfRedisNotReady: true,
      customIncrTtlLuaScript: bucketScript,
    });
  }

  async take(caller: string, tokens: number): Promise<{ granted: boolean; level: number }> {
    const { consumedPoints, msBeforeNext } = await this.#limiter
      .consume(caller, tokens)
      .catch((refusal: unknown) => {
        if (refusal instanceof RateLimiterRes) return refusal;
        throw refusal;
      });
    const level = msBeforeNext > 0 ? 1 - msBeforeNext * this.#perMs : this.#limiter.points - consumedPoints;
    return { granted: consumedPoints <= this.#limiter.points, level };
  }
}

/**
 * The script. It returns what rate-limiter-flexible expects: the points in use (more than all of them for a refusal), and the
 * milliseconds until the next one is available. A request is refused if none is left. The cost of an answer
 * is always charged. The time is that of Redis.
 */
const bucketScript = `
local taken, capacity, window = tonumber(ARGV[1]), tonumber(ARGV[3]), tonumber(ARGV[4]) * 1000
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local kept = redis.call('HMGET', KEYS[1], 'level', 'at')
local level = capacity
if kept[1] then
  level = math.min(capacity, tonumber(kept[1]) + math.max(0, now - tonumber(kept[2])) * capacity / window)
end
local isRequest = string.find(KEYS[1], '${prefixOf('requests')}:', 1, true) == 1
local refused = isRequest and taken > 0 and level < 1
if not refused and taken > 0 then
  level = level - taken
  redis.call('HSET', KEYS[1], 'level', string.format('%.6f', level), 'at', string.format('%.3f', now))
  redis.call('PEXPIRE', KEYS[1], math.ceil((capacity - level) * window / capacity) + 1000)
end
local wait = 0
if level < 1 then wait = math.ceil((1 - level) * window / capacity) end
local used = math.ceil(capacity - level)
if refused then used = capacity + 1 end
return { used, wait }
`;
