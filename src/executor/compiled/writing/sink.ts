import type { IdPrefix } from '../../../resolvers/ids.ts';
import type { JsonWriter } from './json-writer.ts';

/**
 * Receives an answer piece by piece, in the order of the document. `JsonWriter` turns it into bytes, `ValueSink` into values.
 * If a caller throws, the answer stays incomplete; it is never used, since every error discards the whole answer.
 */
export interface Sink {
  /** The sink itself if it writes bytes, for callers that reuse bytes; undefined if it makes values. */
  readonly writer: JsonWriter | undefined;
  /** Between `beginObject` and `endObject`, `name` comes before each value. */
  beginObject(): void;
  name(name: FieldName): void;
  endObject(): void;
  /** Between `beginList` and `endList`, `separate` comes between two values. */
  beginList(): void;
  separate(): void;
  endList(): void;
  null(): void;
  boolean(value: boolean): void;
  integer(value: number): void;
  string(text: string): void;
  /** Any JSON value, so never undefined. */
  json(value: unknown): void;
  literal(literal: Literal): void;
  /** The string whose UTF-8 lies between `start` and `end`. */
  utf8String(source: Buffer, start: number, end: number): void;
  /** The integer whose digits lie between `start` and `end`; writes nothing and returns false unless it has at most nine. */
  digits(source: Uint8Array, start: number, end: number): boolean;
  /** The time in PostgreSQL's text format; writes nothing and returns false if the caller must write it as a string. */
  time(source: Uint8Array, start: number, end: number): boolean;
  /** The time in PostgreSQL's binary format; writes nothing and returns false for a year that has no four digits. */
  timeOfBytes(source: Buffer, start: number): boolean;
  /** The TypeID of the UUID whose bytes begin at `start`. */
  id(prefix: IdPrefixLiteral, uuid: Uint8Array, start: number): void;
  idOfText(prefix: IdPrefixLiteral, uuid: string): void;
  /** Between `beginString` and `endString`, the methods whose names end with `InString` write pieces of one string. */
  beginString(): void;
  inString(text: string): void;
  utf8InString(source: Buffer, start: number, end: number): void;
  literalInString(literal: Literal): void;
  endString(): void;
}

/** A value that is known before it is written, as both sinks take it. */
export interface Literal {
  readonly json: Uint8Array;
  readonly value: unknown;
  /** The length of the value's JSON. It is set even for values of a `ValueSink`, whose `json` is empty. */
  readonly bytes: number;
}

export function literalOf(value: unknown): Literal {
  return literal(Buffer.from(JSON.stringify(value)), value);
}

/** A text that is a piece of a string: its JSON has no quotes. */
export function literalPiece(text: string): Literal {
  return literal(Buffer.from(JSON.stringify(text).slice(1, -1)), text);
}

function literal(json: Uint8Array, value: unknown): Literal {
  return { json, value, bytes: json.length };
}

/** The name of a field in an object; `json` has the comma before it and the colon after it. */
export interface FieldName {
  readonly text: string;
  readonly json: Uint8Array;
}

/** The names of the fields of an object, which are written in this order. */
export function fieldNames(names: readonly string[]): readonly FieldName[] {
  return names.map((text, index) => ({
    text,
    json: Buffer.from(`${index === 0 ? '' : ','}${JSON.stringify(text)}:`),
  }));
}

/** The prefix of a TypeID as both sinks take it. */
export interface IdPrefixLiteral {
  readonly prefix: IdPrefix;
  /** With the opening quote and the underscore. */
  readonly json: Uint8Array;
}

export function idPrefixLiteral(prefix: IdPrefix): IdPrefixLiteral {
  return { prefix, json: Buffer.from(`"${prefix}_`) };
}

/** Writes a list of the items with the indexes from `from` up to, but not including, `to`. */
export function writeList<Out extends Sink, Items>(
  out: Out,
  items: Items,
  from: number,
  to: number,
  write: (out: Out, items: Items, index: number) => void,
): void {
  out.beginList();
  for (let index = from; index < to; index += 1) {
    if (index > from) out.separate();
    write(out, items, index);
  }
  out.endList();
}
