import { timeParts } from '../../db/wire/time-bytes.ts';
import { Bail } from './frame.ts';

/** A time in PostgreSQL's text format (`2026-01-31 12:00:00.5+00`) as ISO 8601 in UTC, to the millisecond. */
export function isoTime(text: string): string {
  if (text.length >= 22 && text.endsWith('+00') && text[4] === '-' && text[10] === ' ') {
    const fraction = text.length === 22 ? '.000' : text.slice(19, -3).padEnd(4, '0');
    if (fraction.length === 4) return `${text.slice(0, 10)}T${text.slice(11, 19)}${fraction}Z`;
  }
  const time = new Date(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'));
  if (Number.isNaN(time.getTime())) throw new Bail(`The time cannot be read: ${text}`);
  return time.toISOString();
}

const pattern = Buffer.from('0000-00-00T00:00:00.000Z');
export const isoLength = pattern.length;

/**
 * Writes a time in PostgreSQL's binary format as ISO 8601; the caller makes room. Writes nothing and returns false for a
 * year that has no four digits.
 */
export function writeIsoTime(bytes: Buffer, at: number, source: Buffer, start: number): boolean {
  const parts = timeParts(source, start);
  if (!parts) return false;
  const { year, month, day, micros } = parts;
  const millis = Math.floor(micros / 1_000);
  const seconds = Math.floor(millis / 1_000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  for (let index = 0; index < isoLength; index += 1) bytes[at + index] = pattern[index] as number;
  writeTwo(bytes, at, Math.floor(year / 100));
  writeTwo(bytes, at + 2, year % 100);
  writeTwo(bytes, at + 5, month);
  writeTwo(bytes, at + 8, day);
  writeTwo(bytes, at + 11, hours);
  writeTwo(bytes, at + 14, minutes - hours * 60);
  writeTwo(bytes, at + 17, seconds - minutes * 60);
  const rest = millis - seconds * 1_000;
  bytes[at + 20] = 0x30 + Math.floor(rest / 100);
  writeTwo(bytes, at + 21, rest % 100);
  return true;
}

const written = Buffer.from(pattern);

/** A time in PostgreSQL's binary format as ISO 8601; undefined for a year that has no four digits. */
export function isoTimeOfBytes(source: Buffer, start: number): string | undefined {
  return writeIsoTime(written, 0, source, start) ? written.toString('latin1') : undefined;
}

function writeTwo(bytes: Buffer, at: number, number: number): void {
  const tens = Math.floor(number / 10);
  bytes[at] = 0x30 + tens;
  bytes[at + 1] = 0x30 + number - tens * 10;
}
