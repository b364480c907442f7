import { blankRule, limits as writeLimits } from '../schema/builder/limits.ts';
import { type NamedKind, type Naming, naming } from '../schema/builder/naming.ts';
import { isCalendarDate, parseDateTime } from '../schema/builder/scalars.ts';
import { codeSchema, codesOf } from './enums.ts';
import { idLength, idProblem, idTail } from './ids.ts';
import { type JsonSchema, largestInt32 } from './json-schema.ts';
import { hint, nearest } from './nearest.ts';

/** One thing that is wrong with a request; `field` is the name of a parameter or the path of a field. */
export interface Violation {
  field: string;
  message: string;
}

/** What came of reading a value: the value, or all that is wrong with it, each field relative to the value. */
export type Read<T> = { value: T } | { problems: readonly Violation[] };

/** A word for a value in a body: how OpenAPI describes it, and how it is read. */
export interface JsonValue<T> {
  readonly word: 'value';
  readonly description: string;
  readonly schema: JsonSchema;
  /** What it names, or each item of it, where it names something. */
  readonly names?: Naming | undefined;
  readonly fromJson: (value: unknown) => Read<T>;
}

/** A word for a value in a body or a query. */
export interface Value<T> extends JsonValue<T> {
  readonly fromText: (text: string) => Read<T>;
}

interface TextLimits {
  /** From 1 on, the text must not be white space alone. */
  minLength?: 0 | 1;
  maxLength?: number;
  /** White space at both ends does not count and is not kept. */
  trimmed?: boolean;
  /** What clients are told of its characters where the graph takes fewer of them than any text may have. */
  pattern?: string;
}

/** Of a text that says no other: what a filter compares with. */
const longestText = writeLimits.filterText;

/** A text; lengths count characters, not UTF-16 units. */
export function text(
  description: string,
  { trimmed = false, minLength = 0, maxLength = longestText, pattern }: TextLimits = {},
): Value<string> {
  const standard = minLength === 0 ? anyText : trimmed ? shownText : keptText;
  const schema = {
    type: 'string',
    pattern: pattern ?? standard,
    ...(minLength > 0 && { minLength }),
    maxLength,
  };
  return stringValue(description, schema, (given) => {
    const value = trimmed ? given.trim() : given;
    const problem = characterProblem(value) ?? lengthProblem(value, { minLength, maxLength });
    if (problem !== undefined) return bad(problem);
    return minLength > 0 && !/\S/.test(value) ? bad(blankRule) : { value };
  });
}

/**
 * What clients are told of the characters of texts: no NUL anywhere, and no byte order mark in front, which is named since
 * not every dialect of regular expressions counts it as white space. The first may be empty; the others must show something,
 * and of `shownText` the white space in front is not kept.
 */
const anyText = String.raw`^(?:[^\x00\ufeff][^\x00]*)?$`;
const shownText = String.raw`^[\s\ufeff]*[^\x00\s\ufeff][^\x00]*$`;
const keptText = String.raw`^(?:[^\S\ufeff][\s\ufeff]*)?[^\x00\s\ufeff][^\x00]*$`;

/** The id of one kind of thing (`issue_…`), judged by its form alone: whether the thing exists is the graph's to say. */
export function id(prefix: NamedKind, description: string): Value<string> {
  const schema = { type: 'string', pattern: `^${prefix}_${idTail}$`, maxLength: idLength(prefix) };
  const value = stringValue(description, schema, (given) => {
    const problem = idProblem(prefix, given);
    return problem === undefined ? { value: given } : bad(problem);
  });
  return { ...value, ...naming('id', prefix) };
}

/** The key or the code that people know a thing by; whether there is such a thing is the graph's to say. */
export function keyOf(prefix: NamedKind, description: string): Value<string> {
  return { ...text(description, { minLength: 1, maxLength: longestKey }), ...naming('key', prefix) };
}

/** A place in a list, as a page before gave it; whether it is one of this list is the graph's to say. */
export function cursor(description: string, maxLength: number): Value<string> {
  const { schema, ...value } = text(description, { maxLength });
  return { ...value, schema: { ...schema, pattern: '^[A-Za-z0-9_-]*$' }, ...naming('cursor') };
}

/** Of the years 1 to 9999. */
const day = '(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}';
/** Without leap seconds. */
const clock = String.raw`[0-9]{2}:[0-9]{2}(?::[0-5][0-9](?:\.[0-9]{1,9})?)?`;

/** A real calendar date. */
export function date(description: string): Value<string> {
  const schema = { type: 'string', format: 'date', pattern: `^${day}$`, maxLength: 10 };
  return stringValue(description, schema, (value) =>
    isCalendarDate(value) ? { value } : bad('must be a calendar date, such as 2026-01-31'),
  );
}

/** A moment: ISO 8601 with an offset or Z. */
export function dateTime(description: string): Value<string> {
  // To the nanosecond, with an offset; finer times are none.
  const maxLength = '2026-01-31T12:00:00.000000000+02:00'.length;
  const pattern = `^${day}[Tt]${clock}(?:[Zz]|[+-][0-9]{2}:[0-9]{2})$`;
  const schema = { type: 'string', format: 'date-time', pattern, maxLength };
  const refusal = bad('must be a time with an offset or Z, such as 2026-01-31T12:00:00Z');
  const read = (text: string) => (parseDateTime(text) ? { value: text } : refusal);
  return {
    ...stringValue(description, schema, read),
    // In a query a plus that was not encoded stands for a space, and before an offset nothing else can be meant.
    fromText: (text) => read(text.replace(/ (?=\d\d:\d\d$)/, '+')),
  };
}

/** No key or code is longer, in a path or in a query. */
export const longestKey = 64;

/** Something of a host; that nothing stands there but a name and an @, `URL` finds out. */
const httpUrlForm = /^https?:\/\/@*[^/?#@\s\\][^\s\\]*$/i;

/** An absolute http or https URL; white space at both ends does not count and is not kept. */
export function httpUrl(description: string, { maxLength }: { maxLength: number }): Value<string> {
  const pattern = String.raw`^[Hh][Tt][Tt][Pp][Ss]?://@*[^/?#@\s\\\x00][^\s\\\x00]*$`;
  const schema = { type: 'string', format: 'uri', pattern, minLength: 1, maxLength };
  return stringValue(description, schema, (given) => {
    const value = given.trim();
    const problem = characterProblem(value) ?? lengthProblem(value, { minLength: 1, maxLength });
    if (problem !== undefined) return bad(problem);
    return httpUrlForm.test(value) && URL.canParse(value)
      ? { value }
      : bad('must be an http or https URL, such as https://example.com/page');
  });
}

/** One of some spellings, each with the meaning that it stands for. */
export function oneOf<T>(spellings: Readonly<Record<string, T>>, description: string): Value<T> {
  const meanings = new Map(Object.entries(spellings));
  const known = [...meanings.keys()];
  return stringValue(description, { type: 'string', enum: known }, (spelling) => {
    const value = meanings.get(spelling);
    return value === undefined
      ? bad(`must be one of ${known.join(', ')}${hint(spelling, known)}`)
      : { value };
  });
}

/** True or false. */
export function boolean(description: string): Value<boolean> {
  const refusal = bad('must be true or false');
  return {
    word: 'value',
    description,
    schema: { type: 'boolean' },
    fromText: (given) => (given === 'true' || given === 'false' ? { value: given === 'true' } : refusal),
    fromJson: (value) => (typeof value === 'boolean' ? { value } : refusal),
  };
}

/** A whole number of 32 bits, between two bounds that are both allowed. */
export function integer(
  description: string,
  { minimum = -largestInt32 - 1, maximum = largestInt32 }: { minimum?: number; maximum?: number } = {},
): Value<number> {
  const refusal = bad(`must be a whole number from ${minimum} to ${maximum}`);
  const fromNumber = (value: number) =>
    Number.isInteger(value) && value >= minimum && value <= maximum ? { value } : refusal;
  return {
    word: 'value',
    description,
    schema: { type: 'integer', format: 'int32', minimum, maximum },
    fromText: (given) => (/^(0|-?[1-9]\d{0,9})$/.test(given) ? fromNumber(Number(given)) : refusal),
    fromJson: (value) => (typeof value === 'number' ? fromNumber(value) : refusal),
  };
}

/** A number of a code table, read as the name of the graph's enum. */
export function code<Name extends string>(enumName: string, description: string): JsonValue<Name> {
  const codes = codesOf(enumName);
  // The caller's type is generated from this enum of the schema.
  const names = new Map([...codes].map(([name, number]) => [number, name as Name]));
  const list = [...names]
    .map(([number, name]) => `${number} (${name.toLowerCase().replaceAll('_', ' ')})`)
    .join(', ');
  return {
    word: 'value',
    description: `${description} ${list}.`,
    schema: codeSchema(codes),
    fromJson: (value) => {
      const name = typeof value === 'number' ? names.get(value) : undefined;
      return name === undefined ? bad(`must be one of ${list}${codeHint(value, codes)}`) : { value: name };
    },
  };
}

/** Somebody who sends the name of a code most likely meant its number. */
function codeHint(given: unknown, codes: ReadonlyMap<string, number>): string {
  const named = typeof given === 'string' ? nearest(given, [...codes.keys()]) : undefined;
  return named === undefined ? '' : `; did you mean ${codes.get(named)}?`;
}

/** What is wrong with a value as a whole. */
export function bad(message: string): { problems: readonly Violation[] } {
  return { problems: [{ field: '', message }] };
}

function stringValue<T>(
  description: string,
  schema: JsonSchema,
  fromText: (text: string) => Read<T>,
): Value<T> {
  return {
    word: 'value',
    description,
    schema,
    fromText,
    fromJson: (value) => (typeof value === 'string' ? fromText(value) : bad('must be a string')),
  };
}

function characterProblem(value: string): string | undefined {
  if (value.includes('\0') || !value.isWellFormed()) return 'must not contain NUL or half a surrogate pair';
  return value.startsWith('\uFEFF') ? 'must not begin with a byte-order mark' : undefined;
}

function lengthProblem(value: string, { minLength = 0, maxLength }: TextLimits): string | undefined {
  // There are never more characters than UTF-16 units, so most texts need not be counted.
  const tooLong = maxLength !== undefined && value.length > maxLength && Array.from(value).length > maxLength;
  if (!tooLong && value.length >= minLength) return undefined;
  if (maxLength === undefined) return `must have at least ${minLength} characters`;
  return minLength > 0
    ? `must have ${minLength} to ${maxLength} characters`
    : `must have at most ${maxLength} characters`;
}
