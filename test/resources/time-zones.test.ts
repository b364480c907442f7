import { maxPeriods } from '../../src/model/statistics-limits.ts';
import { setImmediate as nextRound } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { AppError } from '../../src/resolvers/errors.ts';
import { periodsInSlice, periodsOf } from '../../src/resolvers/trends/periods.ts';
import { TimeZone } from '../../src/resolvers/trends/time-zones.ts';
import { Random } from '../support/random.ts';

const dayMs = 24 * 60 * 60 * 1_000;
const zones = Intl.supportedValuesOf('timeZone');

/** Returns a function that gives the local date of a time, according to Intl. */
function dates(timeZone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  return (ms) => format.format(ms);
}

describe('a day', () => {
  it.each(zones)('in %s starts at the first moment of its date', (name) => {
    const zone = TimeZone.named(name);
    const random = new Random(`days of ${name}`);
    const date = dates(name);
    const wrong = [];
    for (let tried = 0; tried < 60; tried += 1) {
      const midnight = Date.UTC(2012, 0, 1) + random.integer(0, 24 * 365) * dayMs;
      const expected = new Date(midnight).toISOString().slice(0, 10);
      const start = zone?.startOfDay(midnight).getTime() ?? Number.NaN;
      if (!(date(start - 1) < expected && date(start) >= expected)) wrong.push(expected);
    }
    expect(wrong).toEqual([]);
  });

  it.each([
    ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', 23],
    ['Europe/Berlin', '2025-10-26', '2025-10-25T22:00:00.000Z', 25],
    // Midnight does not exist: clocks go from 23:59 to 01:00.
    ['Africa/Cairo', '2023-04-28', '2023-04-27T22:00:00.000Z', 23],
    // Midnight occurs twice: clocks go from 00:59 back to 00:00.
    ['America/Havana', '2023-11-05', '2023-11-05T04:00:00.000Z', 25],
    ['Australia/Lord_Howe', '2026-04-05', '2026-04-04T13:00:00.000Z', 24.5],
    // Samoa skipped this day.
    ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z', 0],
  ])('in %s on %s starts at %s and lasts %d hours', (timeZone, from, start, hours) => {
    const [day] = periodsOf({ every: 'day', from, to: from, timeZone });
    expect(day?.startUtc.toISOString()).toBe(start);
    expect((Number(day?.endUtc) - Number(day?.startUtc)) / 3_600_000).toBe(hours);
  });
});

describe('periods', () => {
  const days = (every: 'day' | 'week' | 'month', from: string, to: string) =>
    periodsOf({ every, from, to }).map(({ startsOn, endsOn }) => `${startsOn}..${endsOn}`);

  it('are those that contain one of the days, and weeks start on Monday', () => {
    expect(days('day', '2024-02-28', '2024-03-01')).toHaveLength(3);
    expect(days('week', '2026-01-04', '2026-01-05')).toEqual([
      '2025-12-29..2026-01-04',
      '2026-01-05..2026-01-11',
    ]);
    expect(days('month', '2025-12-31', '2026-02-01')).toEqual([
      '2025-12-01..2025-12-31',
      '2026-01-01..2026-01-31',
      '2026-02-01..2026-02-28',
    ]);
    expect(days('week', '1969-12-28', '1969-12-29')).toEqual([
      '1969-12-22..1969-12-28',
      '1969-12-29..1970-01-04',
    ]);
  });

  it.each([
    [{ from: '2026-01-02', to: '2026-01-01' }, 'to: must not be before from'],
    [{ timeZone: 'Mars/Olympus' }, 'timeZone: must be the name of an IANA time zone, such as Europe/Berlin'],
    [{ timeZone: '+02:00' }, 'timeZone: must be the name of an IANA time zone, such as Europe/Berlin'],
    [{ timeZone: '' }, 'timeZone: must be the name of an IANA time zone, such as Europe/Berlin'],
    [{ from: '1899-12-31', to: '1900-01-01' }, 'from: must be from 1900-01-01 to 2199-12-31'],
    [
      { from: '2024-01-01', to: '2025-02-04' },
      'to: makes 401 periods; at most 400 are counted at once: ask for fewer days, or for longer periods',
    ],
  ])('are refused for %j', (input, message) => {
    const args = { every: 'day' as const, from: '2026-01-01', to: '2026-01-01', ...input };
    expect(() => periodsOf(args)).toThrow(AppError);
    expect(() => periodsOf(args)).toThrow(message);
  });

  it(`number at most ${maxPeriods}`, () => {
    expect(days('day', '2024-01-01', '2025-02-03')).toHaveLength(maxPeriods);
  });
});

it('the periods of several statistics are made in several rounds of the event loop', async () => {
  const rounds: number[] = [];
  let round = 0;
  const days = { every: 'day', from: '2024-11-01', to: '2025-11-30' } as const;
  const statistics = zones.slice(0, 40).map(async (timeZone) => {
    await periodsInSlice({ ...days, timeZone });
    rounds.push(round);
  });
  while (rounds.length < statistics.length) {
    await nextRound();
    round += 1;
  }
  expect(new Set(rounds).size).toBeGreaterThan(5);
});
