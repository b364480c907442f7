import { writeDigits } from '../../resolvers/ids.ts';

/** What must not stand in a JSON string as it is: quotes, backslashes, control characters, halves of surrogate pairs. */
// eslint-disable-next-line no-control-regex -- they are what is looked for
const special = /["\\\u0000-\u001f\ud800-\udfff]/;

const quote = 0x22;
const backslash = 0x5c;
/** Up to here a loop is faster than a call into the engine. */
const shortText = 32;

/**
 * Writes JSON as the bytes that are sent: no text is put together first, so an answer leaves little behind for the
 * garbage collector.
 */
export class JsonWriter {
  #bytes: Buffer;
  #at = 0;

  constructor(expectedBytes: number) {
    this.#bytes = Buffer.allocUnsafe(Math.max(expectedBytes, 256));
  }

  /** What has been written since a place that `length` gave. */
  since(start: number): Buffer {
    return Buffer.from(this.#bytes.subarray(start, this.#at));
  }

  get length(): number {
    return this.#at;
  }

  /** Everything; nothing may be written after it. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#at);
  }

  byte(code: number): void {
    this.#room(1);
    this.#bytes[this.#at] = code;
    this.#at += 1;
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

  /** The TypeID of a UUID after its prefix, with the quote before and the underscore behind it. */
  id(prefix: Uint8Array, uuid: string): void {
    this.bytes(prefix);
    this.#room(27);
    writeDigits(this.#bytes, this.#at, uuid);
    this.#bytes[this.#at + 26] = quote;
    this.#at += 27;
  }

  null(): void {
    this.bytes(nothing);
  }

  /** The text as a JSON string. */
  string(text: string): void {
    const { length } = text;
    this.#room(length * 3 + 2);
    if (length > shortText || !this.#short(text)) this.#long(text);
  }

  /** Writes printable ASCII; says whether the text is all of that. */
  #short(text: string): boolean {
    const bytes = this.#bytes;
    let at = this.#at;
    bytes[at] = quote;
    for (let place = 0; place < text.length; place += 1) {
      const code = text.charCodeAt(place);
      if (code < 0x20 || code > 0x7e || code === quote || code === backslash) return false;
      at += 1;
      bytes[at] = code;
    }
    bytes[at + 1] = quote;
    this.#at = at + 2;
    return true;
  }

  #long(text: string): void {
    if (special.test(text)) return this.text(JSON.stringify(text));
    this.#bytes[this.#at] = quote;
    this.#at += 1 + this.#bytes.write(text, this.#at + 1);
    this.#bytes[this.#at] = quote;
    this.#at += 1;
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + bytes));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}

const nothing = Buffer.from('null');

/** Something that writes itself at a place. */
type Write = (out: JsonWriter, place: number) => void;

const comma = 0x2c;

/** What stands before the value of each field of an object. */
export function headsOf(fields: readonly { key: string }[]): readonly Uint8Array[] {
  return fields.map(({ key }, place) => Buffer.from(`${place === 0 ? '{' : ','}${JSON.stringify(key)}:`));
}

export function writeObject(out: JsonWriter, heads: readonly Uint8Array[], write: Write): void {
  if (heads.length === 0) out.byte(0x7b);
  for (let place = 0; place < heads.length; place += 1) {
    out.bytes(heads[place] as Uint8Array);
    write(out, place);
  }
  out.byte(0x7d);
}

/** A list of what is at each place from one to before another. */
export function writeList(out: JsonWriter, from: number, to: number, write: Write): void {
  out.byte(0x5b);
  for (let place = from; place < to; place += 1) {
    if (place > from) out.byte(comma);
    write(out, place);
  }
  out.byte(0x5d);
}
