import { expect, it } from '@jest/globals';
import { AdaptiveConcurrency } from '../../src/server/limits/adaptive-concurrency.ts';

/**
 * Simulates an overload: `perSecond` says how many requests are answered a second when that many are in progress. Returns
 * the limit at the end of each request.
 */
function overload(
  adaptive: AdaptiveConcurrency,
  seconds: number,
  perSecond: (concurrency: number) => number,
  fromMs = 0,
): number[] {
  const limits: number[] = [];
  let nowMs = fromMs;
  while (nowMs < fromMs + seconds * 1_000) {
    nowMs += 1_000 / perSecond(adaptive.concurrency);
    adaptive.note(nowMs);
    limits.push(adaptive.concurrency);
  }
  return limits;
}

/** The limits in the second half of an overload. */
function statisticsOf(limits: readonly number[]) {
  const secondHalf = limits.slice(limits.length / 2).toSorted((some, other) => some - other);
  return {
    min: secondHalf[0],
    median: secondHalf[Math.floor(secondHalf.length / 2)],
    max: secondHalf.at(-1),
  };
}

it('the limit falls to the fewest requests with full throughput when the processor is the bottleneck', () => {
  const statistics = statisticsOf(overload(new AdaptiveConcurrency(16), 30, () => 150));
  expect(statistics).toEqual({ min: 4, median: 4, max: 6 });
});

it('the limit falls as far when the throughput of the machine varies all the time', () => {
  const statistics = statisticsOf(
    overload(new AdaptiveConcurrency(16), 120, (concurrency) => (concurrency % 3 === 0 ? 150 : 147)),
  );
  expect(statistics).toMatchObject({ min: 4, median: 4 });
});

it('the limit stays at its maximum when each further request adds throughput', () => {
  const statistics = statisticsOf(
    overload(new AdaptiveConcurrency(16), 600, (concurrency) => 10 * concurrency),
  );
  expect(statistics).toEqual({ min: 12, median: 16, max: 16 });
});

it('the limit finds the point where throughput stops growing, and finds it again when it moves', () => {
  const adaptive = new AdaptiveConcurrency(16);
  expect(statisticsOf(overload(adaptive, 60, (concurrency) => 10 * Math.min(concurrency, 8)))).toMatchObject({
    median: 9,
  });
  const afterMove = statisticsOf(
    overload(adaptive, 120, (concurrency) => 10 * Math.min(concurrency, 12), 60_000),
  );
  expect(afterMove.median).toBeGreaterThanOrEqual(11);
  expect(afterMove.median).toBeLessThan(16);
});

it('the limit starts high again after an overload', () => {
  const adaptive = new AdaptiveConcurrency(16);
  overload(adaptive, 10, () => 150);
  expect(adaptive.concurrency).toBeLessThan(12);
  adaptive.reset();
  expect(adaptive.concurrency).toBe(12);
});
