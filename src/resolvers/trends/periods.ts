import { firstDay, lastDay, maxPeriods } from '../../model/statistics-limits.ts';
import { dayMs } from '../../model/times.ts';
import { Slices } from '../../db/engine/slices.ts';
import { raise, Violations } from '../errors.ts';
import { TimeZone } from './time-zones.ts';

export type PeriodLength = 'day' | 'week' | 'month';

/** The periods that contain the days from `from` to `to`; they begin and end with days of a time zone. */
export interface PeriodsInput {
  every: PeriodLength;
  from: string;
  to: string;
  timeZone?: string | null;
}

export interface Period {
  startsOn: string;
  endsOn: string;
  startUtc: Date;
  /** When the next period begins. */
  endUtc: Date;
}

function midnightOf(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
}

function dateOf(midnightMs: number): string {
  return new Date(midnightMs).toISOString().slice(0, 10);
}

/** The number of a period. The periods of one length are numbered in their order, without gaps. */
function numberOf(every: PeriodLength, midnightMs: number): number {
  const day = midnightMs / dayMs;
  if (every === 'day') return day;
  // The first day of 1970 was a Thursday.
  if (every === 'week') return Math.floor((day + 3) / 7);
  const date = new Date(midnightMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** The midnight, in UTC, with which a period begins. */
function startOf(every: PeriodLength, number: number): number {
  if (every === 'day') return number * dayMs;
  if (every === 'week') return (number * 7 - 3) * dayMs;
  return Date.UTC(Math.floor(number / 12), number % 12);
}

/** How many periods there are: at least 1, so that every request costs something. */
export function countPeriods({ every, from, to }: Omit<PeriodsInput, 'timeZone'>): number {
  return Math.max(1, numberOf(every, midnightOf(to)) - numberOf(every, midnightOf(from)) + 1);
}

/** Computing a year of daily periods takes several milliseconds, and one operation may ask for many statistics. */
const slices = new Slices();

/**
 * The periods, computed in a slice of time so that many statistics do not block the event loop. Throws the violations
 * of the input.
 */
export async function periodsInSlice(input: PeriodsInput, violations?: Violations): Promise<Period[]> {
  await slices.next();
  return periodsOf(input, violations);
}

/** The periods. Throws the violations of the input. */
export function periodsOf(input: PeriodsInput, violations = new Violations()): Period[] {
  const { every, from, to, timeZone } = input;
  const zone = TimeZone.named(timeZone ?? 'UTC');
  if (!zone) violations.add('timeZone', 'must be the name of an IANA time zone, such as Europe/Berlin');
  for (const [field, date] of [
    ['from', from],
    ['to', to],
  ] as const) {
    violations.addUnless(
      date >= firstDay && date <= lastDay,
      field,
      `must be from ${firstDay} to ${lastDay}`,
    );
  }
  violations.addUnless(from <= to, 'to', 'must not be before from');
  const count = countPeriods(input);
  violations.addUnless(
    count <= maxPeriods,
    'to',
    `makes ${count.toLocaleString('en')} periods; at most ${maxPeriods} are counted at once: ask for fewer days, or for longer periods`,
  );
  violations.throwIfAny('invalid_request');
  if (!zone) return raise('internal_error', 'The violations were not raised.');
  const first = numberOf(every, midnightOf(from));
  const starts = Array.from({ length: count + 1 }, (_, index) => startOf(every, first + index));
  const times = starts.map((start) => zone.startOfDay(start));
  return Array.from({ length: count }, (_, index) => ({
    startsOn: dateOf(starts[index] ?? 0),
    endsOn: dateOf((starts[index + 1] ?? 0) - dayMs),
    startUtc: times[index] ?? new Date(0),
    endUtc: times[index + 1] ?? new Date(0),
  }));
}
