import { encodeId, writeDigits } from '../../../resolvers/ids.ts';
import { checkAnswerSize } from './answer-size.ts';
import type { FieldName, IdForm, Literal, Sink } from './sink.ts';
import { isoTimeOfBytes } from './times.ts';

type Container = Record<string, unknown> | unknown[];

/** The length in UTF-8 of all texts that the sinks of one run have received. */
export interface TextLength {
  bytes: number;
}

/** A buffer for the digits of an id, before they become a string. */
const digits = Buffer.alloc(26);

/** Turns an answer into values, like those of graphql-js. */
export class ValueSink implements Sink {
  readonly writer = undefined;
  readonly #textLength: TextLength;
  /** The object or list that is being filled. The outermost is a list whose only item is the answer. */
  #container: Container = [];
  /** The name of the next value, if the container is an object. */
  #key = '';
  #string = '';
  readonly #outer: { container: Container; key: string }[] = [];

  constructor(textLength: TextLength) {
    this.#textLength = textLength;
  }

  /** The value that was written. */
  finish(): unknown {
    const [value] = this.#container as unknown[];
    return value;
  }

  beginObject(): void {
    this.#begin({});
  }

  name({ text }: FieldName): void {
    this.#key = text;
  }

  endObject(): void {
    this.#end();
  }

  beginList(): void {
    this.#begin([]);
  }

  /** Values need nothing between them. */
  separate(): void {}

  endList(): void {
    this.#end();
  }

  null(): void {
    this.#put(null);
  }

  boolean(value: boolean): void {
    this.#put(value);
  }

  integer(value: number): void {
    this.#put(value);
  }

  /** Throws when the texts of the run are too long together: the same cached row may be shown under many objects. */
  string(text: string): void {
    this.#textLength.bytes += Buffer.byteLength(text);
    checkAnswerSize(this.#textLength.bytes);
    this.#put(text);
  }

  json(value: unknown): void {
    if (typeof value === 'string') this.string(value);
    else this.#put(value);
  }

  literal({ value }: Literal): void {
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

  id({ prefix }: IdForm, uuid: Uint8Array, start: number): void {
    writeDigits(digits, 0, uuid, start);
    this.string(`${prefix}_${digits.toString('latin1')}`);
  }

  idOfText({ prefix }: IdForm, uuid: string): void {
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

  #begin(container: Container): void {
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
