import { EventEmitter, once } from 'node:events';
import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import { quotasOf } from '../../src/server/limits/quotas.ts';
import { MemoryBuckets } from '../../src/server/limits/rate-limit-memory.ts';
import { RedisBuckets } from '../../src/server/limits/rate-limit-redis.ts';
import { eventually } from '../support/eventually.ts';
import { hasRedisProgram, type OwnRedis, startRedis } from '../support/own-redis.ts';
import { openRedisProxy } from '../support/redis-proxy.ts';

const quotas = quotasOf({ requestsPerMinute: 1_000_000, costPerHour: 1_000 });
const aloneMessage = 'Redis does not answer: this process counts requests for itself';
const togetherMessage = 'Redis answers again: requests are counted together';
const key = 'workgraph:requests:somebody';

function open(url: string, log: EventEmitter): Promise<RedisBuckets> {
  const logger = pino(
    {},
    { write: (line: string) => void log.emit((JSON.parse(line) as { msg: string }).msg) },
  );
  return RedisBuckets.open(url, quotas, new MemoryBuckets(quotas), logger);
}

/** Takes requests until one is counted in Redis: on a busy machine, the first may time out. */
async function takeUntilCounted(buckets: RedisBuckets, { client }: OwnRedis): Promise<void> {
  await eventually(async () => {
    await buckets.take('somebody');
    return (await client.exists(key)) === 1;
  });
}

/** Takes requests until this is logged, and expects that all are granted. */
async function takeUntil(buckets: RedisBuckets, logged: Promise<unknown>): Promise<void> {
  let isOver = false;
  void logged.then(() => {
    isOver = true;
  });
  await eventually(async () => {
    expect((await buckets.take('somebody')).granted).toBe(true);
    return isOver;
  });
}

const onRedis = hasRedisProgram ? it : it.skip;

onRedis('quotas follow the address of Redis when the server behind it becomes a replica', async () => {
  const [old, other] = [await startRedis(), await startRedis()];
  const proxy = await openRedisProxy(old.url);
  const log = new EventEmitter();
  const buckets = await open(proxy.url, log);
  try {
    await takeUntilCounted(buckets, old);
    await old.client.replicaof('127.0.0.1', Number(new URL(other.url).port));
    proxy.redirect(other.url);
    await takeUntil(buckets, once(log, togetherMessage));
    expect(await other.client.exists(key)).toBe(1);
  } finally {
    buckets.close();
    await proxy.cut();
    await Promise.all([old.stop(), other.stop()]);
  }
});

onRedis('quotas are counted in Redis again after it was silent on two connections in a row', async () => {
  const redis = await startRedis();
  const proxy = await openRedisProxy(redis.url);
  const log = new EventEmitter();
  const buckets = await open(proxy.url, log);
  try {
    await takeUntilCounted(buckets, redis);
    const before = proxy.opened();
    const disconnected = once(log, aloneMessage);
    proxy.silence();
    await takeUntil(buckets, disconnected);
    await eventually(() => proxy.opened() > before);
    await proxy.restore();
    await takeUntil(buckets, once(log, togetherMessage));
  } finally {
    buckets.close();
    await proxy.cut();
    await redis.stop();
  }
});
