import { limits } from '../schema/builder/limits.ts';
import { codeSchema, codesOf, namesOf } from './enums.ts';
import { idLength } from './ids.ts';
import { type JsonSchema, largestInt32, orNull } from './json-schema.ts';
import type { RichText } from './operations.generated.ts';

type Json = string | number | boolean | object;

/** A field of an answer: how it is read from what the operation gave, and how OpenAPI describes it. */
export interface Field<in Source, out Value> {
  readonly read: (source: Source) => Value;
  readonly schema: JsonSchema;
}

/** A field that may be null. Without `nullable` a field that might be does not compile in a shape. */
export interface NullableField<in Source> extends Field<Source, Json | null> {
  readonly nullable: true;
}

/** The fields of a shape in the order of the specification's table. */
export type ShapeFields<Source> = Readonly<Record<string, Field<Source, Json> | NullableField<Source>>>;

/** One of the specification's field tables: exactly these fields, in this order. */
export interface Shape<in Source> {
  readonly schema: JsonSchema;
  readonly render: (source: Source) => Record<string, unknown>;
  /** Of a thing that counts its changes: it stands in the `ETag`, not among the fields. */
  readonly revision?: (source: Source) => number;
}

/** A shape of these fields; `name` is that of its component in OpenAPI, `revision` that of things that have one. */
export function shape<Source>(
  name: string,
  fields: ShapeFields<Source>,
  revision?: (source: Source) => number,
): Shape<Source> {
  const entries = Object.entries(fields);
  return {
    ...(revision && { revision }),
    schema: {
      title: name,
      type: 'object',
      properties: Object.fromEntries(entries.map(([field, { schema }]) => [field, schema])),
      required: Object.keys(fields),
    },
    render: (source) => {
      const answer: Record<string, unknown> = {};
      for (const [field, { read }] of entries) answer[field] = read(source);
      return answer;
    },
  };
}

/** Lets a field be null, and says so in its line of the table. */
export function nullable<Source>(field: Field<Source, Json | null>): NullableField<Source> {
  return { ...field, schema: orNull(field.schema), nullable: true };
}

/** A text of so many characters at most; an absent one is the empty string unless it is `nullable`. */
export function text<Source, Value extends string | null>(
  maxLength: number,
  read: (source: Source) => Value,
  description?: string,
): Field<Source, Value> {
  return { read, schema: { type: 'string', maxLength, ...(description !== undefined && { description }) } };
}

/** The id of a thing; an absent one is the empty string unless it is `nullable`. */
export function id<Source, Value extends string | null>(
  prefix: string,
  read: (source: Source) => Value,
): Field<Source, Value> {
  return text(idLength(prefix), read);
}

/** An http or https URL, or a path of this service; an absent one is the empty string. */
export function url<Source>(read: (source: Source) => string, description?: string): Field<Source, string> {
  return text(limits.url, read, description);
}

/** A whole number, 0 or more unless it says otherwise. */
export function integer<Source, Value extends number | null>(
  read: (source: Source) => Value,
  description?: string,
): Field<Source, Value> {
  return {
    read,
    schema: {
      type: 'integer',
      format: 'int32',
      minimum: 0,
      maximum: largestInt32,
      ...(description !== undefined && { description }),
    },
  };
}

/** True or false. */
export function boolean<Source>(
  read: (source: Source) => boolean,
  description?: string,
): Field<Source, boolean> {
  return { read, schema: { type: 'boolean', ...(description !== undefined && { description }) } };
}

/** A moment: ISO 8601 in UTC, to the millisecond. */
export function timestamp<Source, Value extends string | null>(
  read: (source: Source) => Value,
): Field<Source, Value> {
  return {
    read,
    schema: { type: 'string', format: 'date-time', maxLength: '2026-01-31T12:00:00.000Z'.length },
  };
}

/** A calendar date, YYYY-MM-DD. */
export function date<Source, Value extends string | null>(
  read: (source: Source) => Value,
): Field<Source, Value> {
  return { read, schema: { type: 'string', format: 'date', maxLength: '2026-01-31'.length } };
}

/** The number of a graph's enum. */
export function code<Source>(enumName: string, read: (source: Source) => string): Field<Source, number> {
  const codes = codesOf(enumName);
  const meanings = [...codes].map(
    ([entry, number]) => `${number} ${entry.toLowerCase().replaceAll('_', ' ')}`,
  );
  return {
    read: (source) => known(codes.get(read(source))),
    schema: { ...codeSchema(codes), description: `${meanings.join(', ')}.` },
  };
}

/** The name of a graph's enum, in lower case. */
export function name<Source>(enumName: string, read: (source: Source) => string): Field<Source, string> {
  return {
    read: (source) => read(source).toLowerCase(),
    schema: { type: 'string', enum: Object.keys(namesOf(enumName)) },
  };
}

/** A list of texts, so many at most of so many characters. */
export function texts<Source>(
  { maxItems, maxLength }: { maxItems: number; maxLength: number },
  read: (source: Source) => readonly string[],
): Field<Source, readonly string[]> {
  return { read, schema: { type: 'array', items: { type: 'string', maxLength }, maxItems } };
}

/** A list of ids. */
export function ids<Source>(
  prefix: string,
  maxItems: number,
  read: (source: Source) => readonly string[],
): Field<Source, readonly string[]> {
  return texts({ maxItems, maxLength: idLength(prefix) }, read);
}

/** A text in the specification's RichText form. */
export function richText<Source>(read: (source: Source) => RichText): Field<Source, RichText> {
  return { read, schema: richTextSchema };
}

const textNode: JsonSchema = {
  title: 'TextNode',
  type: 'object',
  properties: {
    type: { type: 'string', const: 'text' },
    text: { type: 'string', maxLength: limits.comment },
  },
  required: ['type', 'text'],
};

const paragraphNode: JsonSchema = {
  title: 'ParagraphNode',
  type: 'object',
  properties: {
    type: { type: 'string', const: 'paragraph' },
    content: { type: 'array', items: textNode, maxItems: 1 },
  },
  required: ['type', 'content'],
};

const richTextSchema: JsonSchema = {
  title: 'RichText',
  type: 'object',
  properties: {
    schemaVersion: {
      type: 'integer',
      format: 'int32',
      minimum: 1,
      maximum: 1,
      description: 'The version of this form: 1.',
    },
    content: {
      title: 'RichTextDocument',
      type: 'object',
      properties: {
        type: { type: 'string', const: 'doc' },
        // There is a paragraph more than there are ends of lines.
        content: { type: 'array', items: paragraphNode, maxItems: limits.comment + 1 },
      },
      required: ['type', 'content'],
    },
  },
  required: ['schemaVersion', 'content'],
};

/** An object of a shape of its own. */
export function object<Source, Inner, Value extends Inner | null>(
  of: Shape<Inner>,
  read: (source: Source) => Value,
): Field<Source, object | Extract<Value, null>> {
  return {
    // A null comes from the graph's null alone, which the type of `read` owns to.
    read: (source) => {
      const inner = read(source);
      return (inner === null ? null : of.render(inner)) as object | Extract<Value, null>;
    },
    schema: of.schema,
  };
}

/** A list of objects of a shape of their own, so many at most. */
export function objects<Source, Inner>(
  of: Shape<Inner>,
  maxItems: number,
  read: (source: Source) => readonly Inner[],
): Field<Source, object[]> {
  return {
    read: (source) => read(source).map(of.render),
    schema: { type: 'array', items: of.schema, maxItems },
  };
}

function known(number: number | undefined): number {
  if (number === undefined) throw new Error('The graph gave a name that its enum does not have.');
  return number;
}
