import type { LineContent, SourceLine } from '../../portability/import/import-issue.ts';
import type { Line } from './lines.ts';

export type JsonRecord = Record<string, unknown>;

/** Reads lines of JSON objects; what is none is refused with its reason, empty lines are passed over. */
export async function* recordLines(
  lines: AsyncIterable<Line>,
  toContent: (record: JsonRecord) => LineContent,
): AsyncGenerator<SourceLine> {
  for await (const line of lines) {
    if (line.text?.trim() === '') continue;
    yield { ...contentOf(line, toContent), line: line.number, bytesRead: line.bytesRead };
  }
}

const arrayRefusal = "it is an array, not an object; `jq -c '.[]'` makes lines of one";

/** The object that a line holds, or why it holds none. */
export function parseRecord(line: Line): { record: JsonRecord } | { refused: string } {
  if (line.text === undefined) return { refused: line.problem };
  try {
    const value: unknown = JSON.parse(line.text);
    return isRecord(value)
      ? { record: value }
      : { refused: Array.isArray(value) ? arrayRefusal : 'it is JSON but no object' };
  } catch {
    return { refused: line.isEnded ? 'it is not JSON' : 'it is not JSON; the file ends within the line' };
  }
}

/** The text of a field; undefined when there is none. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A text that says something. */
export function wordOf(value: unknown): string | undefined {
  const text = textOf(value)?.trim();
  return text === '' ? undefined : text;
}

/** A point in time of the years 1 to 9999; undefined for anything else. */
export function timeOf(value: unknown): Date | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(value)) return undefined;
  const time = new Date(value);
  const year = time.getUTCFullYear();
  return year >= 1 && year <= 9_999 ? time : undefined;
}

/** A day that the calendar has, as YYYY-MM-DD; of a time its day where it was written. */
export function dayOf(value: unknown): string | undefined {
  const day = typeof value === 'string' ? /^\d{4}-\d\d-\d\d(?=$|T)/.exec(value)?.[0] : undefined;
  const time = day === undefined || day.startsWith('0000') ? undefined : new Date(`${day}T00:00:00Z`);
  return time && !Number.isNaN(time.getTime()) && time.toISOString().startsWith(day ?? '') ? day : undefined;
}

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list; whatever else is in it is passed over. */
export function recordsOf(value: unknown): JsonRecord[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function contentOf(line: Line, toContent: (record: JsonRecord) => LineContent): LineContent {
  const parsed = parseRecord(line);
  return 'refused' in parsed ? { kind: 'refused', reason: parsed.refused } : toContent(parsed.record);
}
