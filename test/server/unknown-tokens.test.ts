import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { UnknownTokens } from '../../src/server/limits/unknown-tokens.ts';
import { type App, startApp } from '../support/app.ts';
import { logInto } from '../support/log-into.ts';
import { whileIssuesAreBlocked } from '../support/blocked-issues.ts';
import { eventually } from '../support/eventually.ts';

const lines: Record<string, unknown>[] = [];
const log = logInto(lines);
const perMinute = 4;
let app: App;
beforeAll(async () => {
  const settings = { UNKNOWN_TOKENS_PER_MINUTE: String(perMinute), TRUSTED_PROXIES: '127.0.0.1' };
  app = await startApp({ sharesDatabase: true, settings, logLevel: 'info', log });
});
afterAll(() => app.stop());

const unknownToken = (n: number) => `wg_${String(n).padStart(48, '0')}`;
const forwardedFor = (address: string) => ({ 'X-Forwarded-For': address });

const requestFrom = (address: string, token: string | null, [method, path] = ['GET', '/v1/teams']) =>
  app.request(method ?? '', path ?? '', { token, headers: forwardedFor(address) });

const queryFrom = (address: string, token: string) =>
  app.graphql('{ teams { totalCount } }', {}, { token, headers: forwardedFor(address) });

/** Uses up the quota of an address. */
async function exhaust(address: string): Promise<void> {
  for (let n = 0; n < perMinute; n += 1)
    expect((await requestFrom(address, unknownToken(n))).status).toBe(401);
}

it('the server answers 429 in both APIs once an address has sent too many unknown tokens', async () => {
  const address = '192.0.2.1';
  await exhaust(address);
  const rest = await requestFrom(address, unknownToken(99));
  expect(rest).toMatchObject({ status: 429, statements: 0, body: { code: 'rate_limited' } });
  expect(Number(rest.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(Number(rest.headers.get('retry-after'))).toBeLessThanOrEqual(60 / perMinute);
  const graph = await queryFrom(address, unknownToken(99));
  expect(graph).toMatchObject({ status: 429, body: { errors: [{ extensions: { code: 'RATE_LIMITED' } }] } });
  expect(graph.headers.get('retry-after')).toBe(rest.headers.get('retry-after'));
  for (const authorization of ['Bearer', 'Basic d2c6', unknownToken(1)])
    expect(
      (
        await app.request('GET', '/v1/teams', {
          token: null,
          headers: { authorization, ...forwardedFor(address) },
        })
      ).status,
    ).toBe(429);
});

it('the server keeps answering known tokens, and refuses unknown ones only from that address', async () => {
  const address = '192.0.2.2';
  const knownToken = await app.tokenFor();
  expect((await requestFrom('198.51.100.1', knownToken)).status).toBe(200);
  await exhaust(address);
  const newToken = await app.tokenFor();
  expect((await requestFrom(address, knownToken)).status).toBe(200);
  expect((await queryFrom(address, knownToken)).status).toBe(200);
  expect((await requestFrom(address, newToken)).status).toBe(429);
  expect((await requestFrom('198.51.100.1', newToken)).status).toBe(200);
  expect((await requestFrom(address, newToken)).status).toBe(200);
});

it('the server counts an IPv6 address by its network', async () => {
  await exhaust('2001:db8:1:2::1');
  expect((await requestFrom('2001:db8:1:2:ffff::9', unknownToken(99))).status).toBe(429);
  expect((await requestFrom('2001:db8:1:3::1', unknownToken(99))).status).toBe(401);
});

it('the server does not refuse requests that need no token', async () => {
  const address = '192.0.2.3';
  await exhaust(address);
  const statusOf = async (token: string | null, ...request: [string, string]) =>
    (await requestFrom(address, token, request)).status;
  expect(await statusOf(unknownToken(1), 'GET', '/v1/nothing')).toBe(404);
  expect(await statusOf(unknownToken(1), 'PUT', '/v1/teams')).toBe(405);
  expect(await statusOf(unknownToken(1), 'PUT', '/graphql')).toBe(405);
  expect(await statusOf(unknownToken(1), 'GET', '/v1/meta/codes')).toBe(200);
  expect(await statusOf(unknownToken(1), 'GET', '/v1/openapi.json')).toBe(200);
  expect(await statusOf(unknownToken(1), 'GET', '/health')).toBe(200);
  expect(await statusOf(null, 'GET', '/v1/teams')).toBe(401);
  expect(await statusOf(unknownToken(1), 'GET', '/v1/teams')).toBe(429);
});

it('the server refuses without a statement, and logs the number in one line', async () => {
  const address = '192.0.2.4';
  await exhaust(address);
  await whileIssuesAreBlocked(app, async () => {
    for (let n = 0; n < 20; n += 1) expect((await requestFrom(address, unknownToken(n))).status).toBe(429);
    return {};
  });
  const refusalLines = () => lines.filter((line) => line.address === address && 'refused' in line);
  await eventually(() => refusalLines().reduce((sum, { refused }) => sum + Number(refused), 0) >= 20);
  expect(lines.filter((line) => line.address === address && line.status === 429)).toEqual([]);
});

it('the server looks up no more unknown tokens than the quota and its refill, in any pattern of arrival', () => {
  const steps = fc.array(
    fc.record({
      waitMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 90_000 })),
      address: fc.constantFrom('192.0.2.1', '::ffff:192.0.2.1', '2001:db8::1', '2001:db8::2'),
    }),
    { maxLength: 300 },
  );
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 50 }), (arrivals, limit) => {
      let nowMs = 0;
      const tokens = new UnknownTokens(limit, () => nowMs);
      const passed: Record<'ipv4' | 'ipv6', number> = { ipv4: 0, ipv6: 0 };
      for (const { waitMs, address } of arrivals) {
        nowMs += waitMs;
        if (tokens.refusal(address)) continue;
        tokens.note(address);
        passed[address.includes('.') ? 'ipv4' : 'ipv6'] += 1;
      }
      const maxPassed = limit + (nowMs / 60_000) * limit;
      expect(Math.max(passed.ipv4, passed.ipv6)).toBeLessThanOrEqual(maxPassed + 1e-6);
    }),
  );
});
