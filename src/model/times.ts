const datePattern = /^(\d{4})-(\d\d)-(\d\d)$/;
const dateTimePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)$/i;

/** Whether the text is a date that exists, in the form YYYY-MM-DD. */
export function isCalendarDate(text: string): boolean {
  if (!datePattern.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text) && !text.startsWith('0000');
}

/** Parses an ISO 8601 time with an offset or Z, to the millisecond; undefined if the text is not one. */
export function parseDateTime(text: string): Date | undefined {
  if (!dateTimePattern.test(text) || !isCalendarDate(text.slice(0, 10))) return undefined;
  const date = new Date(text);
  // PostgreSQL and ISO 8601 agree only on years of four digits, and the offset may move the time out of that range.
  const year = date.getUTCFullYear();
  return Number.isNaN(year) || year < 1 || year > 9999 ? undefined : date;
}
