import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonSchema } from '../../src/rest-compat/json-schema.ts';
import { maxInt32 } from '../../src/model/int32.ts';
import type { OpenApi } from '../support/openapi.ts';

/** Makes a function that checks whether a schema of the document accepts a value, including its format. */
export function validatorOf({ components }: OpenApi): (schema: object, value: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false, validateFormats: true });
  const compiled = new Map<object, ValidateFunction>();
  ajv.addFormat('int32', { type: 'number', validate: (value: number) => value === (value | 0) });
  ajv.addFormat('date', isDate);
  ajv.addFormat('date-time', (text: string) => {
    const [, day, rest] = /^(\d{4}-\d\d-\d\d)[Tt](.*)$/.exec(text) ?? [];
    const clock = /^\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;
    return isDate(day ?? '') && clock.test(rest ?? '') && !Number.isNaN(Date.parse(text));
  });
  ajv.addFormat('uri', (text: string) => !/\s/.test(text) && URL.canParse(text));
  return (schema, value) => {
    const validate = compiled.get(schema) ?? ajv.compile({ ...schema, components });
    compiled.set(schema, validate);
    return validate(value);
  };
}

function isDate(text: string): boolean {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** Texts just inside and just outside the limits of a schema. */
export function textsAround({ maxLength = 0, enum: known = [], format }: JsonSchema): string[] {
  const sized = ['x', '\u{1f600}'].flatMap((character) => [
    character.repeat(maxLength),
    character.repeat(maxLength + 1),
  ]);
  const blanks = ['', ' ', ' \t\n', '\u00a0\u3000', '\u2028', '\ufeff', ' \ufeff '];
  const odd = ['\ufeffx', 'x\0', '\0', 'x', ' x', '-', 'null', 'a/b', '..', '\u0085', 'x\u0007', 'ACTIVE'];
  const words = known.flatMap((word) => [String(word), `${String(word)}x`, String(word).toUpperCase()]);
  if (format === 'date') return [...dates, ...dates.map((day) => `${day}T00:00:00Z`), ...blanks, ...odd];
  if (format === 'date-time') return [...times, ...blanks, ...odd];
  if (format === 'uri') return [...urls(maxLength), ...blanks, ...odd];
  return [...words, ...sized, ...blanks, ...odd];
}

const dates = [
  '2026-01-31',
  '2026-02-29',
  '2024-02-29',
  '0001-01-01',
  '0000-01-01',
  '9999-12-31',
  '10000-01-01',
];

const times = [
  '2026-01-31T12:00:00Z',
  '2026-01-31t12:00:00z',
  '2026-01-31T12:00:00.123456789+02:00',
  '2026-01-31T12:00:00.1234567890+02:00',
  '2026-01-31T23:59:60Z',
  '2026-01-31T24:00:01Z',
  '2026-01-31T12:00:00',
  '2026-02-30T12:00:00Z',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '2026-01-31 12:00:00Z',
];

function urls(maxLength: number): string[] {
  const start = 'https://example.com/';
  return [
    start,
    'HTTP://example.com',
    'ftp://example.com/',
    'javascript:alert(1)',
    '//example.com',
    'https://',
    'https://exa mple.com',
    'https://example.com/\0',
    start.padEnd(maxLength, 'x'),
    start.padEnd(maxLength + 1, 'x'),
  ];
}

/** JSON values just inside and just outside the limits of a schema. `real` is a value that names an existing object. */
export function valuesAround(schema: JsonSchema, real: unknown): unknown[] {
  const others = [null, true, false, 0, 1, -1, 1.5, '1', '', [], {}, [null]];
  const { minimum = -maxInt32 - 1, maximum = maxInt32, anyOf, items, maxItems = 0 } = schema;
  const [named] = anyOf ?? [];
  if (named) return [...others, ...valuesAround(named, real)];
  const types = [schema.type].flat();
  if (types.includes('string')) return [...others, ...textsAround(schema)];
  if (types.includes('array')) {
    const item = Array.isArray(real) ? (real[0] as unknown) : undefined;
    if (items === undefined || item === undefined) return others;
    const fewer = Array.from({ length: maxItems }, () => item);
    return [...others, [item], fewer, [item, null], [item, 'x']];
  }
  return [...others, minimum, maximum, minimum - 1, maximum + 1, minimum + 0.5, ...(schema.enum ?? [])];
}

/** A text of the maximum length that a schema accepts, of characters with the longest URL encoding. */
export function maxText(schema: JsonSchema, allows: (value: unknown) => boolean): string {
  const { maxLength = 0, enum: known, type } = schema;
  if (known) return known.map(String).toSorted((one, other) => other.length - one.length)[0] ?? '';
  if (type === 'boolean') return 'false';
  if (type === 'integer') return String(schema.maximum);
  const [, prefix] = /^\^([a-z]+)_/.exec(schema.pattern ?? '') ?? [];
  if (prefix !== undefined) return `${prefix}_01h455vb4pex5vsknk084sn02q`;
  const candidates = [
    ...['\u{1f600}', 'x', '0', '"'].map((character) => character.repeat(maxLength)),
    // The parameters of a media type.
    `;${'\u{1f600}'.repeat(Math.max(maxLength - 1, 0))}`,
    '2026-01-31T12:00:00.123456789+02:00',
    '2026-01-31',
  ];
  const found = candidates.find(allows);
  if (found === undefined) throw new Error(`No text is the longest of ${JSON.stringify(schema)}.`);
  return found;
}
