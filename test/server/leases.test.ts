import { describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { type Grant, LeasedBuckets } from '../../src/server/limits/leased-buckets.ts';
import { quotasOf } from '../../src/server/limits/quotas.ts';
import { QuotaLeases } from '../../src/server/workers/quota-leases.ts';
import { eventually } from '../support/eventually.ts';

const caller = 'token:1';
const logger = pino({ level: 'silent' });

/** The buckets of several workers, which lease quotas from one supervisor while time stands still. */
function workersWith(rates: { requestsPerMinute: number; costPerHour: number }, workers: number) {
  const now = () => 0;
  const quotas = quotasOf(rates);
  const supervisor = new QuotaLeases(quotas, workers, now);
  let leaseRequests = 0;
  const link = {
    take: (caller: string, unused: number) => {
      leaseRequests += 1;
      return Promise.resolve(supervisor.take(caller, unused));
    },
    giveBack: (caller: string, unused: number) => supervisor.giveBack(caller, unused),
    charge: (caller: string, cost: number) => void supervisor.charge([[caller, cost]]),
  };
  const buckets = Array.from({ length: workers }, () => new LeasedBuckets({ quotas, link, logger, now }));
  return { buckets, leaseRequests: () => leaseRequests };
}

describe('leases of quotas', () => {
  it.each([
    ['in turn', 1],
    ['at the same time', 4],
  ])('let a caller of three workers make as many requests as its quota has, %s', async (_, atOnce) => {
    const { buckets } = workersWith({ requestsPerMinute: 600, costPerHour: 1_000 }, 3);
    let granted = 0;
    for (let n = 0; n < 900; n += atOnce) {
      const levels = await Promise.all(
        Array.from({ length: atOnce }, async (_, index) => buckets[(n + index) % 3]?.take(caller)),
      );
      granted += levels.filter((level) => level?.granted).length;
    }
    expect(granted).toBe(600);
  });

  it('are asked for seldom while much is left, and for each request when little is', async () => {
    const { buckets, leaseRequests } = workersWith({ requestsPerMinute: 1_000, costPerHour: 1_000 }, 2);
    for (let n = 0; n < 500; n += 1) await buckets[0]?.take(caller);
    expect(leaseRequests()).toBe(50);
    for (let n = 0; n < 400; n += 1) await buckets[0]?.take(caller);
    expect(leaseRequests()).toBeGreaterThan(400);
  });

  it('are given back when their worker ends, so that another worker can grant them', async () => {
    const { buckets } = workersWith({ requestsPerMinute: 1_000, costPerHour: 1_000 }, 2);
    await buckets[0]?.take(caller);
    buckets[0]?.close();
    let granted = 0;
    for (let n = 0; n < 1_200; n += 1) if ((await buckets[1]?.take(caller))?.granted) granted += 1;
    expect(granted).toBe(999);
  });

  it('see what other workers have charged once little is left', async () => {
    const { buckets } = workersWith({ requestsPerMinute: 1_000, costPerHour: 100 }, 2);
    await buckets[0]?.take(caller);
    buckets[0]?.charge(caller, 60);
    expect(await buckets[1]?.take(caller)).toMatchObject({ granted: true, cost: 40 });
    buckets[1]?.charge(caller, 41);
    expect((await buckets[1]?.take(caller))?.cost).toBe(-1);
  });

  it('tell which callers have no objects left after a charge', () => {
    const leases = new QuotaLeases(quotasOf({ requestsPerMinute: 1_000, costPerHour: 100 }), 2, () => 0);
    const charged = leases.charge([
      [caller, 60],
      ['token:2', 99],
      [caller, 50],
      ['token:3', 100],
    ]);
    expect(charged).toEqual([
      [caller, -10],
      ['token:3', 0],
    ]);
  });

  it('grant everything to a worker that has lost its supervisor, since it is about to stop', async () => {
    const quotas = quotasOf({ requestsPerMinute: 1, costPerHour: 1 });
    const nothing = () => undefined;
    const link = { take: () => Promise.resolve(undefined), giveBack: nothing, charge: nothing };
    const buckets = new LeasedBuckets({ quotas, link, logger });
    for (let n = 0; n < 3; n += 1) expect(await buckets.take(caller)).toMatchObject({ granted: true });
  });

  it('are not waited for while the supervisor does not answer, and asked for again when it does', async () => {
    const quotas = quotasOf({ requestsPerMinute: 100, costPerHour: 100 });
    const supervisor = new QuotaLeases(quotas, 2, () => 0);
    /** Sends the answers that a frozen supervisor holds back; undefined once it answers again. */
    let heldAnswers: (() => void)[] | undefined = [];
    let leaseRequests = 0;
    let returned = 0;
    const link = {
      take: (who: string, unused: number) => {
        leaseRequests += 1;
        const answer = () => supervisor.take(who, unused);
        if (!heldAnswers) return Promise.resolve(answer());
        return new Promise<Grant>((resolve) => heldAnswers?.push(() => resolve(answer())));
      },
      giveBack: (who: string, unused: number) => {
        returned += unused;
        supervisor.giveBack(who, unused);
      },
      charge: (who: string, cost: number) => void supervisor.charge([[who, cost]]),
    };
    const logged: string[] = [];
    const log = pino(
      {},
      { write: (line: string) => void logged.push((JSON.parse(line) as { msg: string }).msg) },
    );
    const buckets = new LeasedBuckets({ quotas, link, logger: log, now: () => 0, waitMs: 1 });
    for (let n = 0; n < 100; n += 1) expect(await buckets.take(caller)).toMatchObject({ granted: true });
    expect(await buckets.take(caller)).toMatchObject({ granted: false });
    expect(buckets.charge(caller, 101)).toBe(-1);
    expect([leaseRequests, logged.length]).toEqual([1, 1]);
    for (const answer of heldAnswers) answer();
    heldAnswers = undefined;
    await eventually(() => logged.length === 2);
    expect(await buckets.take(caller)).toMatchObject({ granted: true, cost: 100 });
    // The request that the supervisor granted too late, and the lease that came with it, are granted again.
    expect([leaseRequests, returned]).toEqual([2, 2]);
  });
});
