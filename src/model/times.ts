export const hourMs = 60 * 60 * 1_000;

/** The milliseconds of a day of 24 hours. */
export const dayMs = 24 * 60 * 60 * 1_000;

const datePattern = /^\d{4}-\d\d-\d\d$/;
const dateTimePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i;

/** Whether the text is a date that exists, in the form YYYY-MM-DD. */
export function isCalendarDate(text: string): boolean {
  if (!datePattern.test(text) || text.startsWith('0000')) return false;
  const month = Number(text.slice(5, 7));
  const day = Number(text.slice(8));
  if (month < 1 || month > 12 || day < 1) return false;
  // For most dates, the length of the month need not be computed, which takes longer.
  return day <= 28 || day <= daysOf(Number(text.slice(0, 4)), month);
}

/** The number of days of a month. */
function daysOf(year: number, month: number): number {
  // Day 0 of the next month is the last day of this one. The indexes of months begin with 0, so `month` is that of the next month.
  return new Date(new Date(0).setUTCFullYear(year, month, 0)).getUTCDate();
}

/** A time between this millisecond and the next one. Stored times have milliseconds, so none is equal to it. */
export class TimeBetweenMilliseconds extends Date {
  /** Differs from that of the millisecond, because the JSON of variables tells whether two requests are equal. */
  override toJSON(): string {
    return this.toISOString().replace('Z', '5Z');
  }
}

/**
 * Parses an ISO 8601 time with an offset or Z, to the millisecond; undefined if the text is not one. If the text has further digits
 * that are not 0, the result is a `TimeBetweenMilliseconds`.
 */
export function parseDateTime(text: string): Date | undefined {
  const parts = dateTimePattern.exec(text);
  if (!parts || !isCalendarDate(text.slice(0, 10))) return undefined;
  const date = new Date(text);
  // PostgreSQL and ISO 8601 agree only on years of four digits, and the offset may move the time out of that range.
  const year = date.getUTCFullYear();
  if (Number.isNaN(year) || year < 1 || year > 9999) return undefined;
  const [, , fraction = ''] = parts;
  return /[1-9]/.test(fraction.slice(4)) ? new TimeBetweenMilliseconds(date) : date;
}
