import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { MemoryBuckets } from '../../src/server/limits/rate-limit-memory.ts';
import { RedisBuckets } from '../../src/server/limits/rate-limit-redis.ts';
import { type Answer, type App, startApp } from '../support/app.ts';
import { openRedisProxy } from '../support/redis-proxy.ts';

const redisUrl = process.env.TEST_REDIS_URL;
const health = '{ health { status } }';
const codes = '{ codes { entries { code } } }';

/** The remaining quota of cost in the headers of an answer. */
function remainingCost({ headers }: Answer): number {
  return Number(/"cost";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
}

(redisUrl ? describe : describe.skip)('quotas in Redis (TEST_REDIS_URL)', () => {
  let app: App;
  /** Quotas that hardly refill during a test. */
  const settings = (url = redisUrl) => ({
    REQUESTS_PER_MINUTE: '1000',
    COST_PER_HOUR: '1000',
    REDIS_URL: `${url}/13`,
  });

  beforeAll(async () => {
    // The app connects to Redis directly: a proxy in this process would exceed the time limit on a busy machine.
    app = await startApp({ sharesDatabase: true, settings: settings() });
  });
  afterAll(() => app.stop());

  /** Sends cheap requests until the remaining quota satisfies the condition. */
  async function askUntil(isReached: (cost: number) => boolean, ask: () => Promise<Answer>): Promise<number> {
    for (;;) {
      const answer = await ask();
      expect(answer.status).toBe(200);
      if (isReached(remainingCost(answer))) return remainingCost(answer);
      await delay(100);
    }
  }

  it('refuse with the same message and headers as those in memory', async () => {
    const limitedApp = await startApp({
      sharesDatabase: true,
      settings: { ...settings(), REQUESTS_PER_MINUTE: '3' },
    });
    try {
      const answers: Answer[] = [];
      for (let n = 0; n < 5; n += 1) answers.push(await limitedApp.graphql(health));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429, 429]);
      const refused = answers.at(-1);
      expect(refused?.headers.get('retry-after')).toMatch(/^([1-9]|1\d|20)$/);
      expect(refused?.headers.get('ratelimit')).toMatch(/^"requests";r=0;t=\d+, "cost";r=99\d;t=\d$/);
      expect(refused?.headers.get('ratelimit-policy')).toContain('"requests";q=3;w=60');
    } finally {
      await limitedApp.stop();
    }
  });

  it('are charged by the returned objects, and can be in debt', async () => {
    const token = await app.tokenFor();
    const statuses: number[] = [];
    while (statuses.at(-1) !== 429 && statuses.length < 50) {
      statuses.push((await app.graphql(codes, {}, { token })).status);
    }
    expect(statuses.length).toBeGreaterThan(2);
    const refused = await app.request('GET', '/v1/teams', { token });
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
    expect(remainingCost(refused)).toBe(0);
  });

  it('are charged in debt too, for answers of one object as for those of several', async () => {
    const quota = { limit: 10, windowSeconds: 3_600 };
    const quotas = { requests: { name: 'requests', ...quota }, cost: { name: 'cost', ...quota } } as const;
    const alone = new MemoryBuckets(quotas);
    const shared = await RedisBuckets.open(`${redisUrl}/13`, quotas, alone, pino({ enabled: false }));
    try {
      const caller = randomUUID();
      const levels: (number | undefined)[] = [];
      for (const cost of [10, 1, 1, 1, 2]) levels.push(await shared.charge(caller, cost));
      expect(levels.map((level) => Math.floor(level ?? NaN))).toEqual([0, -1, -2, -3, -5]);
    } finally {
      shared.close();
    }
  });

  it('are shared by servers', async () => {
    const redis = new Redis(`${redisUrl}/13`);
    await redis.del('workgraph:requests:address:127.0.0.1', 'workgraph:cost:address:127.0.0.1');
    await redis.quit();
    const second = await startApp({ sharesDatabase: true, settings: settings() });
    try {
      // An address is the same caller on both servers, whose tokens differ.
      const none = { token: null };
      const { body } = await app.graphql(codes, {}, { ...none, headers: { 'x-graphql-cost': '1' } });
      const { actual } = (body.extensions ?? {}).cost as { actual: number };
      await askUntil(
        (cost) => cost < 1000 - actual + 10,
        () => second.graphql(health, {}, none),
      );
      await second.graphql(codes, {}, none);
      await askUntil(
        (cost) => cost < 1000 - 2 * actual + 20,
        () => app.graphql(health, {}, none),
      );
    } finally {
      await second.stop();
    }
  });

  it.each(['cut', 'silence'] as const)(
    'are counted by the process itself while Redis is gone (%s), and in Redis again when it is back',
    async (how) => {
      const proxy = await openRedisProxy(redisUrl ?? '');
      const proxiedApp = await startApp({ sharesDatabase: true, settings: settings(proxy.url) });
      try {
        const token = await proxiedApp.tokenFor();
        const ask = () => proxiedApp.graphql(health, {}, { token });
        await proxiedApp.graphql(codes, {}, { token });
        const shared = await askUntil((cost) => cost < 950, ask);
        await proxy[how]();
        // The process has not counted this caller before, so it starts with a full bucket and refuses nobody.
        expect(await askUntil((cost) => cost > shared + 20, ask)).toBeGreaterThan(980);
        const answers = await Promise.all(Array.from({ length: 20 }, ask));
        expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
        await proxy.restore();
        expect(await askUntil((cost) => cost < 950, ask)).toBeLessThan(950);
      } finally {
        await proxiedApp.stop();
        await proxy.cut();
      }
    },
  );

  it('do not keep a server from starting without Redis', async () => {
    const alone = await startApp({
      sharesDatabase: true,
      settings: { ...settings(), REDIS_URL: 'redis://127.0.0.1:1' },
    });
    try {
      expect(remainingCost(await alone.graphql(health))).toBe(999);
    } finally {
      await alone.stop();
    }
  });
});
