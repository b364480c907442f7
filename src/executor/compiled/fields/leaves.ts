import {
  getNullableType,
  type GraphQLEnumType,
  type GraphQLLeafType,
  type GraphQLOutputType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
} from 'graphql';
import { toRichText } from '../../../resolvers/rich-text.ts';
import type { IdPrefix } from '../../../resolvers/ids.ts';
import { type TextRow, textAt, WireRow } from '../../../db/wire/wire-row.ts';
import { maxInt32 } from '../../../model/int32.ts';
import type { Columns } from '../compile/columns.ts';
import { Bail, type Field, type Frame, NotCompilable, type Row } from '../run/frame.ts';
import { idPrefixLiteral, type Literal, literalOf, type Sink } from '../writing/sink.ts';
import { isoTime } from '../writing/iso-times.ts';

/** Writes the cells of a column as values of a GraphQL type. */
interface CellWriter {
  /** Writes a cell from its text as a string. */
  writeText: (out: Sink, text: string) => void;
  /** Writes a cell from the bytes of its text. */
  copyText: (out: Sink, bytes: Buffer, start: number, end: number) => void;
  /** Writes a cell from a binary format. Returns false, without writing, where `writeText` has to do it. */
  copyBinary?: (out: Sink, bytes: Buffer, start: number) => boolean;
}

const textWriter: CellWriter = {
  writeText: (out, text) => out.string(text),
  copyText: (out, bytes, start, end) => out.utf8String(bytes, start, end),
};
/** PostgreSQL writes a boolean as `t` or `f`. */
const trueCode = 0x74;
const booleanWriter: CellWriter = {
  writeText: (out, text) => out.boolean(text === 't'),
  copyText: (out, bytes, start) => out.boolean(bytes[start] === trueCode),
};
/** The JSON of an empty paragraph, and of one with a text. The constants below are what surrounds paragraphs and texts. */
const emptyParagraph = JSON.stringify(toRichText('').content.content[0]);
const paragraph = JSON.stringify(toRichText('line').content.content[0]);
const [beforeAll, afterAll] = splitAround(JSON.stringify(toRichText('')), emptyParagraph);
const [beforeLine, afterLine] = splitAround(paragraph, '"line"');
const emptyLine = Buffer.from(emptyParagraph);
const comma = Buffer.from(',');

function splitAround(json: string, inner: string): [Buffer, Buffer] {
  const [before = '', after = ''] = json.split(inner);
  return [Buffer.from(before), Buffer.from(after)];
}

const richTextWriter: CellWriter = {
  writeText: (out, text) => out.json(toRichText(text)),
  copyText: (out, bytes, start, end) => {
    const { writer } = out;
    if (!writer) return out.json(toRichText(bytes.toString('utf8', start, end)));
    // A text may have tens of thousands of lines, and an object for each of them would take far longer than the bytes.
    writer.bytes(beforeAll);
    for (let from = start, to; from <= end; from = afterBreak(bytes, to, end)) {
      to = lineEnd(bytes, from, end);
      if (from > start) writer.bytes(comma);
      if (to === from) {
        writer.bytes(emptyLine);
      } else {
        writer.bytes(beforeLine);
        writer.utf8String(bytes, from, to);
        writer.bytes(afterLine);
      }
    }
    writer.bytes(afterAll);
  },
};

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

function lineEnd(bytes: Uint8Array, start: number, end: number): number {
  let index = start;
  while (index < end && bytes[index] !== lineFeed && bytes[index] !== carriageReturn) index += 1;
  return index;
}

/** Where the line after a break begins; beyond the end if there is no break. */
function afterBreak(bytes: Uint8Array, at: number, end: number): number {
  const isPair = bytes[at] === carriageReturn && at + 1 < end && bytes[at + 1] === lineFeed;
  return at + (isPair ? 2 : 1);
}

const cellWriters: Readonly<Record<string, CellWriter>> = {
  ID: textWriter,
  String: textWriter,
  URL: textWriter,
  Date: textWriter,
  Int: {
    writeText: (out, text) => out.integer(integer(text)),
    copyText: (out, bytes, start, end) => {
      if (!out.digits(bytes, start, end)) out.integer(integer(bytes.toString('utf8', start, end)));
    },
  },
  Boolean: booleanWriter,
  RichText: richTextWriter,
  DateTime: {
    writeText: (out, text) => out.string(isoTime(text)),
    copyText: (out, bytes, start, end) => {
      if (!out.time(bytes, start, end)) out.string(isoTime(bytes.toString('utf8', start, end)));
    },
    copyBinary: (out, bytes, start) => out.timeOfBytes(bytes, start),
  },
};

function integer(text: string): number {
  const value = Number(text);
  // An Int of GraphQL has 32 bits; graphql-js produces the error message.
  if (!Number.isInteger(value) || Math.abs(value) > maxInt32) throw new Bail('The value is not an Int.');
  return value;
}

function enumWriter(type: GraphQLEnumType, literal: (name: string) => Literal = literalOf): CellWriter {
  const names = new Map(type.getValues().map(({ value, name }) => [String(value), literal(name)]));
  const stored = Array.from(names, ([value, name]) => ({ bytes: Buffer.from(value), name }));
  const nameOf = (text: string): Literal => {
    const name = names.get(text);
    if (!name) throw new Bail(`${type.name} has no such value.`);
    return name;
  };
  return {
    writeText: (out, text) => out.literal(nameOf(text)),
    copyText: (out, bytes, start, end) => {
      for (const { bytes: sought, name } of stored)
        if (isAt(bytes, start, end, sought)) return out.literal(name);
      out.literal(nameOf(bytes.toString('utf8', start, end)));
    },
  };
}

function isAt(bytes: Uint8Array, start: number, end: number, sought: Uint8Array): boolean {
  if (end - start !== sought.length) return false;
  for (let index = 0; index < sought.length; index += 1) {
    if (bytes[start + index] !== sought[index]) return false;
  }
  return true;
}

/** A field that shows the value of a column unchanged. */
export function columnField(
  responseName: string,
  type: GraphQLOutputType,
  column: string,
  columns: Columns,
): Field {
  const nullable = getNullableType(type);
  const writer = isListType(nullable) ? undefined : cellWriterOf(nullable as GraphQLLeafType);
  if (!writer || columns.isResolved) {
    const decode = columns.decoder(column);
    return valueField(responseName, type, decode, { dependsOnlyOnRow: !columns.isResolved });
  }
  const index = columns.include(column);
  return {
    ...cellField(responseName, type, index, writer),
    ...(isEnumType(nullable) && {
      renamed: (literal) => cellField(responseName, type, index, enumWriter(nullable, literal)),
    }),
  };
}

/** A boolean that the statement computed for each row. */
export function booleanField(responseName: string, type: GraphQLOutputType, index: number): Field {
  return cellField(responseName, type, index, booleanWriter);
}

/** A global id, made from a uuid column. */
export function idField(
  responseName: string,
  type: GraphQLOutputType,
  prefix: IdPrefix,
  column: string,
  columns: Columns,
): Field {
  const prefixLiteral = idPrefixLiteral(prefix);
  const idWriter: CellWriter = {
    writeText: (out, uuid) => out.idOfText(prefixLiteral, uuid),
    copyText: (out, bytes, start, end) => out.idOfText(prefixLiteral, bytes.toString('latin1', start, end)),
    copyBinary: (out, bytes, start) => {
      out.id(prefixLiteral, bytes, start);
      return true;
    },
  };
  return columns.isResolved
    ? textField(responseName, !isNonNullType(type), columns.reader(column), idWriter)
    : cellField(responseName, type, columns.include(column), idWriter);
}

function cellWriterOf(type: GraphQLLeafType): CellWriter | undefined {
  return isEnumType(type) ? enumWriter(type) : cellWriters[type.name];
}

/** A column of rows that a statement read; its bytes are copied from the cell. */
function cellField(responseName: string, type: GraphQLOutputType, index: number, writer: CellWriter): Field {
  const nullable = !isNonNullType(type);
  const { copyText, copyBinary } = writer;
  const asText = textField(responseName, nullable, (row) => textAt(row as TextRow, index), writer);
  return {
    ...asText,
    write: (out, frame, at) => {
      const row = frame.rows[at];
      if (!(row instanceof WireRow)) return asText.write(out, frame, at);
      const start = row.find(index);
      if (start < 0) return nullable ? out.null() : refuseNull();
      if (row.isText(index)) copyText(out, row.bytes, start, row.end);
      else if (!copyBinary?.(out, row.bytes, start)) asText.write(out, frame, at);
    },
  };
}

function textField(
  responseName: string,
  nullable: boolean,
  read: (row: Row) => string | null,
  { writeText: write }: Pick<CellWriter, 'writeText'>,
): Field {
  return {
    responseName,
    dependsOnlyOnRow: true,
    write: (out, { rows }, row) => {
      const text = read(rows[row] as Row);
      if (text !== null) write(out, text);
      else if (nullable) out.null();
      else refuseNull();
    },
  };
}

/** graphql-js produces the error message. */
export function refuseNull(): never {
  throw new Bail('A field of a non-null type is null.');
}

/** A JavaScript value, serialized by its GraphQL type as graphql-js does it. */
export function valueField(
  responseName: string,
  type: GraphQLOutputType,
  compute: (frame: Frame, row: number) => unknown,
  { dependsOnlyOnRow = false } = {},
): Field {
  const serialize = serializer(type);
  const field: Field = {
    responseName,
    ...(dependsOnlyOnRow && { dependsOnlyOnRow }),
    write: (out, frame, row) => out.json(serialize(compute(frame, row))),
  };
  if (!isEnumType(getNullableType(type))) return field;
  const renamed = (literal: (name: string) => Literal): Field => ({
    ...field,
    write: (out, frame, row) => {
      const name = serialize(compute(frame, row));
      if (typeof name === 'string') out.literal(literal(name));
      else out.null();
    },
  });
  return { ...field, renamed };
}

/**
 * Serializes values of a leaf type, or of lists of it. Throws NotCompilable for an object type; the returned function
 * throws Bail for a null that the type does not allow.
 */
function serializer(type: GraphQLOutputType): (value: unknown) => unknown {
  if (isNonNullType(type)) {
    const serialize = serializer(type.ofType);
    return (value) => serialize(value) ?? refuseNull();
  }
  if (isListType(type)) {
    const item = serializer(type.ofType);
    return (value) => {
      if (value === null || value === undefined) return null;
      if (!Array.isArray(value)) throw new Bail('The value of a list type is not a list.');
      return value.map(item);
    };
  }
  if (!isLeafType(type)) throw new NotCompilable(`${type.name} has fields of its own`);
  return (value) => (value === null || value === undefined ? null : (type.serialize(value) ?? refuseNull()));
}
