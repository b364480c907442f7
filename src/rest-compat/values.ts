import { maxInt32 } from '../model/int32.ts';
import { wholeNumberRule } from '../model/sentences.ts';
import { httpUrlProblem, textProblem } from '../model/text-rules.ts';
import { limits } from '../model/limits.ts';
import { type NamedKind, type Naming, naming } from '../schema/builder/naming.ts';
import { isCalendarDate, parseDateTime } from '../model/times.ts';
import { codeSchema, codesOf } from './enums.ts';
import { idLength, idProblem, idTail } from './ids.ts';
import type { JsonSchema } from './json-schema.ts';
import { suggestionFor, nearest } from '../model/nearest.ts';

/** One violation. `field` is the name of a parameter or the path of a field. */
export interface Violation {
  field: string;
  message: string;
}

/** The result of reading a value: the value, or all violations, whose fields are relative to the value. */
export type ReadResult<T> = { value: T } | { violations: readonly Violation[] };

/** Declares a value in a body: how OpenAPI describes it, and how it is read. */
export interface JsonValue<T> {
  readonly kind: 'value';
  readonly description: string;
  readonly schema: JsonSchema;
  /** The kind of object that the value, or each of its items, identifies, if it is an id or key. */
  readonly names?: Naming | undefined;
  readonly fromJson: (value: unknown) => ReadResult<T>;
}

/** Declares a value in a body or a query. */
export interface Value<T> extends JsonValue<T> {
  readonly fromText: (text: string) => ReadResult<T>;
}

interface TextLimits {
  /** With 1, the text must not consist of white space alone. */
  minLength?: 0 | 1;
  maxLength?: number;
  /** Whether white space at both ends is removed. */
  trimmed?: boolean;
  /** The pattern in the description, if GraphQL accepts fewer characters than in other texts. */
  pattern?: string;
}

/** The default maximum length of a text, which is that of filters. */
const defaultMaxLength = limits.filterText;

/** Declares a text. Lengths count characters, and not UTF-16 units. */
export function text(
  description: string,
  { trimmed = false, minLength = 0, maxLength = defaultMaxLength, pattern }: TextLimits = {},
): Value<string> {
  const defaultPattern = minLength === 0 ? anyText : trimmed ? trimmedText : untrimmedText;
  const schema = {
    type: 'string',
    pattern: pattern ?? defaultPattern,
    ...(minLength > 0 && { minLength }),
    maxLength,
  };
  return stringValue(description, schema, (input) => {
    const problem = textProblem(input, { min: minLength, max: maxLength, trimmed });
    return problem === undefined ? { value: trimmed ? input.trim() : input } : violation(problem);
  });
}

/**
 * Patterns for texts: no NUL, and no byte order mark at the beginning, which not every dialect of regular expressions
 * counts as white space. `anyText` may be empty. The others must contain more than white space, and `trimmedText` is
 * trimmed.
 */
const anyText = String.raw`^(?:[^\x00\ufeff][^\x00]*)?$`;
const trimmedText = String.raw`^[\s\ufeff]*[^\x00\s\ufeff][^\x00]*$`;
const untrimmedText = String.raw`^(?:[^\S\ufeff][\s\ufeff]*)?[^\x00\s\ufeff][^\x00]*$`;

/** Declares an id with this prefix (`issue_…`). Only its form is checked here; the operation checks that it exists. */
export function id(prefix: NamedKind, description: string): Value<string> {
  const schema = { type: 'string', pattern: `^${prefix}_${idTail}$`, maxLength: idLength(prefix) };
  const value = stringValue(description, schema, (input) => {
    const problem = idProblem(prefix, input);
    return problem === undefined ? { value: input } : violation(problem);
  });
  return { ...value, ...naming('id', prefix) };
}

/** Declares a key or code. The operation checks that it exists. */
export function keyOf(prefix: NamedKind, description: string): Value<string> {
  return { ...text(description, { minLength: 1, maxLength: maxKeyLength }), ...naming('key', prefix) };
}

/** Declares a cursor from an earlier page. The operation checks that it belongs to the list. */
export function cursor(description: string, maxLength: number): Value<string> {
  const { schema, ...value } = text(description, { maxLength });
  return { ...value, schema: { ...schema, pattern: '^[A-Za-z0-9_-]*$' }, ...naming('cursor') };
}

/** The pattern of a day of the years 1 to 9999. */
const day = '(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}';
/** The pattern of a time of day, without leap seconds. */
const clock = String.raw`[0-9]{2}:[0-9]{2}(?::[0-5][0-9](?:\.[0-9]{1,9})?)?`;

/** Declares a calendar date, which must exist. */
export function date(description: string): Value<string> {
  const schema = { type: 'string', format: 'date', pattern: `^${day}$`, maxLength: 10 };
  return stringValue(description, schema, (value) =>
    isCalendarDate(value) ? { value } : violation('must be a calendar date, such as 2026-01-31'),
  );
}

/** Declares a time: ISO 8601 with an offset or Z. */
export function dateTime(description: string): Value<string> {
  // The longest form has nanoseconds and an offset.
  const maxLength = '2026-01-31T12:00:00.000000000+02:00'.length;
  const pattern = `^${day}[Tt]${clock}(?:[Zz]|[+-][0-9]{2}:[0-9]{2})$`;
  const schema = { type: 'string', format: 'date-time', pattern, maxLength };
  const refusal = violation('must be a time with an offset or Z, such as 2026-01-31T12:00:00Z');
  const read = (text: string) => (parseDateTime(text) ? { value: text } : refusal);
  return {
    ...stringValue(description, schema, read),
    // In a query, an unencoded plus means a space. Before an offset it can only be meant as a plus.
    fromText: (text) => read(text.replace(/ (?=\d\d:\d\d$)/, '+')),
  };
}

/** The longest key or code, in a path or in a query. */
export const maxKeyLength = 64;

/** Declares an absolute http or https URL. White space at both ends is removed. */
export function httpUrl(description: string, { maxLength }: { maxLength: number }): Value<string> {
  const pattern = String.raw`^[Hh][Tt][Tt][Pp][Ss]?://@*[^/?#@\s\\\x00][^\s\\\x00]*$`;
  const schema = { type: 'string', format: 'uri', pattern, minLength: 1, maxLength };
  return stringValue(description, schema, (input) => {
    const problem = httpUrlProblem(input, maxLength);
    return problem === undefined ? { value: input.trim() } : violation(problem);
  });
}

/** Declares one of several spellings, each with its value. */
export function oneOf<T>(spellings: Readonly<Record<string, T>>, description: string): Value<T> {
  const meanings = new Map(Object.entries(spellings));
  const known = [...meanings.keys()];
  const [only, second] = known;
  return stringValue(description, { type: 'string', enum: known }, (spelling) => {
    const value = meanings.get(spelling);
    if (value !== undefined) return { value };
    return violation(
      second === undefined
        ? `must be ${only}`
        : `must be one of ${known.join(', ')}${suggestionFor(spelling, known)}`,
    );
  });
}

/** Declares a boolean. */
export function boolean(description: string): Value<boolean> {
  const refusal = violation('must be true or false');
  return {
    kind: 'value',
    description,
    schema: { type: 'boolean' },
    fromText: (input) => (input === 'true' || input === 'false' ? { value: input === 'true' } : refusal),
    fromJson: (value) => (typeof value === 'boolean' ? { value } : refusal),
  };
}

/** Declares an integer of 32 bits between two bounds, both inclusive. */
export function integer(
  description: string,
  { minimum = -maxInt32 - 1, maximum = maxInt32 }: { minimum?: number; maximum?: number } = {},
): Value<number> {
  const refusal = violation(wholeNumberRule(minimum, maximum));
  const fromNumber = (value: number) =>
    Number.isInteger(value) && value >= minimum && value <= maximum ? { value } : refusal;
  return {
    kind: 'value',
    description,
    schema: { type: 'integer', format: 'int32', minimum, maximum },
    fromText: (input) => (/^(0|-?[1-9]\d{0,9})$/.test(input) ? fromNumber(Number(input)) : refusal),
    fromJson: (value) => (typeof value === 'number' ? fromNumber(value) : refusal),
  };
}

/** Declares a code, which is read as the value of a GraphQL enum. */
export function code<Name extends string>(enumName: string, description: string): JsonValue<Name> {
  const codes = codesOf(enumName);
  // The type of the caller is generated from this enum.
  const names = new Map([...codes].map(([name, number]) => [number, name as Name]));
  const list = [...names]
    .map(([number, name]) => `${number} (${name.toLowerCase().replaceAll('_', ' ')})`)
    .join(', ');
  return {
    kind: 'value',
    description: `${description} ${list}.`,
    schema: codeSchema(codes),
    fromJson: (value) => {
      const name = typeof value === 'number' ? names.get(value) : undefined;
      return name === undefined
        ? violation(`must be one of ${list}${codeHint(value, codes)}`)
        : { value: name };
    },
  };
}

/** A hint for a client that sends the name of a code instead of its number. */
function codeHint(input: unknown, codes: ReadonlyMap<string, number>): string {
  const named = typeof input === 'string' ? nearest(input, [...codes.keys()]) : undefined;
  return named === undefined ? '' : `; did you mean ${codes.get(named)}?`;
}

/** The result of reading an invalid value: one violation, of the value as a whole. */
export function violation(message: string): { violations: readonly Violation[] } {
  return { violations: [{ field: '', message }] };
}

function stringValue<T>(
  description: string,
  schema: JsonSchema,
  fromText: (text: string) => ReadResult<T>,
): Value<T> {
  return {
    kind: 'value',
    description,
    schema,
    fromText,
    fromJson: (value) => (typeof value === 'string' ? fromText(value) : violation('must be a string')),
  };
}
