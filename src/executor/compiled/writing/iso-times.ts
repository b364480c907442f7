import { timeParts } from '../../../db/wire/time-bytes.ts';
import { Bail } from '../run/frame.ts';

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

export const isoLength = '0000-00-00T00:00:00.000Z'.length;
const dash = 0x2d;
const colon = 0x3a;
const point = 0x2e;
const zero = 0x30;
const letterT = 0x54;
const letterZ = 0x5a;

/**
 * Writes a time in PostgreSQL's binary format as ISO 8601; the caller makes room. Writes nothing and returns false for a
 * year that has no four digits.
 */
export function writeIsoTime(bytes: Buffer, at: number, source: Buffer, start: number): boolean {
  const parts = timeParts(source, start);
  if (!parts) return false;
  const { year, month, day, micros } = parts;
  const seconds = Math.floor(micros / 1_000_000);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const millis = Math.floor((micros - seconds * 1_000_000) / 1_000);
  writeTwo(bytes, at, Math.floor(year / 100));
  writeTwo(bytes, at + 2, year % 100);
  bytes[at + 4] = dash;
  writeTwo(bytes, at + 5, month);
  bytes[at + 7] = dash;
  writeTwo(bytes, at + 8, day);
  bytes[at + 10] = letterT;
  writeTwo(bytes, at + 11, hours);
  bytes[at + 13] = colon;
  writeTwo(bytes, at + 14, minutes - hours * 60);
  bytes[at + 16] = colon;
  writeTwo(bytes, at + 17, seconds - minutes * 60);
  bytes[at + 19] = point;
  bytes[at + 20] = zero + Math.floor(millis / 100);
  writeTwo(bytes, at + 21, millis % 100);
  bytes[at + 23] = letterZ;
  return true;
}

const written = Buffer.alloc(isoLength);

/** A time in PostgreSQL's binary format as ISO 8601; undefined for a year that has no four digits. */
export function isoTimeOfBytes(source: Buffer, start: number): string | undefined {
  return writeIsoTime(written, 0, source, start) ? written.toString('latin1') : undefined;
}

function writeTwo(bytes: Buffer, at: number, number: number): void {
  const tens = Math.floor(number / 10);
  bytes[at] = zero + tens;
  bytes[at + 1] = zero + number - tens * 10;
}
