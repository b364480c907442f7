import { Redis } from 'ioredis';
import type { Logger } from 'pino';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { Buckets, Levels, Quota, Quotas } from './rate-limit.ts';

/** How long a request may wait for Redis, and how long Redis is left alone after it has failed. */
const commandTimeoutMs = 50;
const restMs = 1_000;

/** How long a start waits for Redis. */
const connectTimeoutMs = 1_000;

/**
 * Buckets that processes share. While Redis is gone each process counts for itself, so that nobody is refused for it
 * and hardly anybody waits: it is said once in the log, and Redis is tried again once a second.
 */
export class RedisBuckets implements Buckets {
  readonly #redis: Redis;
  readonly #requests: Limiter;
  readonly #cost: Limiter;
  readonly #alone: Buckets;
  readonly #logger: Logger;
  #gone = false;
  #nextTryMs = 0;

  private constructor(redis: Redis, quotas: Quotas, alone: Buckets, logger: Logger) {
    this.#redis = redis;
    this.#requests = new Limiter(redis, quotas.requests);
    this.#cost = new Limiter(redis, quotas.cost);
    this.#alone = alone;
    this.#logger = logger;
  }

  static async open(url: string, quotas: Quotas, alone: Buckets, logger: Logger): Promise<RedisBuckets> {
    const redis = new Redis(url, {
      lazyConnect: true,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      connectTimeout: connectTimeoutMs,
      retryStrategy: () => restMs,
    });
    const buckets = new RedisBuckets(redis, quotas, alone, logger);
    redis.on('error', (error: unknown) => buckets.#leave(error));
    // A Redis that is not there does not keep the server from starting; it is tried again.
    await within(connectTimeoutMs, buckets.#connect()).catch((error: unknown) => buckets.#leave(error));
    return buckets;
  }

  /** With a first look, so that Redis knows the script before a request needs it. */
  async #connect(): Promise<void> {
    await this.#redis.connect();
    await this.#requests.take('start', 0);
  }

  async take(caller: string): Promise<Levels> {
    if (this.#isResting()) return this.#alone.take(caller);
    try {
      // Sent together, so that they take one round trip.
      const [requests, cost] = await within(
        commandTimeoutMs,
        Promise.all([this.#requests.take(caller, 1), this.#cost.take(caller, 0)]),
      );
      this.#comeBack();
      return { granted: requests.granted, requests: requests.level, cost: cost.level };
    } catch (error) {
      this.#leave(error);
      return this.#alone.take(caller);
    }
  }

  charge(caller: string, cost: number): void {
    if (this.#isResting()) return this.#alone.charge(caller, cost);
    within(commandTimeoutMs, this.#cost.take(caller, cost)).catch((error: unknown) => {
      this.#leave(error);
      this.#alone.charge(caller, cost);
    });
  }

  close(): void {
    this.#redis.disconnect();
    this.#alone.close();
  }

  /** While Redis is gone one request in a while tries it; the others do not wait for what comes of that. */
  #isResting(): boolean {
    if (!this.#gone) return false;
    const nowMs = performance.now();
    if (nowMs < this.#nextTryMs) return true;
    this.#nextTryMs = nowMs + restMs;
    return false;
  }

  #leave(error: unknown): void {
    if (!this.#gone) {
      this.#logger.warn({ err: error }, 'Redis does not answer: this process counts requests for itself');
    }
    // A connection that is silent may be to nobody: another is opened, instead of waiting for TCP to give this one up.
    if (error instanceof LateError) this.#redis.disconnect(true);
    this.#gone = true;
    this.#nextTryMs = performance.now() + restMs;
  }

  #comeBack(): void {
    if (this.#gone) this.#logger.info('Redis answers again: requests are counted together');
    this.#gone = false;
  }
}

class LateError extends Error {}

/** By hand, since a timeout of ioredis would also end the greeting of a connection that is slow to come up. */
function within<Result>(ms: number, promise: Promise<Result>): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const giveUp = () => reject(new LateError(`Redis did not answer within ${ms} ms.`));
  // After what has come in meanwhile: this process may be the one that was late.
  const timer = setTimeout(() => setImmediate(giveUp), ms);
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** One quota in Redis, through rate-limiter-flexible with a script that makes a bucket of its fixed window. */
class Limiter {
  readonly #limiter: RateLimiterRedis;
  readonly #perMs: number;

  constructor(redis: Redis, { name, limit, windowSeconds }: Quota) {
    this.#perMs = limit / windowSeconds / 1_000;
    this.#limiter = new RateLimiterRedis({
      storeClient: redis,
      keyPrefix: `workgraph:${name}`,
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
 * Gives what rate-limiter-flexible expects: the points in use, more than all of them for a refusal, and how many
 * milliseconds until there is one to take. A single token is not taken when there is none; more than one is the cost of
 * what has been answered, which is taken all the same. The clock is that of Redis.
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
local refused = taken == 1 and level < 1
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
