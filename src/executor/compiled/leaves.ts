import {
  type GraphQLEnumType,
  type GraphQLLeafType,
  type GraphQLOutputType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql';
import { encodeId, type IdPrefix, writeDigits } from '../../resolvers/ids.ts';
import { type TextRow, textAt, WireRow } from '../../db/wire/wire-row.ts';
import type { Columns } from './columns.ts';
import { Bail, type Field, type Frame, NotCompilable, type Row } from './frame.ts';
import type { JsonWriter } from './json-writer.ts';
import { isoTime, isoTimeOfBytes } from './times.ts';

/** How the texts of a column become JSON and values, by the GraphQL type that shows them. */
interface Codec {
  write: (out: JsonWriter, text: string) => void;
  /** The same of a cell that is still the bytes of its text. */
  copy: (out: JsonWriter, bytes: Buffer, start: number, end: number) => void;
  /** The same of a cell that came in another format; where nothing is said, its text is written. */
  copyBinary?: (out: JsonWriter, bytes: Buffer, start: number) => boolean;
  value: (text: string) => unknown;
  /** The same of a cell that came in another format; where it is undefined, that of its text is taken. */
  valueBinary?: (bytes: Buffer, start: number) => unknown;
}

const nilUuid = '00000000-0000-0000-0000-000000000000';

const same = (text: string) => text;
const textual: Codec = {
  write: (out, text) => out.string(text),
  copy: (out, bytes, start, end) => out.utf8String(bytes, start, end),
  value: same,
};
const yes = Buffer.from('true');
const no = Buffer.from('false');
/** As PostgreSQL writes it. */
const trueCode = 0x74;
const truth: Codec = {
  write: (out, text) => out.bytes(text === 't' ? yes : no),
  copy: (out, bytes, start) => out.bytes(bytes[start] === trueCode ? yes : no),
  value: (text) => text === 't',
};
const codecs: Readonly<Record<string, Codec>> = {
  ID: textual,
  String: textual,
  URL: textual,
  Date: textual,
  Int: {
    write: (out, text) => out.ascii(String(integer(text))),
    copy: (out, bytes, start, end) => {
      if (!out.digits(bytes, start, end)) out.ascii(String(integer(bytes.toString('utf8', start, end))));
    },
    value: integer,
  },
  Boolean: truth,
  DateTime: {
    write: (out, text) => out.string(isoTime(text)),
    copy: (out, bytes, start, end) => {
      if (!out.time(bytes, start, end)) out.string(isoTime(bytes.toString('utf8', start, end)));
    },
    copyBinary: (out, bytes, start) => out.timeOfBytes(bytes, start),
    value: isoTime,
    valueBinary: isoTimeOfBytes,
  },
};

function integer(text: string): number {
  const value = Number(text);
  // GraphQL has no larger ones; the graphql-js executor says so.
  if (!Number.isInteger(value) || Math.abs(value) > 2_147_483_647) throw new Bail('Not an Int.');
  return value;
}

function enumCodec(type: GraphQLEnumType): Codec {
  const names = new Map(type.getValues().map(({ value, name }) => [String(value), name]));
  const nameOf = (text: string) => {
    const name = names.get(text);
    if (name === undefined) throw new Bail(`${type.name} has no such value.`);
    return name;
  };
  const written = Array.from(names, ([value, name]) => ({
    value: Buffer.from(value),
    json: Buffer.from(JSON.stringify(name)),
  }));
  return {
    write: (out, text) => out.string(nameOf(text)),
    copy: (out, bytes, start, end) => {
      for (const { value, json } of written) if (isAt(bytes, start, end, value)) return out.bytes(json);
      out.string(nameOf(bytes.toString('utf8', start, end)));
    },
    value: nameOf,
  };
}

function isAt(bytes: Uint8Array, start: number, end: number, sought: Uint8Array): boolean {
  if (end - start !== sought.length) return false;
  for (let place = 0; place < sought.length; place += 1) {
    if (bytes[start + place] !== sought[place]) return false;
  }
  return true;
}

/** A column as it is. */
export function columnField(key: string, type: GraphQLOutputType, column: string, columns: Columns): Field {
  const bare = isNonNullType(type) ? type.ofType : type;
  const leaf = isListType(bare) ? undefined : codecOf(bare as GraphQLLeafType);
  if (!leaf || columns.given) {
    const decode = columns.decoder(column);
    return valueField(key, type, decode, { ofRow: !columns.given });
  }
  return cellField(key, type, columns.place(column), leaf);
}

/** What the statement has found to be true or false of each row. */
export function booleanField(key: string, type: GraphQLOutputType, place: number): Field {
  return cellField(key, type, place, truth);
}

/** A global id, made of a uuid of the row. */
export function idField(
  key: string,
  type: GraphQLOutputType,
  prefix: IdPrefix,
  column: string,
  columns: Columns,
): Field {
  const head = Buffer.from(`"${prefix}_`);
  const written = Buffer.from(encodeId(prefix, nilUuid));
  const id: Codec = {
    write: (out, uuid) => out.idOfText(head, uuid),
    copy: (out, bytes, start, end) => id.write(out, bytes.toString('latin1', start, end)),
    copyBinary: (out, bytes, start) => out.id(head, bytes, start),
    value: (uuid) => encodeId(prefix, uuid),
    valueBinary: (bytes, start) => {
      writeDigits(written, prefix.length + 1, bytes, start);
      return written.toString('latin1');
    },
  };
  return columns.given
    ? textField(key, !isNonNullType(type), columns.reader(column), id)
    : cellField(key, type, columns.place(column), id);
}

function codecOf(type: GraphQLLeafType): Codec | undefined {
  return isEnumType(type) ? enumCodec(type) : codecs[type.name];
}

/** A column of fetched rows, which is copied from cell to answer. */
function cellField(key: string, type: GraphQLOutputType, place: number, codec: Codec): Field {
  const nullable = !isNonNullType(type);
  const { copy, copyBinary, value, valueBinary } = codec;
  const ofTexts = textField(key, nullable, (row) => textAt(row as TextRow, place), codec);
  return {
    ...ofTexts,
    write: (out, frame, at) => {
      const row = frame.rows[at];
      if (!(row instanceof WireRow)) return ofTexts.write(out, frame, at);
      const start = row.find(place);
      if (start < 0) return nullable ? out.null() : nothing();
      if (row.isText(place)) copy(out, row.bytes, start, row.end);
      else if (!copyBinary?.(out, row.bytes, start)) ofTexts.write(out, frame, at);
    },
    value: (frame, at) => {
      const row = frame.rows[at];
      if (!(row instanceof WireRow)) return ofTexts.value(frame, at);
      const start = row.find(place);
      if (start < 0) return nullable ? null : nothing();
      if (row.isText(place)) return value(row.bytes.toString('utf8', start, row.end));
      return valueBinary?.(row.bytes, start) ?? ofTexts.value(frame, at);
    },
  };
}

function textField(
  key: string,
  nullable: boolean,
  read: (row: Row) => string | null,
  { write, value }: Pick<Codec, 'write' | 'value'>,
): Field {
  return {
    key,
    ofRow: true,
    write: (out, { rows }, row) => {
      const text = read(rows[row] as Row);
      if (text !== null) write(out, text);
      else if (nullable) out.null();
      else nothing();
    },
    value: ({ rows, run }, row) => {
      const text = read(rows[row] as Row);
      if (text !== null) {
        // The row may be in memory, and be shown under many objects.
        run.addText(text);
        return value(text);
      }
      return nullable ? null : nothing();
    },
  };
}

function nothing(): never {
  throw new Bail('A field that cannot be null is.');
}

/** A value of JavaScript, brought into the form of its GraphQL type as graphql-js would. */
export function valueField(
  key: string,
  type: GraphQLOutputType,
  compute: (frame: Frame, row: number) => unknown,
  { ofRow = false } = {},
): Field {
  const serialize = serializer(type);
  const value = (frame: Frame, row: number) => serialize(compute(frame, row));
  return {
    key,
    ...(ofRow && { ofRow }),
    value,
    write: (out, frame, row) => {
      const serialized = value(frame, row);
      if (typeof serialized === 'string') out.string(serialized);
      else out.text(JSON.stringify(serialized));
    },
  };
}

/**
 * Brings values into the form of a type of leaves, or of lists of them. Throws NotCompilable for a type of objects, and
 * the function that it gives throws Bail where a value is null that must not be.
 */
export function serializer(type: GraphQLOutputType): (value: unknown) => unknown {
  if (isNonNullType(type)) {
    const bare = serializer(type.ofType);
    return (value) => bare(value) ?? nothing();
  }
  if (isListType(type)) {
    const item = serializer(type.ofType);
    return (value) => {
      if (value === null || value === undefined) return null;
      if (!Array.isArray(value)) throw new Bail('A list that is none.');
      return value.map(item);
    };
  }
  if (!isLeafType(type)) throw new NotCompilable(`${type.name} has fields of its own`);
  return (value) => (value === null || value === undefined ? null : (type.serialize(value) ?? nothing()));
}
