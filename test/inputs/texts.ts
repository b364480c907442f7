import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';

/** The complete Big List of Naughty Strings (https://github.com/minimaxir/big-list-of-naughty-strings). */
export const blns = JSON.parse(
  readFileSync(join(import.meta.dirname, 'blns/blns.json'), 'utf8'),
) as readonly string[];

/** Texts that the list lacks: NUL, halves of surrogate pairs, direction marks, and noncharacters. */
export const strange: readonly string[] = [
  '\0',
  'a\0b',
  '\ud800',
  '\udfff',
  'a\udc00\ud800b',
  '\u202e\u2066right to left\u2069\u202c',
  '\u200e\u200f\u061c',
  '\ufeffmark',
  '\ufffe\uffff',
  '\u{10ffff}',
  '\u0001\u001f\u007f\u0080\u009f',
  '\u2028\u2029\u0085',
  '\r\n\t\v\f',
  'e\u0301\u0301\u0301',
  '\u0130\u0131ß\u017f\u1e9e',
  '\\',
  '%',
  '_',
  "'",
  '"',
  '$1',
  '{}',
  '(',
  '%00',
  '%zz',
  '__proto__',
  'constructor',
  'toString',
];

/** Spellings of numbers that are easily misread. */
export const strangeNumbers: readonly string[] = [
  '-0',
  '0',
  '-1',
  '1.0',
  '1.5',
  '1e2',
  '1E400',
  '-1e400',
  '1e-400',
  '2147483647',
  '2147483648',
  '-2147483648',
  '-2147483649',
  '4294967296',
  '9007199254740991',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775809',
  '0.1e1',
  '100000000000000000000000000000000',
];

/** Spellings of dates and times, most of them invalid. */
export const strangeTimes: readonly string[] = [
  '0000-01-01',
  '0001-01-01',
  '9999-12-31',
  '10000-01-01',
  '+010000-01-01',
  '-000001-01-01',
  '2026-02-29',
  '2024-02-29',
  '2026-13-01',
  '2026-00-10',
  '2026-01-00',
  '2026-1-1',
  '20260101',
  '2026-W01-1',
  '0000-12-31T23:59:59Z',
  '0001-01-01T00:00:00Z',
  '0001-01-01T00:00:00+14:00',
  '9999-12-31T23:59:59.999Z',
  '9999-12-31T23:59:59.9999999Z',
  '9999-12-31T23:59:59-00:01',
  '10000-01-01T00:00:00Z',
  '2016-12-31T23:59:60Z',
  '2026-01-01T24:00:00Z',
  '2026-01-01T24:00:01Z',
  '2026-01-01T00:60:00Z',
  '2026-01-01T00:00:00.123456789Z',
  '2026-01-01T00:00:00.1234567890Z',
  '2026-01-01T00:00:00,5Z',
  '2026-01-01T00:00Z',
  '2026-01-01T00Z',
  '2026-01-01T00:00:00',
  '2026-01-01 00:00:00Z',
  '2026-01-01t00:00:00z',
  '2026-01-01T00:00:00+24:00',
  '2026-01-01T00:00:00+23:59',
  '2026-01-01T00:00:00-23:59',
  '2026-01-01T00:00:00+00:60',
  '2026-01-01T00:00:00-00:00',
  '2026-01-01T00:00:00+0100',
  '2026-01-01T00:00:00\u221201:00',
  '２０２６-01-01',
  'infinity',
  '-infinity',
  'now',
  'today',
  'epoch',
  'allballs',
  'NaN',
];

/** Any UTF-16 units, including halves of surrogate pairs, which JSON can express and UTF-8 cannot. */
const anyCodes = fc
  .array(fc.oneof(fc.nat({ max: 0x2ff }), fc.nat({ max: 0xff_ff }), fc.nat({ max: 0x10_ff_ff })), {
    maxLength: 60,
  })
  .map((codes) => String.fromCodePoint(...codes));

/** Any text. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  { arbitrary: fc.constantFrom(...blns), weight: 4 },
  { arbitrary: fc.constantFrom(...strange, ...strangeNumbers, ...strangeTimes), weight: 3 },
  { arbitrary: anyCodes, weight: 3 },
  { arbitrary: fc.string({ maxLength: 60 }), weight: 2 },
  {
    arbitrary: fc
      .tuple(fc.constantFrom('x', '𝒳', ' ', 'é\u0301'), fc.integer({ min: 200, max: 3_000 }))
      .map(([text, times]) => text.repeat(times)),
    weight: 1,
  },
);

/** Any JSON. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1.5,
    2 ** 31,
    2 ** 53,
    -(2 ** 31) - 1,
    '',
    [],
    {},
    [[]],
    [null],
  ),
  anyText,
  fc.jsonValue({ maxDepth: 3 }),
);
