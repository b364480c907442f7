import { bufferPool } from '../../../db/wire/buffer-pool.ts';
import { writeDigits, writeDigitsOfText } from '../../../resolvers/ids.ts';
import { maxAnswerBytes } from '../../limits.ts';
import { checkAnswerSize } from './answer-size.ts';
import { escaped } from './escaped.ts';
import type { FieldName, IdPrefixLiteral, Literal, Sink } from './sink.ts';
import { isoLength, writeIsoTime } from './iso-times.ts';
import { plainEnd } from './plain-text.ts';

const space = 0x20;
const quote = 0x22;
const plus = 0x2b;
const comma = 0x2c;
const dash = 0x2d;
const point = 0x2e;
const zero = 0x30;
const nine = 0x39;
const upperT = 0x54;
const openingBracket = 0x5b;
const backslash = 0x5c;
const closingBracket = 0x5d;
const lowerA = 0x61;
const lowerN = 0x6e;
const openingBrace = 0x7b;
const closingBrace = 0x7d;
const tilde = 0x7e;

/** Up to this length a loop is faster than a call into the engine. */
const shortText = 32;
const shortBytes = 64;

const letterU = 0x75;
/** What follows the backslash in the escape of each byte: a letter, or a `u` before four digits; 0 for other bytes. */
const escapes = Uint8Array.from({ length: 256 }, (_, code) => {
  if (code >= 0x80) return 0;
  const json = JSON.stringify(String.fromCharCode(code)).slice(1, -1);
  return json.length > 1 ? json.charCodeAt(1) : 0;
});
const maxEscapeLength = 6;

/** An answer as bytes. `release` returns its buffer to the pool; without it the garbage collector frees the buffer. */
export interface WrittenAnswer {
  readonly bytes: Buffer;
  readonly release: () => void;
  /** Set if the same buffer is the answer to many requests. */
  readonly isConstant?: true;
}

/**
 * The buffer that every writer starts in: an answer is written without waiting for anything and then copied out, so no
 * two need it at once. A writer that needs more room allocates a buffer of its own.
 */
const scratch = Buffer.allocUnsafeSlow(1_048_576);

/** A buffer is not doubled beyond this length, so a writer whose answer is too large soon needs another buffer, and is refused then. */
const maxBufferLength = maxAnswerBytes + scratch.length;

/** Writes JSON as the bytes that are sent: no string is built first, so an answer leaves little garbage. */
export class JsonWriter implements Sink {
  readonly writer = this;
  #bytes = scratch;
  #at = 0;

  /** A copy of what was written since a position that `length` gave. */
  since(start: number): Buffer {
    const copy = Buffer.allocUnsafe(this.#at - start);
    this.#bytes.copy(copy, 0, start, this.#at);
    return copy;
  }

  get length(): number {
    return this.#at;
  }

  /** Whether exactly one null was written since a position that `length` gave. */
  isNullSince(start: number): boolean {
    // Of all JSON values only null begins with this letter.
    return this.#at === start + nullJson.length && this.#bytes[start] === lowerN;
  }

  /** Forgets what was written since a position that `length` gave. */
  rewind(start: number): void {
    this.#at = start;
  }

  /** A copy of everything, with room for `room` bytes before it and as many after it in the same memory. */
  finish(room = 0): WrittenAnswer {
    checkAnswerSize(this.#at);
    const buffer = bufferPool.take(this.#at + 2 * room);
    this.#bytes.copy(buffer, room, 0, this.#at);
    return { bytes: buffer.subarray(room, room + this.#at), release: () => bufferPool.give(buffer) };
  }

  byte(code: number): void {
    this.#ensureRoom(1);
    this.#bytes[this.#at] = code;
    this.#at += 1;
  }

  beginObject(): void {
    this.byte(openingBrace);
  }

  name({ json }: FieldName): void {
    this.bytes(json);
  }

  endObject(): void {
    this.byte(closingBrace);
  }

  beginList(): void {
    this.byte(openingBracket);
  }

  separate(): void {
    this.byte(comma);
  }

  endList(): void {
    this.byte(closingBracket);
  }

  bytes(source: Uint8Array): void {
    const { length } = source;
    this.#ensureRoom(length);
    const bytes = this.#bytes;
    const at = this.#at;
    if (length > shortText) {
      bytes.set(source, at);
    } else {
      for (let index = 0; index < length; index += 1) bytes[at + index] = source[index] as number;
    }
    this.#at = at + length;
  }

  json(value: unknown): void {
    if (typeof value === 'string') this.string(value);
    else if (typeof value === 'boolean') this.boolean(value);
    else if (value === null) this.null();
    else this.#writeUtf8(JSON.stringify(value));
  }

  literal({ json }: Literal): void {
    this.bytes(json);
  }

  null(): void {
    this.bytes(nullJson);
  }

  boolean(value: boolean): void {
    this.bytes(value ? trueJson : falseJson);
  }

  integer(value: number): void {
    const digits = String(value);
    this.#ensureRoom(digits.length);
    const bytes = this.#bytes;
    const at = this.#at;
    for (let index = 0; index < digits.length; index += 1) bytes[at + index] = digits.charCodeAt(index);
    this.#at = at + digits.length;
  }

  id({ json }: IdPrefixLiteral, uuid: Uint8Array, start: number): void {
    this.bytes(json);
    this.#ensureRoom(27);
    writeDigits(this.#bytes, this.#at, uuid, start);
    this.#bytes[this.#at + 26] = quote;
    this.#at += 27;
  }

  idOfText({ json }: IdPrefixLiteral, uuid: string): void {
    this.bytes(json);
    this.#ensureRoom(27);
    writeDigitsOfText(this.#bytes, this.#at, uuid);
    this.#bytes[this.#at + 26] = quote;
    this.#at += 27;
  }

  string(text: string): void {
    this.beginString();
    this.inString(text);
    this.endString();
  }

  beginString(): void {
    this.byte(quote);
  }

  endString(): void {
    this.byte(quote);
  }

  literalInString({ json }: Literal): void {
    this.bytes(json);
  }

  inString(text: string): void {
    const { length } = text;
    this.#ensureRoom(length * 3);
    if (length > shortText || !this.#writeShort(text)) this.#writeLong(text);
  }

  utf8String(source: Buffer, start: number, end: number): void {
    this.#ensureRoom((end - start) * maxEscapeLength + 2);
    this.#bytes[this.#at] = quote;
    const at = this.#writeEscaped(source, start, end, this.#at + 1);
    this.#bytes[at] = quote;
    this.#at = at + 1;
  }

  utf8InString(source: Buffer, start: number, end: number): void {
    this.#ensureRoom((end - start) * maxEscapeLength);
    this.#at = this.#writeEscaped(source, start, end, this.#at);
  }

  /** Writes at a position where there is room for it, and returns the position after it. */
  #writeEscaped(source: Buffer, start: number, end: number, from: number): number {
    const bytes = this.#bytes;
    let at = from;
    const plainTo = end - start > shortBytes ? plainEnd(source, start, end) : start;
    if (plainTo > start) at += source.copy(bytes, at, start, plainTo);
    for (let index = plainTo; index < end; index += 1) {
      const code = source[index] as number;
      const escape = escapes[code] as number;
      if (escape === 0) {
        bytes[at] = code;
        at += 1;
      } else {
        bytes[at] = backslash;
        bytes[at + 1] = escape;
        at += 2;
        if (escape === letterU) at = writeHex(bytes, at, code);
      }
    }
    return at;
  }

  /** Refuses more than nine digits, because the number might exceed a GraphQL Int. */
  digits(source: Uint8Array, start: number, end: number): boolean {
    if (end - start > 9) return false;
    for (let index = start; index < end; index += 1) {
      const code = source[index] as number;
      if ((code < zero || code > nine) && !(index === start && code === dash)) return false;
    }
    this.#copy(source, start, end);
    return true;
  }

  /** Copies a time such as `2026-01-31 12:00:00.5+00` in the form of JSON: UTC, to the millisecond. */
  time(source: Uint8Array, start: number, end: number): boolean {
    const length = end - start;
    const isUsual =
      length >= 22 &&
      length <= 26 &&
      source[start + 4] === dash &&
      source[start + 10] === space &&
      source[end - 3] === plus &&
      source[end - 2] === zero &&
      source[end - 1] === zero;
    if (!isUsual) return false;
    this.byte(quote);
    const began = this.#at;
    this.#copy(source, start, end - 3);
    this.#bytes[began + 10] = upperT;
    if (length === 22) this.byte(point);
    while (this.#at < began + 23) this.byte(zero);
    this.bytes(timeEnd);
    return true;
  }

  timeOfBytes(source: Buffer, start: number): boolean {
    this.#ensureRoom(isoLength + 2);
    if (!writeIsoTime(this.#bytes, this.#at + 1, source, start)) return false;
    this.#bytes[this.#at] = quote;
    this.#bytes[this.#at + isoLength + 1] = quote;
    this.#at += isoLength + 2;
    return true;
  }

  #copy(source: Uint8Array, start: number, end: number): void {
    this.#ensureRoom(end - start);
    const bytes = this.#bytes;
    let at = this.#at;
    for (let index = start; index < end; index += 1) {
      bytes[at] = source[index] as number;
      at += 1;
    }
    this.#at = at;
  }

  /** Writes a text of printable ASCII; returns false where it has other characters. */
  #writeShort(text: string): boolean {
    const bytes = this.#bytes;
    const at = this.#at;
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      if (code < space || code > tilde || code === quote || code === backslash) return false;
      bytes[at + index] = code;
    }
    this.#at = at + text.length;
    return true;
  }

  #writeLong(text: string): void {
    this.#writeUtf8(escaped(text));
  }

  #writeUtf8(json: string): void {
    this.#ensureRoom(json.length * 3);
    this.#at += this.#bytes.write(json, this.#at);
  }

  /** Ensures that the buffer has room for so many bytes more. */
  #ensureRoom(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    checkAnswerSize(this.#at);
    const doubled = Math.min(this.#bytes.length * 2, maxBufferLength);
    const larger = Buffer.allocUnsafeSlow(Math.max(doubled, this.#at + bytes));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}

/** Writes the four hexadecimal digits of a control character. */
function writeHex(bytes: Buffer, at: number, code: number): number {
  bytes[at] = zero;
  bytes[at + 1] = zero;
  bytes[at + 2] = zero + (code >> 4);
  const low = code & 0xf;
  bytes[at + 3] = low < 10 ? zero + low : lowerA + low - 10;
  return at + 4;
}

/** What follows the milliseconds. */
const timeEnd = Buffer.from('Z"');
const nullJson = Buffer.from('null');
const trueJson = Buffer.from('true');
const falseJson = Buffer.from('false');
