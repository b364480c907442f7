import {
  type GraphQLEnumType,
  type GraphQLLeafType,
  type GraphQLOutputType,
  isEnumType,
  isListType,
  isNonNullType,
} from 'graphql';
import { encodeId, type IdPrefix } from '../../resolvers/ids.ts';
import type { Columns } from './columns.ts';
import { Bail, type Field, type Frame, type Row } from './frame.ts';
import type { JsonWriter } from './json-writer.ts';

/** How the texts of a column become JSON and values, by the GraphQL type that shows them. */
interface Codec {
  write: (out: JsonWriter, text: string) => void;
  value: (text: string) => unknown;
}

const same = (text: string) => text;
const textual: Codec = { write: (out, text) => out.string(text), value: same };
const codecs: Readonly<Record<string, Codec>> = {
  ID: textual,
  String: textual,
  URL: textual,
  Date: textual,
  Int: { write: (out, text) => out.ascii(String(integer(text))), value: integer },
  Boolean: {
    write: (out, text) => out.ascii(text === 't' ? 'true' : 'false'),
    value: (text) => text === 't',
  },
  DateTime: { write: (out, text) => out.string(isoTime(text)), value: isoTime },
};

/** A time as PostgreSQL writes it (`2026-01-31 12:00:00.5+00`) in the form of JSON: UTC, to the millisecond. */
export function isoTime(text: string): string {
  if (text.length >= 22 && text.endsWith('+00') && text[4] === '-' && text[10] === ' ') {
    const fraction = text.length === 22 ? '.000' : text.slice(19, -3).padEnd(4, '0');
    if (fraction.length === 4) return `${text.slice(0, 10)}T${text.slice(11, 19)}${fraction}Z`;
  }
  const time = new Date(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'));
  if (Number.isNaN(time.getTime())) throw new Bail(`A time that cannot be read: ${text}`);
  return time.toISOString();
}

function integer(text: string): number {
  const value = Number(text);
  // GraphQL has no larger ones; the reference executor says so.
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
  return { write: (out, text) => out.string(nameOf(text)), value: nameOf };
}

/** A column as it is. */
export function columnField(key: string, type: GraphQLOutputType, column: string, columns: Columns): Field {
  const bare = isNonNullType(type) ? type.ofType : type;
  const leaf = isListType(bare) ? undefined : codecOf(bare as GraphQLLeafType);
  if (!leaf || columns.given) {
    const decode = columns.decoder(column);
    return valueField(key, type, decode, { ofRow: !columns.given });
  }
  const place = columns.place(column);
  return textField(key, !isNonNullType(type), (row) => (row as (string | null)[])[place] ?? null, leaf);
}

/** A text that is worked out of a row. */
export function derivedField(key: string, type: GraphQLOutputType, read: (row: Row) => string | null): Field {
  return textField(key, !isNonNullType(type), read, textual);
}

/** A global id, made of a uuid of the row. */
export function idField(
  key: string,
  type: GraphQLOutputType,
  prefix: IdPrefix,
  read: (row: Row) => string | null,
): Field {
  const head = Buffer.from(`"${prefix}_`);
  const id: Codec = {
    write: (out, uuid) => out.id(head, uuid),
    value: (uuid) => encodeId(prefix, uuid),
  };
  return textField(key, !isNonNullType(type), read, id);
}

function codecOf(type: GraphQLLeafType): Codec | undefined {
  return isEnumType(type) ? enumCodec(type) : codecs[type.name];
}

function textField(
  key: string,
  nullable: boolean,
  read: (row: Row) => string | null,
  { write, value }: Codec,
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
    value: ({ rows }, row) => {
      const text = read(rows[row] as Row);
      if (text !== null) return value(text);
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
  const value = (frame: Frame, row: number) => serialized(type, compute(frame, row));
  return {
    key,
    ...(ofRow && { ofRow }),
    value,
    write: (out, frame, row) => out.text(JSON.stringify(value(frame, row))),
  };
}

export function serialized(type: GraphQLOutputType, value: unknown): unknown {
  if (isNonNullType(type)) return serialized(type.ofType, value) ?? nothing();
  if (value === null || value === undefined) return null;
  if (isListType(type)) {
    if (!Array.isArray(value)) throw new Bail('A list that is none.');
    return value.map((item) => serialized(type.ofType, item));
  }
  return (type as GraphQLLeafType).serialize(value) ?? nothing();
}
