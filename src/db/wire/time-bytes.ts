const secondMicros = 1_000_000;
const dayMicros = 86_400 * secondMicros;
/** Days from 1 March of year 0, where this calendar arithmetic begins, to 1 January 2000. */
const daysTo2000 = 730_425;
const eraDays = 146_097;
const wordSize = 2 ** 32;
/** The high word up to which microseconds are exact in a JavaScript number: 285 years around 2000. */
const exactWords = 2 ** 20;
const infinity = 2n ** 63n - 1n;

/** The parts of a point in time that are printed. */
export interface TimeParts {
  year: number;
  month: number;
  day: number;
  /** Microseconds of the day. */
  micros: number;
}

/** Reused for every time, so that no object is allocated per cell. */
const parts: TimeParts = { year: 0, month: 0, day: 0, micros: 0 };
/** The day that `parts` holds, in days since 2000: many times of a page are of one day. */
let daysOfParts = Number.NaN;

/**
 * The parts of the time whose bytes begin at `start`. The object is overwritten by the next call. Undefined for times
 * more than 285 years from 2000.
 */
export function timeParts(bytes: Buffer, start: number): TimeParts | undefined {
  const words = bytes.readInt32BE(start);
  if (words >= exactWords || words < -exactWords) return undefined;
  const micros = words * wordSize + bytes.readUInt32BE(start + 4);
  const days = Math.floor(micros / dayMicros);
  return partsOf(days, micros - days * dayMicros);
}

/** The text of the time whose bytes begin at `start`, as PostgreSQL prints it in UTC. */
export function timeText(bytes: Buffer, start: number): string {
  const { year, month, day, micros } = timeParts(bytes, start) ?? farParts(bytes.readBigInt64BE(start));
  if (!Number.isFinite(year)) return year > 0 ? 'infinity' : '-infinity';
  const seconds = Math.floor(micros / secondMicros);
  const date = `${String(year > 0 ? year : 1 - year).padStart(4, '0')}-${two(month)}-${two(day)}`;
  const time = `${two(Math.floor(seconds / 3_600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  const rest = micros % secondMicros;
  const fraction = rest === 0 ? '' : String(rest / secondMicros).slice(1);
  return `${date} ${time}${fraction}+00${year > 0 ? '' : ' BC'}`;
}

function farParts(micros: bigint): TimeParts {
  if (micros === infinity) return { ...parts, year: Number.POSITIVE_INFINITY };
  if (micros === -infinity - 1n) return { ...parts, year: Number.NEGATIVE_INFINITY };
  const day = BigInt(dayMicros);
  const rest = ((micros % day) + day) % day;
  return partsOf(Number((micros - rest) / day), Number(rest));
}

/**
 * The calendar day from the days since 2000. Eras of 400 years begin on 1 March, so that a leap day is a year's last.
 */
function partsOf(days: number, micros: number): TimeParts {
  parts.micros = micros;
  if (days === daysOfParts) return parts;
  daysOfParts = days;
  const since = days + daysTo2000;
  const era = Math.floor(since / eraDays);
  const ofEra = since - era * eraDays;
  const yearOfEra = Math.floor(
    (ofEra - Math.floor(ofEra / 1_460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  );
  const ofYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const fromMarch = Math.floor((5 * ofYear + 2) / 153);
  parts.day = ofYear - Math.floor((153 * fromMarch + 2) / 5) + 1;
  parts.month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9;
  parts.year = yearOfEra + era * 400 + (parts.month <= 2 ? 1 : 0);
  return parts;
}

function two(number: number): string {
  return number < 10 ? `0${number}` : `${number}`;
}
