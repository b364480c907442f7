import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { callerOfAddress, RateLimiter } from '../../src/server/limits/rate-limit.ts';
import { MemoryBuckets } from '../../src/server/limits/rate-limit-memory.ts';
import { type Answer, type App, startApp } from '../support/app.ts';

/** One request every 20 seconds after the first three, and a thousand objects an hour. */
const settings = { REQUESTS_PER_MINUTE: '3', COST_PER_HOUR: '1000' };
const modern = 'application/graphql-response+json';
const health = '{ health { status } }';

let app: App;
beforeAll(async () => {
  app = await startApp({ sharesDatabase: true, settings });
});
afterAll(() => app.stop());

/** The remainder of a quota in the headers of an answer. */
function quotaLeft({ headers }: Answer, quota: 'requests' | 'cost'): { r: number; t: number } {
  const [, r, t] = new RegExp(`"${quota}";r=(\\d+);t=(\\d+)`).exec(headers.get('ratelimit') ?? '') ?? [];
  return { r: Number(r), t: Number(t) };
}

describe('a token', () => {
  it('has one quota of requests for both APIs, and is then answered 429 by either', async () => {
    const token = await app.tokenFor();
    const first = await app.request('GET', '/v1/teams?page_size=1', { token });
    expect(first.status).toBe(200);
    expect(first.headers.get('ratelimit-policy')).toBe(
      '"requests";q=3;w=60, "cost";q=1000;w=3600;qu="objects"',
    );
    expect(quotaLeft(first, 'requests')).toEqual({ r: 2, t: 20 });
    const second = await app.graphql(health, {}, { token });
    expect(quotaLeft(second, 'requests').r).toBe(1);
    // A request that is refused after it was counted also has the headers of the quota.
    const third = await app.request('GET', '/v1/teams?page_size=0', { token });
    expect(third.status).toBe(400);
    expect(quotaLeft(third, 'requests').r).toBe(0);

    const rest = await app.request('GET', '/v1/teams', { token });
    expect(rest).toMatchObject({
      status: 429,
      statements: 0,
      body: {
        type: 'about:blank',
        title: 'Rate limited',
        status: 429,
        code: 'rate_limited',
        detail: expect.stringMatching(/^The quota of 3 requests a minute is used up: try again in \d+ s\.$/),
        errors: [],
      },
    });
    expect(rest.headers.get('content-type')).toContain('application/problem+json');
    const retryAfter = Number(rest.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThan(0);
    expect(retryAfter).toBeLessThanOrEqual(20);
    expect(quotaLeft(rest, 'requests').r).toBe(0);
    expect(rest.headers.get('ratelimit-policy')).toBe(first.headers.get('ratelimit-policy'));
    for (const accept of ['application/json', modern]) {
      const graphql = await app.graphql(health, {}, { token, headers: { accept } });
      expect(graphql.status).toBe(429);
      expect(graphql.headers.get('content-type')).toContain(accept);
      expect(graphql.headers.get('retry-after')).toMatch(/^([1-9]|1\d|20)$/);
      expect(graphql.body).toMatchObject({ errors: [{ extensions: { code: 'RATE_LIMITED' } }] });
      expect(graphql.body).not.toHaveProperty('data');
    }
  });

  it('does not use the quota of another token of the same member', async () => {
    const [busy, quiet] = [await app.tokenFor(), await app.tokenFor()];
    for (let n = 0; n < 4; n += 1) await app.graphql(health, {}, { token: busy });
    expect((await app.graphql(health, {}, { token: busy })).status).toBe(429);
    expect((await app.graphql(health, {}, { token: quiet })).status).toBe(200);
  });

  it('is refused in the order of the contract: after 404 and 405, before 403, 413, 415 and 400', async () => {
    const token = await app.tokenFor({ scopes: ['teams:read'] });
    for (let n = 0; n < 3; n += 1) await app.graphql(health, {}, { token });
    const statusOf = async (...request: Parameters<App['request']>) => (await app.request(...request)).status;
    expect(await statusOf('GET', '/v1/nothing', { token })).toBe(404);
    expect(await statusOf('PUT', '/v1/teams', { token })).toBe(405);
    expect(await statusOf('PUT', '/graphql', { token })).toBe(405);
    expect(await statusOf('POST', '/v1/issues', { token, body: {} })).toBe(429);
    expect(await statusOf('POST', '/v1/issues', { token, body: 'x'.repeat(1_000_001) })).toBe(429);
    expect(
      await statusOf('POST', '/graphql', { token, body: 'x', headers: { 'content-type': 'text/plain' } }),
    ).toBe(429);
  });

  it('can read its quotas in the graph', async () => {
    const token = await app.tokenFor();
    const query =
      '{ viewer { rateLimit { requests { limit remaining resetUtc } cost { limit remaining resetUtc } } } }';
    const before = Date.now();
    const answer = await app.graphql<{ viewer: { rateLimit: Record<string, { resetUtc: string }> } }>(
      query,
      {},
      { token },
    );
    expect(answer.body).toMatchObject({
      data: {
        viewer: {
          rateLimit: { requests: { limit: 3, remaining: 2 }, cost: { limit: 1000, remaining: 1000 } },
        },
      },
    });
    const { requests, cost } = answer.body.data?.viewer.rateLimit ?? {};
    expect(Date.parse(requests?.resetUtc ?? '')).toBeGreaterThan(before);
    expect(Date.parse(requests?.resetUtc ?? '')).toBeLessThan(before + 60_000);
    expect(Date.parse(cost?.resetUtc ?? '')).toBeGreaterThanOrEqual(before);
    // viewer, rateLimit, requests and cost were returned.
    expect(quotaLeft(answer, 'cost').r).toBe(996);
  });
});

describe('cost', () => {
  it('is charged by the returned objects in both APIs, and a debt has to refill', async () => {
    const costLimitedApp = await startApp({
      sharesDatabase: true,
      settings: { REQUESTS_PER_MINUTE: '1000', COST_PER_HOUR: '60' },
    });
    try {
      const codes = '{ codes { entries { code } } }';
      const first = await costLimitedApp.graphql(codes, {}, { headers: { 'x-graphql-cost': '1' } });
      const { actual } = (first.body.extensions ?? {}).cost as { actual: number };
      expect(actual).toBeGreaterThan(60);
      expect(quotaLeft(first, 'cost').r).toBe(0);
      const refused = await costLimitedApp.request('GET', '/v1/teams');
      expect(refused).toMatchObject({
        status: 429,
        body: {
          detail: expect.stringMatching(/^The quota of 60 objects an hour is used up: try again in \d+ s\.$/),
        },
      });
      // The quota refills by one object a minute.
      const retryAfter = Number(refused.headers.get('retry-after'));
      expect(retryAfter).toBeGreaterThan((actual - 60) * 60);
      expect(retryAfter).toBeLessThanOrEqual((actual - 60 + 1) * 60);
      const rest = await costLimitedApp.request('GET', '/v1/teams', {
        token: await costLimitedApp.tokenFor(),
      });
      expect(rest.status).toBe(200);
      expect(quotaLeft(rest, 'cost').r).toBe(60);
    } finally {
      await costLimitedApp.stop();
    }
  });

  it('is 0 when an operation is refused', async () => {
    const token = await app.tokenFor();
    expect(quotaLeft(await app.graphql('{ nothing }', {}, { token }), 'cost').r).toBe(1000);
  });
});

describe('without a token', () => {
  it('requests answered 401 are counted by address, including guesses of tokens', async () => {
    const limitedApp = await startApp({ sharesDatabase: true, settings: { REQUESTS_PER_MINUTE: '3' } });
    try {
      const tokens = [null, 'wg_guess', 'wg_another', 'wg_third', null];
      const answers: [number, boolean][] = [];
      for (const token of tokens) {
        const { status, headers } = await limitedApp.request('GET', '/v1/teams', { token });
        answers.push([status, headers.has('ratelimit')]);
      }
      expect(answers).toEqual(tokens.map(() => [401, true]));
      expect((await limitedApp.request('GET', '/v1/meta/codes', { token: null })).status).toBe(429);
      expect((await limitedApp.request('GET', '/v1/teams')).status).toBe(200);
    } finally {
      await limitedApp.stop();
    }
  });

  it('probes and pages are not counted, and public resources are counted by address', async () => {
    const none = { token: null };
    const statuses: number[] = [];
    for (let n = 0; n < 5; n += 1) statuses.push((await app.request('GET', '/v1/meta/codes', none)).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    expect((await app.graphql(health, {}, none)).status).toBe(429);
    for (const path of ['/health', '/healthz', '/readyz', '/v1/openapi.json', '/']) {
      const answer = await app.request('GET', path, none);
      expect([path, answer.status, answer.headers.get('ratelimit')]).toEqual([path, 200, null]);
    }
    expect((await app.graphql(health, {}, { token: await app.tokenFor() })).status).toBe(200);
  });

  it('an operation that needs a token is answered 401 by either API, even when the quota is used up', async () => {
    const none = { token: null };
    const viewer = '{ viewer { scopes } }';
    let exhausted = await app.graphql(health, {}, none);
    while (exhausted.status !== 429) exhausted = await app.graphql(health, {}, none);
    for (const accept of ['application/json', modern]) {
      const answer = await app.graphql(viewer, {}, { ...none, headers: { accept } });
      expect(answer).toMatchObject({
        status: 401,
        body: { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
      });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="workgraph"');
    }
    expect((await app.request('GET', '/v1/teams', none)).status).toBe(401);
    // Public or unreadable operations are answered 429.
    const nested = `{ a: __type(name: "Query") { name } ...F } fragment F on Query { health { status } }`;
    for (const query of [health, nested, '{ nothing }', '{', '{ viewer @skip(if: $missing) { scopes } }'])
      expect([query, (await app.graphql(query, {}, none)).status]).toEqual([query, 429]);
    const spread = '{ ...F } fragment F on Query { health { status } viewer { scopes } }';
    expect((await app.graphql(spread, {}, none)).status).toBe(401);
  });

  it('an IPv6 address counts as its network, and a mapped address as the IPv4 address', () => {
    expect(callerOfAddress('127.0.0.1')).toBe('address:127.0.0.1');
    expect(callerOfAddress('::ffff:127.0.0.1')).toBe('address:127.0.0.1');
    expect(callerOfAddress('2001:db8:1:2:3:4:5:6')).toBe('address:2001:db8:1:2::/64');
    expect(callerOfAddress('2001:db8::6')).toBe('address:2001:db8:0:0::/64');
    expect(callerOfAddress('::1')).toBe('address:0:0:0:0::/64');
    expect(callerOfAddress('fe80::1%eth0')).toBe('address:fe80:0:0:0::/64');
    expect(callerOfAddress(undefined)).toBe('address:undefined');
  });
});

it('a caller is served again after Retry-After', async () => {
  const fastApp = await startApp({ sharesDatabase: true, settings: { REQUESTS_PER_MINUTE: '60' } });
  const now = performance.now.bind(performance);
  let advancedMs = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + advancedMs);
  try {
    let answer = await fastApp.graphql(health);
    while (answer.status === 200) answer = await fastApp.graphql(health);
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('1');
    advancedMs = 1_000;
    expect((await fastApp.graphql(health)).status).toBe(200);
  } finally {
    clock.mockRestore();
    await fastApp.stop();
  }
});

describe('the buckets in memory', () => {
  const quotas = {
    requests: { name: 'requests', limit: 60, windowSeconds: 60 },
    cost: { name: 'cost', limit: 3_600, windowSeconds: 3_600 },
  } as const;

  it('refill continuously up to their size', () => {
    let nowMs = 0;
    const buckets = new MemoryBuckets(quotas, () => nowMs);
    for (let n = 0; n < 60; n += 1) expect(buckets.take('a').granted).toBe(true);
    expect(buckets.take('a')).toMatchObject({ granted: false, requests: 0 });
    nowMs += 500;
    expect(buckets.take('a')).toMatchObject({ granted: false, requests: 0.5 });
    nowMs += 500;
    expect(buckets.take('a')).toMatchObject({ granted: true, requests: 0 });
    nowMs += 3_600_000;
    expect(buckets.take('a')).toMatchObject({ granted: true, requests: 59 });
  });

  it('are known to be empty until the next refill, without another look-up', async () => {
    let nowMs = 0;
    const buckets = new MemoryBuckets(quotas, () => nowMs);
    const limiter = new RateLimiter(quotas, buckets, () => nowMs);
    for (let n = 0; n < 60; n += 1) await limiter.take('a');
    expect(limiter.exhausted('a')).toBeUndefined();
    await limiter.take('a');
    nowMs += 400;
    const known = limiter.exhausted('a');
    expect(known?.overdrawn).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
    expect(known?.headers()).toEqual((await limiter.take('a')).headers());
    expect(limiter.exhausted('b')).toBeUndefined();
    nowMs += 600;
    expect(limiter.exhausted('a')).toBeUndefined();
    expect((await limiter.take('a')).overdrawn).toBeUndefined();
  });

  it('are known to hold no objects until they have refilled', async () => {
    let nowMs = 0;
    const limiter = new RateLimiter(quotas, new MemoryBuckets(quotas, () => nowMs), () => nowMs);
    const allowance = await limiter.take('a');
    allowance.charge(3_599);
    await Promise.resolve();
    expect(limiter.indebted('a')).toBeUndefined();
    allowance.charge(11);
    await Promise.resolve();
    expect(limiter.indebted('a')).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 11 });
    expect(limiter.indebted('b')).toBeUndefined();
    nowMs += 10_999;
    expect(limiter.indebted('a')).toMatchObject({ retryAfterSeconds: 1 });
    nowMs += 1;
    expect(limiter.indebted('a')).toBeUndefined();
  });

  it('are known to hold no objects when another process has charged them', async () => {
    const buckets = new MemoryBuckets(quotas, () => 0);
    const limiter = new RateLimiter(quotas, buckets, () => 0);
    buckets.charge('a', 3_600);
    await limiter.take('a');
    expect(limiter.indebted('a')).toMatchObject({ retryAfterSeconds: 1 });
    limiter.noteObjectsLeft('b', -9);
    expect(limiter.indebted('b')).toMatchObject({ retryAfterSeconds: 10 });
  });

  it('keep a debt until it has refilled', () => {
    let nowMs = 0;
    const buckets = new MemoryBuckets(quotas, () => nowMs);
    buckets.charge('a', 3_610);
    expect(buckets.take('a').cost).toBe(-10);
    nowMs += 11_000;
    expect(buckets.take('a').cost).toBe(1);
  });

  it('evict the least recently seen caller when there are too many', () => {
    const buckets = new MemoryBuckets(quotas, () => 0, 3);
    for (const caller of ['a', 'b', 'c', 'a', 'd']) buckets.take(caller);
    expect(buckets.take('a').requests).toBe(57);
    expect(buckets.take('b').requests).toBe(59);
  });

  it('hold at most 100,000 callers by default', () => {
    const buckets = new MemoryBuckets(quotas, () => 0);
    for (let caller = 0; caller <= 100_000; caller += 1) buckets.take(`${caller}`);
    expect(buckets.take('1').requests).toBe(58);
    expect(buckets.take('0').requests).toBe(59);
  });

  it('are remembered as empty for at most 10,000 callers', async () => {
    const empty = {
      take: () => ({ granted: false, requests: 0, cost: 0 }),
      charge: () => undefined,
      close: () => {},
    };
    const limiter = new RateLimiter(quotas, empty, () => 0);
    for (let caller = 0; caller <= 10_000; caller += 1) await limiter.take(`${caller}`);
    expect(limiter.exhausted('1')).toBeDefined();
    expect(limiter.exhausted('0')).toBeUndefined();
  });
});
