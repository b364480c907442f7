import { expect, it } from '@jest/globals';
import { timeShift } from '../../src/portability/time-shift.ts';

const reference = new Date('2026-02-11T12:00:00Z');
const shift = timeShift(reference, new Date('2026-03-01T00:05:00Z'));

it.each([
  ['a date moves by days', '2026-02-20', '2026-03-10'],
  ['a date before the reference moves as far', '2025-12-31', '2026-01-18'],
  ['a time keeps its time of day', '2026-02-10T23:00:00.284Z', '2026-02-28T23:00:00.284Z'],
  [
    'a time of the reference’s day keeps its distance from now',
    '2026-02-11T11:56:00Z',
    '2026-03-01T00:01:00.000Z',
  ],
  ['a time later on that day moves by days', '2026-02-11T18:00Z', '2026-03-01T18:00:00.000Z'],
  ['its midnight is a day, not a time', '2026-02-11T00:00:00Z', '2026-03-01T00:00:00.000Z'],
  [
    'dates within a sentence move',
    'from 2026-02-11 to 2026-02-12, at last',
    'from 2026-03-01 to 2026-03-02, at last',
  ],
  ['dates beside brackets and quotes move', '"due":"2026-02-12"}', '"due":"2026-03-02"}'],
  ['a date that no calendar has stays', '2026-13-45 and 2026-02-99', '2026-13-45 and 2026-02-99'],
  [
    'parts of longer numbers stay',
    '12026-02-11 2026-02-110 x2026-02-11 2026-02-11-3',
    '12026-02-11 2026-02-110 x2026-02-11 2026-02-11-3',
  ],
])('%s', (_, text, moved) => {
  expect(shift(text)).toBe(moved);
});

it('no date is shifted when the current time is the reference', () => {
  const text = '2026-02-11T11:56:00.000Z 2026-02-11 2024-02-29T00:00:00.000Z';
  expect(timeShift(reference, reference)(text)).toBe(text);
});
