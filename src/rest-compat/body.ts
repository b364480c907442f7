import type { JsonSchema } from './json-schema.ts';
import { bad, type JsonValue, type Read, type Violation } from './values.ts';

/** A field that must be there. */
export interface RequiredField<T> {
  readonly word: 'required';
  readonly of: JsonValue<T>;
  readonly description: string;
}

/** A flag that clears another field of the same body, and cannot stand beside a value for it. */
export interface Clears<Target extends string> {
  readonly word: 'clears';
  readonly target: Target;
  readonly description: string;
}

/** The fields of a body by their names; a bare value may be left out. */
export type Fields = Readonly<Record<string, JsonValue<unknown> | RequiredField<unknown> | Clears<string>>>;

/** A body: a JSON object whose unknown fields are ignored, and whose null fields count as left out. */
export interface Body<F extends Fields> {
  readonly fields: F;
  /** Refused when there is nothing in it to write. */
  readonly writesSomething: boolean;
}

type ClearedBy<F> = { [Name in keyof F]: F[Name] extends Clears<infer Target> ? Target : never }[keyof F];

/** What a body comes to once it is read: a field that was cleared is null, one that was left out undefined. */
export type BodyValues<F> = {
  readonly [Name in keyof F as F[Name] extends Clears<string> ? never : Name]: F[Name] extends RequiredField<
    infer T
  >
    ? T
    : F[Name] extends JsonValue<infer T>
      ? T | undefined | (Name extends ClearedBy<F> ? null : never)
      : never;
};

/** A body that makes a thing. */
export function creation<F extends Fields>(fields: F): Body<F> {
  return { fields, writesSomething: false };
}

/** A body that changes a thing: whatever is left out stays, and something must be there. */
export function change<F extends Fields>(fields: F): Body<F> {
  return { fields, writesSomething: true };
}

/** The word for a field that must be there. */
export function required<T>(of: JsonValue<T>): RequiredField<T> {
  return { word: 'required', of, description: of.description };
}

/** The word for a flag that clears the field named. */
export function clears<const Target extends string>(target: Target, description: string): Clears<Target> {
  return { word: 'clears', target, description };
}

/** A list of values; what is wrong with one says its place: values are counted from 1, of records it is the path. */
export function list<T>(of: JsonValue<T>, description: string, maxItems: number): JsonValue<T[]> {
  return {
    word: 'value',
    description,
    schema: { type: 'array', items: of.schema, maxItems },
    names: of.names,
    fromJson: (given) => {
      if (!Array.isArray(given)) return bad('must be a list');
      if (given.length > maxItems) return bad(`must have at most ${maxItems} items`);
      return readAll(given.map(of.fromJson));
    },
  };
}

/** However often one and the same stands in it. */
const mostItems = 250;

/**
 * A list in which a value counts once, however often it stands there. Clients are told that it has at most `maxItems`, since
 * a schema cannot say how many of them may differ; repeated values may make it longer.
 */
export function set<T extends string>(
  of: JsonValue<T>,
  description: string,
  maxItems: number,
): JsonValue<T[]> {
  return {
    word: 'value',
    description,
    schema: { type: 'array', items: of.schema, maxItems },
    names: of.names,
    fromJson: (given) => {
      if (!Array.isArray(given)) return bad('must be a list');
      if (given.length > mostItems) return bad(`must have at most ${mostItems} items`);
      if (new Set(given).size > maxItems) return bad(`must have at most ${maxItems} different items`);
      const read = readAll(given.map(of.fromJson));
      return 'value' in read ? { value: [...new Set(read.value)] } : read;
    },
  };
}

/** An object within a body; all its fields must be there, unknown ones are ignored. */
export function record<F extends Readonly<Record<string, JsonValue<unknown>>>>(
  name: string,
  fields: F,
): JsonValue<{ [Name in keyof F]: F[Name] extends JsonValue<infer T> ? T : never }> {
  const names = Object.keys(fields);
  const entries = Object.entries(fields).map(([field, of]) => [field, required(of)] as const);
  const body: Body<Fields> = creation(Object.fromEntries(entries));
  return {
    word: 'value',
    description: `An object of ${names.join(', ')}.`,
    schema: { title: name, type: 'object', properties: describe(fields), required: names },
    fromJson: (given) => {
      if (!isObject(given)) return bad(`must be an object of ${names.join(', ')}`);
      const { values, violations } = readBody(body, given);
      if (violations.length > 0)
        return { problems: violations.map(({ field, message }) => ({ field: `.${field}`, message })) };
      // The words that read the values are those that their types are made of.
      return { value: values as { [Name in keyof F]: F[Name] extends JsonValue<infer T> ? T : never } };
    },
  };
}

function describe(fields: Readonly<Record<string, JsonValue<unknown>>>): Record<string, JsonSchema> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { schema, description }]) => [name, { ...schema, description }]),
  );
}

/** Judges a body whole: the values of its fields, and every field that is wrong. */
export function readBody(
  { fields, writesSomething }: Body<Fields>,
  given: unknown,
): { values: Record<string, unknown>; violations: Violation[] } {
  if (!isObject(given))
    return { values: {}, violations: [{ field: 'body', message: 'must be a JSON object' }] };
  const values: Record<string, unknown> = {};
  const violations: Violation[] = [];
  for (const [name, field] of Object.entries(fields)) {
    const read = readField(field, supplied(given, name), given);
    if ('problems' in read) violations.push(...read.problems.map((problem) => below(name, problem)));
    else if (field.word === 'clears' && read.value === true) values[field.target] = null;
    else if (field.word !== 'clears' && read.value !== undefined) values[name] = read.value;
  }
  if (writesSomething && Object.keys(values).length === 0 && violations.length === 0) {
    const message = `must have at least one of ${Object.keys(fields).join(', ')}`;
    violations.push({ field: 'body', message });
  }
  return { values, violations };
}

function readField(field: Fields[string], value: unknown, body: object): Read<unknown> {
  if (value === undefined) return field.word === 'required' ? bad('is required') : { value };
  if (field.word === 'required') return field.of.fromJson(value);
  if (field.word === 'value') return field.fromJson(value);
  if (typeof value !== 'boolean') return bad('must be true or false');
  const both = value && supplied(body, field.target) !== undefined;
  return both ? bad(`cannot be combined with ${field.target}`) : { value };
}

/** The field's own value; what is inherited was not sent, and null is "not supplied" (docs/contract.md, "Writes"). */
function supplied(body: object, name: string): unknown {
  return Object.getOwnPropertyDescriptor(body, name)?.value ?? undefined;
}

function readAll<T>(reads: readonly Read<T>[]): Read<T[]> {
  const values: T[] = [];
  const problems: Violation[] = [];
  for (const [index, read] of reads.entries()) {
    if ('value' in read) values.push(read.value);
    else
      for (const { field, message } of read.problems)
        problems.push(
          field === ''
            ? { field, message: `item ${index + 1}: ${message}` }
            : { field: `[${index}]${field}`, message },
        );
  }
  return problems.length > 0 ? { problems } : { value: values };
}

function below(name: string, { field, message }: Violation): Violation {
  return { field: `${name}${field}`, message };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
