import { isJsonObject } from '../model/json.ts';
import { differentItemsRule, itemsRule } from '../model/sentences.ts';
import type { JsonSchema } from './json-schema.ts';
import { type JsonValue, type ReadResult, type Violation, violation } from './values.ts';

/** The media type and the encoding of a body. */
export const bodyTypeMessage = 'The body must be application/json in UTF-8, not compressed.';
/** What a body has to be. */
export const bodyRule = 'must be a JSON object';

/** A required field. */
export interface RequiredField<T> {
  readonly kind: 'required';
  readonly value: JsonValue<T>;
  readonly description: string;
}

/** A flag that clears another field of the same body. The body must not contain a value for that field too. */
export interface Clears<Target extends string> {
  readonly kind: 'clears';
  readonly target: Target;
  readonly description: string;
}

/** The fields of a body by name. A value without `required` is optional. */
export type BodyFields = Readonly<
  Record<string, JsonValue<unknown> | RequiredField<unknown> | Clears<string>>
>;

/** A body: a JSON object. Unknown fields are ignored, and null fields count as not sent. */
export interface Body<F extends BodyFields> {
  readonly fields: F;
  /** Whether a body without any field to write is refused. */
  readonly refusesEmpty: boolean;
}

type ClearedBy<F> = { [Name in keyof F]: F[Name] extends Clears<infer Target> ? Target : never }[keyof F];

/** The values of a body: null for a cleared field, undefined for a field that was not sent. */
export type BodyValues<F> = {
  readonly [Name in keyof F as F[Name] extends Clears<string> ? never : Name]: F[Name] extends RequiredField<
    infer T
  >
    ? T
    : F[Name] extends JsonValue<infer T>
      ? T | undefined | (Name extends ClearedBy<F> ? null : never)
      : never;
};

/** Declares a body. */
export function bodyOf<F extends BodyFields>(fields: F): Body<F> {
  return { fields, refusesEmpty: false };
}

/**
 * Declares a body that changes a resource: a field that is not sent stays unchanged, and at least one field must be
 * sent.
 */
export function changeOf<F extends BodyFields>(fields: F): Body<F> {
  return { fields, refusesEmpty: true };
}

/** Declares a required field. */
export function required<T>(value: JsonValue<T>): RequiredField<T> {
  return { kind: 'required', value, description: value.description };
}

/** Declares a flag that clears the field `target`. */
export function clears<const Target extends string>(target: Target, description: string): Clears<Target> {
  return { kind: 'clears', target, description };
}

/** Declares a list. A violation of an item names its position, counted from 1, or the path of a field in a record. */
export function list<T>(item: JsonValue<T>, description: string, maxItems: number): JsonValue<T[]> {
  return arrayOf(item, description, maxItems, ({ length }) =>
    length > maxItems ? itemsRule(maxItems) : undefined,
  );
}

/** The maximum length of a list, including repeated values. */
const maxLength = 250;

/**
 * Declares a list in which repeated values count once. Its schema says `maxItems`, because a schema cannot limit the
 * number of different values. Repeated values may make the list longer.
 */
export function set<T extends string>(
  item: JsonValue<T>,
  description: string,
  maxItems: number,
): JsonValue<T[]> {
  const repeating = arrayOf(item, description, maxItems, (items) => {
    if (items.length > maxLength) return itemsRule(maxLength);
    return new Set(items).size > maxItems ? differentItemsRule(maxItems) : undefined;
  });
  return {
    ...repeating,
    fromJson: (items) => {
      const read = repeating.fromJson(items);
      return 'value' in read ? { value: [...new Set(read.value)] } : read;
    },
  };
}

/** Declares an array. `problemOf` says what is wrong with its length, before its items are read. */
function arrayOf<T>(
  item: JsonValue<T>,
  description: string,
  maxItems: number,
  problemOf: (items: readonly unknown[]) => string | undefined,
): JsonValue<T[]> {
  return {
    kind: 'value',
    description,
    schema: { type: 'array', items: item.schema, maxItems },
    names: item.names,
    fromJson: (items) => {
      if (!Array.isArray(items)) return violation('must be a list');
      const problem = problemOf(items);
      return problem === undefined ? readAll(items.map(item.fromJson)) : violation(problem);
    },
  };
}

/** Declares an object within a body. All its fields are required, and unknown ones are ignored. */
export function record<F extends Readonly<Record<string, JsonValue<unknown>>>>(
  name: string,
  fields: F,
): JsonValue<{ [Name in keyof F]: F[Name] extends JsonValue<infer T> ? T : never }> {
  const names = Object.keys(fields);
  const entries = Object.entries(fields).map(([field, value]) => [field, required(value)] as const);
  const body: Body<BodyFields> = bodyOf(Object.fromEntries(entries));
  return {
    kind: 'value',
    description: `An object of ${names.join(', ')}.`,
    schema: { title: name, type: 'object', properties: propertySchemas(fields), required: names },
    fromJson: (value) => {
      if (!isJsonObject(value)) return violation(`must be an object of ${names.join(', ')}`);
      const { values, violations } = readBody(body, value);
      if (violations.length > 0)
        return { violations: violations.map(({ field, message }) => ({ field: `.${field}`, message })) };
      // The types of the values follow from the declarations that read them.
      return { value: values as { [Name in keyof F]: F[Name] extends JsonValue<infer T> ? T : never } };
    },
  };
}

/** The schema of the values of a field. */
export function schemaOf(field: BodyFields[string]): JsonSchema {
  if (field.kind === 'clears') return { type: 'boolean' };
  return field.kind === 'required' ? field.value.schema : field.schema;
}

function propertySchemas(fields: Readonly<Record<string, JsonValue<unknown>>>): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { schema, description }]) => [name, { ...schema, description }]),
  );
}

/** Reads a whole body. Returns the values of its fields, and all violations. */
export function readBody(
  { fields, refusesEmpty }: Body<BodyFields>,
  body: unknown,
): { values: Record<string, unknown>; violations: Violation[] } {
  if (!isJsonObject(body)) return { values: {}, violations: [{ field: 'body', message: bodyRule }] };
  const values: Record<string, unknown> = {};
  const violations: Violation[] = [];
  for (const [name, field] of Object.entries(fields)) {
    const read = readField(field, suppliedValue(body, name), body);
    if ('violations' in read) violations.push(...read.violations.map((one) => withFieldName(name, one)));
    else if (field.kind === 'clears' && read.value === true) values[field.target] = null;
    else if (field.kind !== 'clears' && read.value !== undefined) values[name] = read.value;
  }
  if (refusesEmpty && Object.keys(values).length === 0 && violations.length === 0) {
    const message = `must have at least one of ${Object.keys(fields).join(', ')}`;
    violations.push({ field: 'body', message });
  }
  return { values, violations };
}

function readField(field: BodyFields[string], value: unknown, body: object): ReadResult<unknown> {
  if (value === undefined) return field.kind === 'required' ? violation('is required') : { value };
  if (field.kind === 'required') return field.value.fromJson(value);
  if (field.kind === 'value') return field.fromJson(value);
  if (typeof value !== 'boolean') return violation('must be true or false');
  const both = value && suppliedValue(body, field.target) !== undefined;
  return both ? violation(`cannot be combined with ${field.target}`) : { value };
}

/**
 * The own property of the body, since inherited ones were not sent. Null means "not supplied" (docs/contract.md,
 * "Writes").
 */
function suppliedValue(body: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(body, name)?.value ?? undefined;
}

function readAll<T>(reads: readonly ReadResult<T>[]): ReadResult<T[]> {
  const values: T[] = [];
  const violations: Violation[] = [];
  for (const [index, read] of reads.entries()) {
    if ('value' in read) values.push(read.value);
    else
      for (const { field, message } of read.violations)
        violations.push(
          field === ''
            ? { field, message: `item ${index + 1}: ${message}` }
            : { field: `[${index}]${field}`, message },
        );
  }
  return violations.length > 0 ? { violations } : { value: values };
}

function withFieldName(name: string, { field, message }: Violation): Violation {
  return { field: `${name}${field}`, message };
}
