import { encodeId, writeDigits } from '../../../resolvers/ids.ts';
import { checkAnswerSize } from './answer-size.ts';
import { escaped } from './escaped.ts';
import type { FieldName, IdPrefixLiteral, Literal, Sink } from './sink.ts';
import { isoTimeOfBytes } from './iso-times.ts';

type Container = Record<string, unknown> | unknown[];

/** The bytes of the quotes around a text, of the brackets around an object or a list, and of a comma. */
const quotes = 2;
const brackets = 2;
const comma = 1;

/** A buffer for the digits of an id, before they become a string. */
const digits = Buffer.alloc(26);

/**
 * Turns an answer into values, like those of graphql-js. Throws when their JSON would be too long for an answer: a document may show
 * the same row under many objects and names.
 */
export class ValueSink implements Sink {
  readonly writer = undefined;
  /** The object or list that is being filled. The outermost is a list whose only item is the answer. */
  #container: Container = [];
  /** The name of the next value, if the container is an object. */
  #key = '';
  #string = '';
  readonly #outer: { container: Container; key: string }[] = [];
  #length = 0;

  /** The length of the JSON of what was written, in bytes: as many as a `JsonWriter` would have written. */
  get length(): number {
    return this.#length;
  }

  /** The value that was written. */
  finish(): unknown {
    const [value] = this.#container as unknown[];
    return value;
  }

  /** Without a prototype, so that `__proto__` is a name like any other. */
  beginObject(): void {
    this.#begin({ __proto__: null });
  }

  name({ text, json }: FieldName): void {
    this.#count(json.length);
    this.#key = text;
  }

  endObject(): void {
    this.#end();
  }

  beginList(): void {
    this.#begin([]);
  }

  separate(): void {
    this.#count(comma);
  }

  endList(): void {
    this.#end();
  }

  null(): void {
    this.json(null);
  }

  boolean(value: boolean): void {
    this.json(value);
  }

  integer(value: number): void {
    this.json(value);
  }

  string(text: string): void {
    this.#count(Buffer.byteLength(escaped(text)) + quotes);
    this.#put(text);
  }

  json(value: unknown): void {
    if (typeof value === 'string') return this.string(value);
    this.#count(Buffer.byteLength(JSON.stringify(value)));
    this.#put(value);
  }

  literal({ value, bytes }: Literal): void {
    this.#count(bytes);
    this.#put(value);
  }

  utf8String(source: Buffer, start: number, end: number): void {
    this.string(source.toString('utf8', start, end));
  }

  /** The caller parses the digits. */
  digits(): boolean {
    return false;
  }

  /** The caller makes the string. */
  time(): boolean {
    return false;
  }

  timeOfBytes(source: Buffer, start: number): boolean {
    const time = isoTimeOfBytes(source, start);
    if (time !== undefined) this.string(time);
    return time !== undefined;
  }

  id({ prefix }: IdPrefixLiteral, uuid: Uint8Array, start: number): void {
    writeDigits(digits, 0, uuid, start);
    this.string(`${prefix}_${digits.toString('latin1')}`);
  }

  idOfText({ prefix }: IdPrefixLiteral, uuid: string): void {
    this.string(encodeId(prefix, uuid));
  }

  beginString(): void {
    this.#string = '';
  }

  inString(text: string): void {
    this.#string += text;
  }

  utf8InString(source: Buffer, start: number, end: number): void {
    this.#string += source.toString('utf8', start, end);
  }

  literalInString({ value }: Literal): void {
    this.#string += String(value);
  }

  endString(): void {
    this.string(this.#string);
  }

  #count(bytes: number): void {
    this.#length += bytes;
    checkAnswerSize(this.#length);
  }

  #begin(container: Container): void {
    this.#count(brackets);
    this.#outer.push({ container: this.#container, key: this.#key });
    this.#container = container;
  }

  #end(): void {
    const ended = this.#container;
    const { container, key } = this.#outer.pop() as { container: Container; key: string };
    this.#container = container;
    this.#key = key;
    this.#put(ended);
  }

  #put(value: unknown): void {
    if (Array.isArray(this.#container)) this.#container.push(value);
    else this.#container[this.#key] = value;
  }
}
