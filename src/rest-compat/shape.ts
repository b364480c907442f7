import { maxInt32 } from '../model/int32.ts';
import { limits } from '../model/limits.ts';
import { codeSchema, codesOf, namesOf } from './enums.ts';
import { idLength } from './ids.ts';
import { type JsonSchema, orNull } from './json-schema.ts';
import type { RichText } from './operations.generated.ts';
import { stepsOf, type ValueAt, valueAt } from './paths.ts';
import { richTextSchema } from './rich-text.ts';

/** How a field shows the value at its path. */
export type Rendering =
  | { readonly kind: 'value' }
  | { readonly kind: 'prefixed'; readonly prefix: string }
  /** An enum: what REST shows for each of its names. */
  | { readonly kind: 'enum'; readonly values: ReadonlyMap<string, string | number> }
  | { readonly kind: 'object'; readonly fields: ShapeFields }
  | { readonly kind: 'objects'; readonly fields: ShapeFields };

/**
 * A field of a response, as data. `Accepted` is the type that the value at the path must have: `shape` compares it with
 * the fragment, so a path that does not exist, or a null that the field does not expect, does not compile.
 */
export interface Field<out Path extends string = string, in Accepted = never> {
  /** The names that lead from the fragment to the value. An empty list means the fragment itself. */
  readonly steps: readonly string[];
  readonly rendering: Rendering;
  /** The value that is shown if the value, or an object on the way to it, is null. */
  readonly ifNull: string | number | null;
  readonly schema: JsonSchema;
  /** Exists only as a type, for `shape` to compare; it has no value at run time. */
  readonly types?: { readonly path: Path; readonly accepts: (value: Accepted) => void };
}

/** The fields of a shape in the order of the specification's table. */
export type ShapeFields = readonly (readonly [name: string, field: Field])[];

/** One of the specification's field tables: exactly these fields, in this order. */
export interface Shape<in Source> {
  readonly schema: JsonSchema;
  readonly fields: ShapeFields;
  readonly render: (source: Source) => Record<string, unknown>;
  /** The name of the fragment's revision, which is in the `ETag` and not among the fields. */
  readonly revision: string | undefined;
}

/** The names of a fragment's numbers. */
type NumberIn<Source> = {
  [Name in keyof Source & string]: Source[Name] extends number ? Name : never;
}[keyof Source & string];

/**
 * Gives each field that does not fit the fragment a type that no value has, so that the declaration does not compile.
 */
type FieldsThatFit<Source, Fields> = {
  readonly [Name in keyof Fields]: Fields[Name] extends Field<infer Path, infer Accepted>
    ? ValueAt<Source, Path> extends Accepted
      ? unknown
      : { readonly pathGives: ValueAt<Source, Path>; readonly fieldAccepts: Accepted }
    : never;
};

/**
 * A shape of a fragment, which the type of the constant names: `const issue: Shape<IssueFieldsFragment> = shape(…)`.
 * `name` is that of the component in OpenAPI, `revision` that of the fragment's revision, where it has one.
 */
export function shape<Source, const Fields extends Readonly<Record<string, Field>>>(
  name: string,
  fields: Fields & FieldsThatFit<Source, Fields>,
  revision?: NumberIn<Source>,
): Shape<Source> {
  const entries: ShapeFields = Object.entries<Field>(fields);
  return {
    schema: {
      title: name,
      type: 'object',
      properties: Object.fromEntries(entries.map(([field, { schema }]) => [field, schema])),
      required: entries.map(([field]) => field),
    },
    fields: entries,
    render: (source) => renderFields(entries, source),
    revision,
  };
}

/** The fields as values, read from what an operation returned. */
function renderFields(fields: ShapeFields, source: unknown): Record<string, unknown> {
  const rendered: Record<string, unknown> = {};
  for (const [name, { steps, rendering, ifNull }] of fields) {
    const value = valueAt(source, steps);
    rendered[name] = value === null || value === undefined ? ifNull : renderValue(rendering, value);
  }
  return rendered;
}

function renderValue(rendering: Rendering, value: unknown): unknown {
  switch (rendering.kind) {
    case 'value':
      return value;
    case 'prefixed':
      return `${rendering.prefix}${String(value)}`;
    case 'enum':
      return restValueOf(rendering.values, String(value));
    case 'object':
      return renderFields(rendering.fields, value);
    case 'objects':
      return (value as readonly unknown[]).map((item) => renderFields(rendering.fields, item));
  }
}

/** The value that REST shows for a name of an enum. */
function restValueOf(values: ReadonlyMap<string, string | number>, name: string): string | number {
  const found = values.get(name);
  if (found === undefined) throw new Error('The graph returned a name that its enum does not have.');
  return found;
}

/** Allows null for a field, and says so in its line of the table. */
export function nullable<Path extends string, Accepted>(
  field: Field<Path, Accepted>,
): Field<Path, Accepted | null> {
  const { steps, rendering, ifNull, schema } = field;
  return { steps, rendering, ifNull, schema: orNull(schema) };
}

interface Options<Absent> {
  readonly description?: string;
  /** The value that is shown instead of null. */
  readonly ifNull?: Absent;
}

/** A field accepts null if its options have `ifNull`. */
type NullOf<Chosen> = Chosen extends { readonly ifNull: string | number } ? null : never;

const unchanged: Rendering = { kind: 'value' };

function field<Path extends string, Accepted>(
  path: Path,
  schema: JsonSchema,
  { description, ifNull }: Options<string | number> = {},
  rendering = unchanged,
): Field<Path, Accepted> {
  return {
    steps: stepsOf(path),
    rendering,
    ifNull: ifNull ?? null,
    schema: description === undefined ? schema : { ...schema, description },
  };
}

/** A text of at most `maxLength` characters. */
export function text<const Path extends string, const Chosen extends Options<string>>(
  maxLength: number,
  path: Path,
  options?: Chosen,
): Field<Path, string | NullOf<Chosen>> {
  return field(path, { type: 'string', maxLength }, options);
}

/** An id with this prefix. */
export function id<const Path extends string, const Chosen extends Options<string>>(
  prefix: string,
  path: Path,
  options?: Chosen,
): Field<Path, string | NullOf<Chosen>> {
  return text(idLength(prefix), path, options);
}

/** An http or https URL, or a path of this service. `prefix` is put in front of the value. */
export function url<const Path extends string, const Chosen extends Options<string> & { prefix?: string }>(
  path: Path,
  options?: Chosen,
): Field<Path, string | NullOf<Chosen>> {
  const rendering: Rendering =
    options?.prefix === undefined ? unchanged : { kind: 'prefixed', prefix: options.prefix };
  return field(path, { type: 'string', maxLength: limits.url }, options, rendering);
}

/** A whole number of 0 or more. */
export function integer<const Path extends string, const Chosen extends Options<number>>(
  path: Path,
  options?: Chosen,
): Field<Path, number | NullOf<Chosen>> {
  return field(path, { type: 'integer', format: 'int32', minimum: 0, maximum: maxInt32 }, options);
}

/** True or false. */
export function boolean<const Path extends string>(
  path: Path,
  options?: Options<never>,
): Field<Path, boolean> {
  return field(path, { type: 'boolean' }, options);
}

/** A point in time: ISO 8601 in UTC, to the millisecond. */
export function timestamp<const Path extends string, const Chosen extends Options<string>>(
  path: Path,
  options?: Chosen,
): Field<Path, string | NullOf<Chosen>> {
  const schema = { type: 'string', format: 'date-time', maxLength: '2026-01-31T12:00:00.000Z'.length };
  return field(path, schema, options);
}

/** A calendar date, YYYY-MM-DD. */
export function date<const Path extends string>(path: Path): Field<Path, string> {
  return field(path, { type: 'string', format: 'date', maxLength: '2026-01-31'.length });
}

/** The code of an enum's value. `ifNull` is the name of the value that is shown for null. */
export function code<const Path extends string, const Chosen extends Options<string>>(
  enumName: string,
  path: Path,
  options?: Chosen,
): Field<Path, string | NullOf<Chosen>> {
  const codes = codesOf(enumName);
  const meanings = [...codes].map(([name, number]) => `${number} ${name.toLowerCase().replaceAll('_', ' ')}`);
  return field(
    path,
    { ...codeSchema(codes), description: `${meanings.join(', ')}.` },
    options?.ifNull === undefined ? {} : { ifNull: restValueOf(codes, options.ifNull) },
    { kind: 'enum', values: codes },
  );
}

/** The name of an enum's value, in lower case. */
export function name<const Path extends string>(enumName: string, path: Path): Field<Path, string> {
  const names = namesOf<string>(enumName);
  const values = new Map(Object.entries(names).map(([inLowerCase, name]) => [name, inLowerCase]));
  return field(path, { type: 'string', enum: Object.keys(names) }, {}, { kind: 'enum', values });
}

/** A list of texts. */
export function texts<const Path extends string>(
  { maxItems, maxLength }: { maxItems: number; maxLength: number },
  path: Path,
): Field<Path, readonly string[]> {
  return field(path, { type: 'array', items: { type: 'string', maxLength }, maxItems });
}

/** A list of ids. */
export function ids<const Path extends string>(
  prefix: string,
  maxItems: number,
  path: Path,
): Field<Path, readonly string[]> {
  return texts({ maxItems, maxLength: idLength(prefix) }, path);
}

/** A text as RichText of the specification. */
export function richText<const Path extends string>(path: Path): Field<Path, RichText> {
  return field(path, richTextSchema);
}

/** An object of another shape. */
export function object<Inner, const Path extends string>(
  inner: Shape<Inner>,
  path: Path,
): Field<Path, Inner> {
  return field(path, inner.schema, {}, { kind: 'object', fields: inner.fields });
}

/** A list of objects of another shape. */
export function objects<Inner, const Path extends string>(
  inner: Shape<Inner>,
  maxItems: number,
  path: Path,
): Field<Path, readonly Inner[]> {
  return field(
    path,
    { type: 'array', items: inner.schema, maxItems },
    {},
    { kind: 'objects', fields: inner.fields },
  );
}
