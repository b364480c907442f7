import { expect, it } from '@jest/globals';
import { Pace } from '../../src/server/limits/pace.ts';

/** An overload of so many seconds in which so much is done a second with so many places; how many it had, of all done. */
function overload(pace: Pace, seconds: number, perSecond: (places: number) => number, fromMs = 0): number[] {
  const places: number[] = [];
  let nowMs = fromMs;
  while (nowMs < fromMs + seconds * 1_000) {
    nowMs += 1_000 / perSecond(pace.concurrency);
    pace.note(nowMs);
    places.push(pace.concurrency);
  }
  return places;
}

/** What it had in the second half. */
function settled(places: readonly number[]) {
  const late = places.slice(places.length / 2).toSorted((some, other) => some - other);
  return { least: late[0], usual: late[Math.floor(late.length / 2)], most: late.at(-1) };
}

it('the limit falls to the fewest requests with full throughput when the processor is the bottleneck', () => {
  const found = settled(overload(new Pace(16), 30, () => 150));
  expect(found).toEqual({ least: 4, usual: 4, most: 6 });
});

it('the limit falls as far when the throughput of the machine varies all the time', () => {
  const found = settled(overload(new Pace(16), 120, (places) => (places % 3 === 0 ? 150 : 147)));
  expect(found).toMatchObject({ least: 4, usual: 4 });
});

it('the limit stays at its maximum when each further request adds throughput', () => {
  const found = settled(overload(new Pace(16), 600, (places) => 10 * places));
  expect(found).toEqual({ least: 12, usual: 16, most: 16 });
});

it('the limit finds the point where throughput stops growing, and finds it again when it moves', () => {
  const pace = new Pace(16);
  expect(settled(overload(pace, 60, (places) => 10 * Math.min(places, 8)))).toMatchObject({ usual: 9 });
  const later = settled(overload(pace, 120, (places) => 10 * Math.min(places, 12), 60_000));
  expect(later.usual).toBeGreaterThanOrEqual(11);
  expect(later.usual).toBeLessThan(16);
});

it('the limit starts high again after an overload', () => {
  const pace = new Pace(16);
  overload(pace, 10, () => 150);
  expect(pace.concurrency).toBeLessThan(12);
  pace.reset();
  expect(pace.concurrency).toBe(12);
});
