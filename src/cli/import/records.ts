import { hasMoreValues, isJsonObject } from '../../model/json.ts';
import { isCalendarDate } from '../../model/times.ts';
import type { LineContent, SourceLine } from '../../portability/import/import-issue.ts';
import type { Line } from './lines.ts';

export type JsonRecord = Record<string, unknown>;

/** Reads lines of JSON objects. A line that is not an object is refused with a reason; empty lines are skipped. */
export async function* recordLines(
  lines: AsyncIterable<Line>,
  toContent: (record: JsonRecord) => LineContent,
): AsyncGenerator<SourceLine> {
  for await (const line of lines) {
    if (line.text?.trim() === '') continue;
    yield { ...contentOf(line, toContent), line: line.number, bytesRead: line.bytesRead };
  }
}

const arrayRefusal = "it is an array, not an object; `jq -c '.[]'` splits an array into lines";

/** More values in a line would need many times its size in memory, and keep a server that imports it busy for seconds. */
const defaultMaxValues = 250_000;

/** The object in a line, or the reason why the line is refused. */
export function parseRecord(
  line: Line,
  maxValues = defaultMaxValues,
): { record: JsonRecord } | { refused: string } {
  if (line.text === undefined) return { refused: line.problem };
  if (hasMoreValues(line.text, maxValues))
    return { refused: `it has more than ${maxValues.toLocaleString('en')} values` };
  try {
    const value: unknown = JSON.parse(line.text);
    return isJsonObject(value)
      ? { record: value }
      : { refused: Array.isArray(value) ? arrayRefusal : 'it is JSON but not an object' };
  } catch {
    return { refused: line.isEnded ? 'it is not JSON' : 'it is not JSON; the file ends within the line' };
  }
}

/** The value if it is a text, otherwise undefined. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The trimmed text if the value is a text that is not blank, otherwise undefined. */
export function trimmedTextOf(value: unknown): string | undefined {
  const text = textOf(value)?.trim();
  return text === '' ? undefined : text;
}

/**
 * The value as a point in time in the years 1 to 9999; undefined if it is not one. A time without an offset is in UTC, since the
 * time zone of the machine would give the issue another fingerprint. A date is the beginning of that day in UTC.
 */
export function timeOf(value: unknown): Date | undefined {
  if (typeof value !== 'string') return undefined;
  if (isDate.test(value)) return isCalendarDate(value) ? new Date(`${value}T00:00Z`) : undefined;
  // `Date` takes the 31st of a shorter month for a day of the next one.
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value) || !isCalendarDate(value.slice(0, 10))) return undefined;
  const time = new Date(offset.test(value) ? value : `${value}Z`);
  const year = time.getUTCFullYear();
  return year >= 1 && year <= 9_999 ? time : undefined;
}

const isDate = /^\d{4}-\d\d-\d\d$/;
const offset = /(?:Z|[+-]\d\d:?\d\d)$/i;

/** The value as a date that exists (YYYY-MM-DD), or the date part of a time as written; undefined if it is neither. */
export function dayOf(value: unknown): string | undefined {
  const day = typeof value === 'string' ? /^\d{4}-\d\d-\d\d(?=$|T)/.exec(value)?.[0] : undefined;
  return day !== undefined && isCalendarDate(day) ? day : undefined;
}

function contentOf(line: Line, toContent: (record: JsonRecord) => LineContent): LineContent {
  const parsed = parseRecord(line);
  return 'refused' in parsed ? { kind: 'refused', reason: parsed.refused } : toContent(parsed.record);
}
