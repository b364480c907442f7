import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AnswerTooLargeError } from '../../src/db/engine/read-allowance.ts';
import { timeText } from '../../src/db/wire/time-bytes.ts';
import { uuidBytes } from '../../src/db/wire/uuid-bytes.ts';
import { Bail } from '../../src/executor/compiled/run/frame.ts';
import { JsonWriter } from '../../src/executor/compiled/writing/json-writer.ts';
import {
  fieldNames,
  idPrefixLiteral,
  literalOf,
  literalPiece,
  type Sink,
  writeList,
} from '../../src/executor/compiled/writing/sink.ts';
import { isoTime, isoTimeOfBytes } from '../../src/executor/compiled/writing/iso-times.ts';
import { ValueSink } from '../../src/executor/compiled/writing/value-sink.ts';
import { maxAnswerBytes } from '../../src/executor/limits.ts';
import { encodeId, newUuid } from '../../src/resolvers/ids.ts';
import { toRichText } from '../../src/resolvers/rich-text.ts';

/** The text that the writer sends. */
function written(write: (out: JsonWriter) => unknown): string {
  const out = new JsonWriter();
  write(out);
  return out.finish().bytes.toString();
}

describe('texts', () => {
  // Half a surrogate pair has no UTF-8 encoding.
  const texts = fc.string({ unit: 'grapheme', maxLength: 300 }).map((text) => text.toWellFormed());
  const control = fc.array(fc.integer({ min: 0, max: 0x9f }), { maxLength: 200 });

  it.each([
    ['of any characters', texts],
    ['of control characters', control.map((codes) => String.fromCharCode(...codes))],
  ])('%s are written as JSON.stringify does, from text and from bytes', (_what, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, (text) => {
        const json = JSON.stringify(text);
        const bytes = Buffer.from(`before${text}behind`);
        expect(written((out) => out.string(text))).toBe(json);
        expect(written((out) => out.utf8String(bytes, 6, bytes.length - 6))).toBe(json);
      }),
      { numRuns: 500 },
    );
  });

  it('longer than the first buffer are written completely', () => {
    const text = '\n"ü'.repeat(700_000);
    const bytes = Buffer.from(text);
    expect(written((out) => out.utf8String(bytes, 0, bytes.length))).toBe(JSON.stringify(text));
  });
});

it('an answer that is too large is refused soon after it exceeds the limit', () => {
  const out = new JsonWriter();
  const bytes = Buffer.from('"'.repeat(10_000));
  const writeUntilRefused = () => {
    for (;;) out.utf8String(bytes, 0, bytes.length);
  };
  expect(writeUntilRefused).toThrow(AnswerTooLargeError);
  expect(out.length).toBeGreaterThan(maxAnswerBytes);
  expect(out.length).toBeLessThan(1.2 * maxAnswerBytes);
});

it.each(['2026-01-31 12:00:00+00', '2026-01-31 12:00:00.5+00', '2026-12-31 23:59:59.999+00'])(
  'the time %s is written from its bytes as from its text',
  (text) => {
    const bytes = Buffer.from(`x${text}x`);
    expect(written((out) => out.time(bytes, 1, bytes.length - 1))).toBe(JSON.stringify(isoTime(text)));
  },
);

it.each(['2026-01-31 12:00:00.123456+00', '2026-01-31 12:00:00+02', '10000-01-01 00:00:00+00', 'infinity'])(
  'the time %s is left to its text',
  (text) => {
    const bytes = Buffer.from(text);
    expect(written((out) => expect(out.time(bytes, 0, bytes.length)).toBe(false))).toBe('');
  },
);

it.each([
  ['0', true],
  ['-17', true],
  ['999999999', true],
  ['2147483648', false],
  ['1.5', false],
  ['1e3', false],
])('the digits %s are an integer that can be copied: %s', (text, copied) => {
  const bytes = Buffer.from(text);
  expect(written((out) => expect(out.digits(bytes, 0, bytes.length)).toBe(copied))).toBe(copied ? text : '');
});

it('an id is written as encodeId does, from bytes and from text', () => {
  for (let time = 0; time < 200; time += 1) {
    const uuid = newUuid();
    const prefix = idPrefixLiteral('issue');
    const json = JSON.stringify(encodeId('issue', uuid));
    expect(written((out) => out.id(prefix, Buffer.concat([Buffer.from('--'), uuidBytes(uuid)]), 2))).toBe(
      json,
    );
    expect(written((out) => out.idOfText(prefix, uuid))).toBe(json);
  }
});

it('a time is written alike from its microseconds and from its text, unless it is very early or late', () => {
  const bytes = Buffer.alloc(9);
  const near = fc.bigInt({ min: -(2n ** 52n), max: 2n ** 52n - 1n });
  fc.assert(
    fc.property(near, (micros) => {
      bytes.writeBigInt64BE(micros, 1);
      const iso = isoTime(timeText(bytes, 1));
      expect(written((out) => out.timeOfBytes(bytes, 1))).toBe(JSON.stringify(iso));
      expect(isoTimeOfBytes(bytes, 1)).toBe(iso);
    }),
  );
  for (const micros of [2n ** 52n, -(2n ** 52n) - 1n, 2n ** 63n - 1n, -(2n ** 63n)]) {
    bytes.writeBigInt64BE(micros, 1);
    expect(written((out) => expect(out.timeOfBytes(bytes, 1)).toBe(false))).toBe('');
    expect(isoTimeOfBytes(bytes, 1)).toBeUndefined();
  }
});

it('a time that JSON cannot express is left to graphql-js', () => {
  expect(() => isoTime('infinity')).toThrow(Bail);
});

describe('both sinks', () => {
  const json = fc.jsonValue({ maxDepth: 3 });
  const [first, second] = fieldNames(['one', 'two']);
  const uuid = newUuid();
  const id = Buffer.from(uuidBytes(uuid));

  it.each<[string, (out: Sink, value: unknown) => void]>([
    ['any JSON value', (out, value) => out.json(value)],
    ['a literal', (out, value) => out.literal(literalOf(value))],
    ['an object without fields', (out) => (out.beginObject(), out.endObject())],
    [
      'a list of ids',
      (out) =>
        list(out, [
          () => out.id(idPrefixLiteral('team'), id, 0),
          () => out.idOfText(idPrefixLiteral('user'), uuid),
        ]),
    ],
    [
      'a string of pieces',
      (out, value) => {
        const text = JSON.stringify(value);
        out.beginString();
        out.inString(text);
        out.literalInString(literalPiece(text));
        out.utf8InString(Buffer.from(text), 0, Buffer.byteLength(text));
        out.endString();
      },
    ],
    [
      'objects in a list in an object',
      (out, value) => {
        out.beginObject();
        if (first) out.name(first);
        list(out, [
          () => out.null(),
          () => nested(out, value),
          () => out.boolean(true),
          () => nested(out, value),
        ]);
        if (second) out.name(second);
        out.integer(-7);
        out.endObject();
      },
    ],
  ])('give the same result for %s', (_what, write) => {
    fc.assert(
      fc.property(json, (value) => {
        const values = new ValueSink();
        write(values, value);
        const text = written((out) => write(out, value));
        expect(text).toBe(JSON.stringify(values.finish()));
        expect(values.length).toBe(Buffer.byteLength(text));
      }),
    );
  });

  function list(out: Sink, items: readonly (() => void)[]): void {
    writeList(out, items, 0, items.length, (_out, of, index) => of[index]?.());
  }

  function nested(out: Sink, value: unknown): void {
    out.beginObject();
    if (first) out.name(first);
    out.json(value);
    if (second) out.name(second);
    out.literal(literalOf('Issue'));
    out.endObject();
  }
});

const longName = fieldNames(['x'.repeat(1_000)]);

it.each<[string, (out: ValueSink) => void]>([
  ['texts with their escapes', (out) => out.string('\u0001'.repeat(1_000))],
  ['rich texts', (out) => out.json(toRichText('\n'.repeat(1_000)))],
  [
    'names',
    (out) => [out.beginObject(), longName.forEach((name) => out.name(name)), out.null(), out.endObject()],
  ],
  [
    'rows that were written before',
    (out) => out.literal({ ...literalOf('x'.repeat(1_000)), json: Buffer.of() }),
  ],
])('a value sink refuses an answer that is too large by its %s', (_what, write) => {
  const out = new ValueSink();
  write(out);
  expect(out.length).toBe(Buffer.byteLength(JSON.stringify(out.finish())));
  const writeUntilRefused = () => {
    for (let bytes = out.length; bytes < maxAnswerBytes; bytes += 1_000) write(out);
  };
  expect(writeUntilRefused).toThrow(AnswerTooLargeError);
});
