import { expect, it } from '@jest/globals';
import { Pace } from '../../src/server/pace.ts';

/** An overload of so many seconds in which so much is done a second with so many places. */
function overload(pace: Pace, seconds: number, perSecond: (places: number) => number, fromMs = 0): number[] {
  const places: number[] = [];
  let nowMs = fromMs;
  while (nowMs < fromMs + seconds * 1_000) {
    nowMs += 1_000 / perSecond(pace.places);
    pace.note(nowMs);
    places.push(pace.places);
  }
  return places;
}

it('takes as few at once as get as much done, where the processor is what they wait for', () => {
  const pace = new Pace(16);
  overload(pace, 30, () => 150);
  expect(pace.places).toBe(4);
});

it('keeps nearly all at once where each of them gets something done', () => {
  const pace = new Pace(16);
  const places = overload(pace, 600, (places) => 10 * places);
  expect(Math.min(...places)).toBeGreaterThanOrEqual(14);
});

it('finds where the one becomes the other, again when that moves', () => {
  const pace = new Pace(16);
  const settled = (places: number[]) => places.slice(places.length / 2);
  const few = settled(overload(pace, 60, (places) => 10 * Math.min(places, 8)));
  expect(Math.min(...few)).toBeGreaterThanOrEqual(7);
  expect(Math.max(...few)).toBeLessThanOrEqual(9);
  expect(Math.max(...few)).toBeGreaterThanOrEqual(8);
  const more = settled(overload(pace, 120, (places) => 10 * Math.min(places, 12), 60_000));
  expect(Math.min(...more)).toBeGreaterThanOrEqual(11);
});

it('begins with all again when the overload is over', () => {
  const pace = new Pace(16);
  overload(pace, 10, () => 150);
  expect(pace.places).toBeLessThan(16);
  pace.reset();
  expect(pace.places).toBe(16);
});
