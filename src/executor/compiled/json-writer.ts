import { bufferPool } from '../../db/wire/buffer-pool.ts';
import { writeDigits, writeDigitsOfText } from '../../resolvers/ids.ts';
import { checkAnswerSize } from './answer-size.ts';
import { isoLength, writeIsoTime } from './times.ts';

/** What must not stand in a JSON string as it is: quotes, backslashes, control characters, halves of surrogate pairs. */
// eslint-disable-next-line no-control-regex -- they are what is looked for
const special = /["\\\u0000-\u001f\ud800-\udfff]/;

const quote = 0x22;
const backslash = 0x5c;
/** Up to here a loop is faster than a call into the engine. */
const shortText = 32;
const shortBytes = 64;

/** What a byte is written as that must not stand in a JSON string, by the byte. */
const escapes = Array.from({ length: 256 }, (_, code) => {
  if (code >= 0x80) return undefined;
  const json = JSON.stringify(String.fromCharCode(code)).slice(1, -1);
  return json.length > 1 ? Buffer.from(json) : undefined;
});
const longestEscape = 6;

/** An answer as it is sent; what it stands in is used again once it has been released, if it ever is. */
export interface WrittenAnswer {
  readonly bytes: Buffer;
  readonly release: () => void;
}

/**
 * Where answers are written, one after the other: each is written without a wait in between, and copied out. A
 * larger one is left to the garbage collector.
 */
const workspace = Buffer.allocUnsafeSlow(1_048_576);

/**
 * Writes JSON as the bytes that are sent: no text is put together first, so an answer leaves little behind for the
 * garbage collector.
 */
export class JsonWriter {
  #bytes = workspace;
  #at = 0;

  /** What has been written since a place that `length` gave. */
  since(start: number): Buffer {
    return Buffer.from(this.#bytes.subarray(start, this.#at));
  }

  get length(): number {
    return this.#at;
  }

  /** A copy of everything. */
  finish(): WrittenAnswer {
    checkAnswerSize(this.#at);
    const buffer = bufferPool.take(this.#at);
    const length = this.#bytes.copy(buffer, 0, 0, this.#at);
    return { bytes: buffer.subarray(0, length), release: () => bufferPool.give(buffer) };
  }

  byte(code: number): void {
    this.#room(1);
    this.#bytes[this.#at] = code;
    this.#at += 1;
  }

  beginList(): void {
    this.byte(0x5b);
  }

  /** Between the items of a list. */
  separate(): void {
    this.byte(0x2c);
  }

  endList(): void {
    this.byte(0x5d);
  }

  /** After the fields of an object, each with its head before it; one without any has had no beginning either. */
  endObject(fields: number): void {
    if (fields === 0) this.byte(0x7b);
    this.byte(0x7d);
  }

  bytes(given: Uint8Array): void {
    const { length } = given;
    this.#room(length);
    if (length > shortText) {
      this.#bytes.set(given, this.#at);
    } else {
      for (let place = 0; place < length; place += 1) this.#bytes[this.#at + place] = given[place] as number;
    }
    this.#at += length;
  }

  /** JSON that is a text already. */
  text(json: string): void {
    this.#room(json.length * 3);
    this.#at += this.#bytes.write(json, this.#at);
  }

  /** JSON of nothing but ASCII, and short. */
  ascii(json: string): void {
    this.#room(json.length);
    for (let place = 0; place < json.length; place += 1)
      this.#bytes[this.#at + place] = json.charCodeAt(place);
    this.#at += json.length;
  }

  /** The TypeID of a UUID, whose bytes begin at `start`, after its prefix, with the quote before and the underscore behind it. */
  id(prefix: Uint8Array, uuid: Uint8Array, start: number): true {
    this.bytes(prefix);
    this.#room(27);
    writeDigits(this.#bytes, this.#at, uuid, start);
    this.#bytes[this.#at + 26] = quote;
    this.#at += 27;
    return true;
  }

  /** The same of a UUID that is a text. */
  idOfText(prefix: Uint8Array, uuid: string): void {
    this.bytes(prefix);
    this.#room(27);
    writeDigitsOfText(this.#bytes, this.#at, uuid);
    this.#bytes[this.#at + 26] = quote;
    this.#at += 27;
  }

  null(): void {
    this.bytes(nothing);
  }

  /** The text as a JSON string. */
  string(text: string): void {
    this.beginString();
    this.inString(text);
    this.endString();
  }

  /** Before the pieces of a string, which `inString` and `utf8InString` write. */
  beginString(): void {
    this.byte(quote);
  }

  endString(): void {
    this.byte(quote);
  }

  /** The text as it stands in a JSON string. */
  inString(text: string): void {
    const { length } = text;
    this.#room(length * 3);
    if (length > shortText || !this.#short(text)) this.#long(text);
  }

  /** The text whose UTF-8 stands there, as a JSON string. */
  utf8String(given: Buffer, start: number, end: number): void {
    this.beginString();
    this.utf8InString(given, start, end);
    this.endString();
  }

  /** The text whose UTF-8 stands there, as it stands in a JSON string. */
  utf8InString(given: Buffer, start: number, end: number): void {
    this.#room((end - start) * longestEscape);
    const bytes = this.#bytes;
    let at = this.#at;
    const plainTo = end - start > shortBytes ? plainEnd(given, start, end) : start;
    if (plainTo > start) at += given.copy(bytes, at, start, plainTo);
    for (let place = plainTo; place < end; place += 1) {
      const code = given[place] as number;
      const escape = escapes[code];
      if (escape === undefined) {
        bytes[at] = code;
        at += 1;
      } else {
        bytes.set(escape, at);
        at += escape.length;
      }
    }
    this.#at = at;
  }

  /** The integer that stands there in digits; false, and nothing, where it may be none that GraphQL has. */
  digits(given: Uint8Array, start: number, end: number): boolean {
    if (end - start > 9) return false;
    for (let place = start; place < end; place += 1) {
      const code = given[place] as number;
      if ((code < 0x30 || code > 0x39) && !(place === start && code === 0x2d)) return false;
    }
    this.#copy(given, start, end);
    return true;
  }

  /**
   * The time that stands there as PostgreSQL writes it (`2026-01-31 12:00:00.5+00`), in the form of JSON: UTC, to the
   * millisecond; false, and nothing, where it is written in another way.
   */
  time(given: Uint8Array, start: number, end: number): boolean {
    const length = end - start;
    const isUsual =
      length >= 22 &&
      length <= 26 &&
      given[start + 4] === 0x2d &&
      given[start + 10] === 0x20 &&
      given[end - 3] === 0x2b &&
      given[end - 2] === 0x30 &&
      given[end - 1] === 0x30;
    if (!isUsual) return false;
    this.byte(quote);
    const began = this.#at;
    this.#copy(given, start, end - 3);
    this.#bytes[began + 10] = 0x54;
    if (length === 22) this.byte(0x2e);
    while (this.#at < began + 23) this.byte(0x30);
    this.bytes(timeEnd);
    return true;
  }

  /** The same of a time that came as its microseconds; false, and nothing, where it is far away. */
  timeOfBytes(given: Buffer, start: number): boolean {
    this.#room(isoLength + 2);
    if (!writeIsoTime(this.#bytes, this.#at + 1, given, start)) return false;
    this.#bytes[this.#at] = quote;
    this.#bytes[this.#at + isoLength + 1] = quote;
    this.#at += isoLength + 2;
    return true;
  }

  #copy(given: Uint8Array, start: number, end: number): void {
    this.#room(end - start);
    for (let place = start; place < end; place += 1) {
      this.#bytes[this.#at] = given[place] as number;
      this.#at += 1;
    }
  }

  /** Writes printable ASCII; says whether the text is all of that. */
  #short(text: string): boolean {
    const bytes = this.#bytes;
    const at = this.#at;
    for (let place = 0; place < text.length; place += 1) {
      const code = text.charCodeAt(place);
      if (code < 0x20 || code > 0x7e || code === quote || code === backslash) return false;
      bytes[at + place] = code;
    }
    this.#at = at + text.length;
    return true;
  }

  #long(text: string): void {
    this.text(special.test(text) ? JSON.stringify(text).slice(1, -1) : text);
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    checkAnswerSize(this.#at);
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#at + bytes));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}

/** Up to where nothing has to be escaped. */
function plainEnd(given: Uint8Array, start: number, end: number): number {
  for (let place = start; place < end; place += 1) {
    const code = given[place] as number;
    if (code < 0x20 || code === quote || code === backslash) return place;
  }
  return end;
}

/** Behind the milliseconds. */
const timeEnd = Buffer.from('Z"');
const nothing = Buffer.from('null');

/** What stands before the value of each field of an object. */
export function headsOf(fields: readonly { key: string }[]): readonly Uint8Array[] {
  return fields.map(({ key }, place) => Buffer.from(`${place === 0 ? '{' : ','}${JSON.stringify(key)}:`));
}

/** A list of what is at each place from one to before another. */
export function writeList(out: JsonWriter, from: number, to: number, write: (place: number) => void): void {
  out.beginList();
  for (let place = from; place < to; place += 1) {
    if (place > from) out.separate();
    write(place);
  }
  out.endList();
}
