import { expect, it } from '@jest/globals';
import { AdaptiveConcurrency } from '../../src/server/limits/adaptive-concurrency.ts';

/** An overload of so many seconds in which so much is done a second with so many places; how many it had, of all done. */
function overload(
  adaptive: AdaptiveConcurrency,
  seconds: number,
  perSecond: (places: number) => number,
  fromMs = 0,
): number[] {
  const places: number[] = [];
  let nowMs = fromMs;
  while (nowMs < fromMs + seconds * 1_000) {
    nowMs += 1_000 / perSecond(adaptive.concurrency);
    adaptive.note(nowMs);
    places.push(adaptive.concurrency);
  }
  return places;
}

/** What it had in the second half. */
function settled(places: readonly number[]) {
  const late = places.slice(places.length / 2).toSorted((some, other) => some - other);
  return { least: late[0], usual: late[Math.floor(late.length / 2)], most: late.at(-1) };
}

it('the limit falls to the fewest requests with full throughput when the processor is the bottleneck', () => {
  const found = settled(overload(new AdaptiveConcurrency(16), 30, () => 150));
  expect(found).toEqual({ least: 4, usual: 4, most: 6 });
});

it('the limit falls as far when the throughput of the machine varies all the time', () => {
  const found = settled(
    overload(new AdaptiveConcurrency(16), 120, (places) => (places % 3 === 0 ? 150 : 147)),
  );
  expect(found).toMatchObject({ least: 4, usual: 4 });
});

it('the limit stays at its maximum when each further request adds throughput', () => {
  const found = settled(overload(new AdaptiveConcurrency(16), 600, (places) => 10 * places));
  expect(found).toEqual({ least: 12, usual: 16, most: 16 });
});

it('the limit finds the point where throughput stops growing, and finds it again when it moves', () => {
  const adaptive = new AdaptiveConcurrency(16);
  expect(settled(overload(adaptive, 60, (places) => 10 * Math.min(places, 8)))).toMatchObject({ usual: 9 });
  const later = settled(overload(adaptive, 120, (places) => 10 * Math.min(places, 12), 60_000));
  expect(later.usual).toBeGreaterThanOrEqual(11);
  expect(later.usual).toBeLessThan(16);
});

it('the limit starts high again after an overload', () => {
  const adaptive = new AdaptiveConcurrency(16);
  overload(adaptive, 10, () => 150);
  expect(adaptive.concurrency).toBeLessThan(12);
  adaptive.reset();
  expect(adaptive.concurrency).toBe(12);
});
