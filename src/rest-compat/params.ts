import { keyPattern, keyRule } from '../executor/answers/idempotent.ts';
import { type NamedKind, type Naming, naming } from '../schema/builder/naming.ts';
import { limits } from '../model/limits.ts';
import { lengthRule } from '../model/sentences.ts';
import type { SortDirection } from './operations.generated.ts';
import { entityTagsPattern, readEntityTags, revisionOf } from './entity-tags.ts';
import { idLength, idTail } from './ids.ts';
import type { JsonSchema } from './json-schema.ts';
import {
  cursor,
  integer,
  maxKeyLength,
  oneOf,
  type ReadResult,
  type Value,
  type Violation,
  violation,
} from './values.ts';

/** A query parameter that may be repeated. Its values are combined by OR. */
export interface Many<T> {
  readonly kind: 'many';
  readonly value: Value<T>;
  readonly maxItems: number;
  readonly description: string;
  readonly schema: JsonSchema;
}

/** A query parameter with a default. */
export interface WithDefault<T> {
  readonly kind: 'default';
  readonly value: Value<T>;
  readonly defaultValue: T;
  readonly description: string;
  readonly schema: JsonSchema;
}

/** A parameter in the path, such as `{issueKey}`. A text that does not match the pattern is `not_found`. */
export interface PathPart {
  readonly kind: 'path';
  /** The kind of resource that it names, for the message "There is no such …". */
  readonly noun: string;
  readonly names?: Naming | undefined;
  readonly pattern: RegExp;
  readonly description: string;
  readonly schema: JsonSchema;
}

/** A header of the request that is read like a parameter. */
export interface HeaderField<T> {
  readonly kind: 'header';
  readonly names?: Naming | undefined;
  readonly description: string;
  readonly schema: JsonSchema;
  readonly fromText: (text: string) => ReadResult<T>;
}

/** The parameters of a route by name, including those of the path and headers. A plain value may be sent once. */
export type Parameters = Readonly<
  Record<string, Value<unknown> | Many<unknown> | WithDefault<unknown> | HeaderField<unknown> | PathPart>
>;

/** The values of parameters. */
export type ParameterValues<P> = {
  readonly [Name in keyof P]: P[Name] extends PathPart
    ? string
    : P[Name] extends Many<infer T>
      ? T[] | undefined
      : P[Name] extends WithDefault<infer T>
        ? T
        : P[Name] extends Value<infer T> | HeaderField<infer T>
          ? T | undefined
          : never;
};

/** The parts of a request from which parameters are read. */
export interface SentParameters {
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** The maximum number of values of a repeated parameter, which is that of GraphQL filters. */
const maxValues = 250;

/** The maximum number of ids of a repeated parameter. Several such parameters must fit into the head of a request. */
const maxIds = 100;

/** Declares a parameter that may be repeated. */
export function many<T>(value: Value<T>, maxItems = value.names ? maxIds : maxValues): Many<T> {
  const schema = { type: 'array', items: value.schema, maxItems };
  return { kind: 'many', value, maxItems, description: value.description, schema };
}

/** Declares a parameter with a default. `spelling` is what a client would send for it. */
export function withDefault<T>(spelling: string, value: Value<T>): WithDefault<T> {
  const read = value.fromText(spelling);
  if (!('value' in read)) throw new Error(`${spelling} is not a valid value of its parameter.`);
  const printed = value.schema.type === 'string' ? spelling : (JSON.parse(spelling) as number | boolean);
  return {
    kind: 'default',
    value,
    defaultValue: read.value,
    description: value.description,
    schema: { ...value.schema, default: printed },
  };
}

/** Declares a key or code in the path: letters, digits and hyphens, in upper or lower case. An id is not accepted. */
export function key(noun: NamedKind, description: string): PathPart {
  const pattern = new RegExp(`^[A-Za-z0-9-]{1,${maxKeyLength}}$`);
  const schema = { type: 'string', pattern: pattern.source, maxLength: maxKeyLength };
  return { kind: 'path', noun, pattern, description, schema, ...naming('key', noun) };
}

/** Declares an id in the path (`comment_…`). An id with another prefix is `not_found`. */
export function pathId(prefix: NamedKind, noun: string, description: string): PathPart {
  const pattern = new RegExp(`^${prefix}_${idTail}$`);
  const schema = { type: 'string', pattern: pattern.source, maxLength: idLength(prefix) };
  return { kind: 'path', noun, pattern, description, schema, ...naming('id', prefix) };
}

/**
 * A name of 255 characters has at most 8.5 kB in the form by which it is sorted (U+FDFA becomes 18 letters), which the
 * cursor contains in base64.
 */
export const maxCursorLength = 12_000;

/** The parameters of every list. */
export const page = {
  cursor: cursor(
    'The `nextCursor` of the previous page; empty or left out for the first page.',
    maxCursorLength,
  ),
  page_size: withDefault(
    '100',
    integer('The maximum number of results of a page.', { minimum: 1, maximum: limits.pageSize }),
  ),
};

/** The maximum length of a header with tags. Tags of this service have at most 64 characters. */
const maxTagsLength = 4_000;

/** The header If-None-Match of reads with a body. The server compares it when the answer is ready. */
export const ifNoneMatch = {
  'If-None-Match': {
    kind: 'header',
    description:
      'The `ETag` of an earlier answer, or several. If the answer has not changed, the response is 304. An invalid header is ignored.',
    schema: { type: 'string', maxLength: maxTagsLength },
    fromText: (header) => (header.length > maxTagsLength ? tooLong : { value: header }),
  } satisfies HeaderField<string>,
} as const;

/** The header with which a client resumes a stream. It takes precedence over the cursor. */
export const lastEventId = {
  'Last-Event-ID': {
    kind: 'header',
    description:
      'The `id` of the last event of an interrupted stream. The response has the changes after it, and `cursor` is ignored.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]*$', maxLength: limits.changeCursor },
    fromText: (text) =>
      /^[\w-]*$/.test(text) && text.length <= limits.changeCursor
        ? { value: text }
        : violation('must be the id of an event'),
    ...naming('cursor'),
  } satisfies HeaderField<string>,
} as const;

const tooLong = violation(lengthRule(maxTagsLength));

/** The header If-Match of writes, whose revision becomes the `expectedRevision` of the operation. */
export const ifMatch = {
  'If-Match': {
    kind: 'header',
    description:
      'The `ETag` of the resource when it was read. If its revision has changed since, nothing is written. If it is omitted or `*`, any revision is accepted.',
    schema: { type: 'string', pattern: entityTagsPattern.source, maxLength: maxTagsLength },
    fromText: readIfMatch,
  } satisfies HeaderField<number | undefined>,
} as const;

/** The violation of an invalid If-Match. If the header were ignored, the write would run without its condition. */
const invalidTagRule = 'must be an ETag as it was answered, with its quotes, such as "r12-…", or *';

/** No resource has this revision, so it never matches. */
const noRevision = 0;

/** Strong comparison (RFC 9110, 13.1.1) of revisions. A weak tag, or one of another service, never matches. */
function readIfMatch(header: string): ReadResult<number | undefined> {
  if (header.length > maxTagsLength) return tooLong;
  const tags = readEntityTags(header);
  if (tags === '*') return { value: undefined };
  if (!tags) return violation(invalidTagRule);
  const strong = tags.flatMap((tag) => (tag.weak ? [] : (revisionOf(tag) ?? [])));
  const [revision = noRevision, second] = new Set(strong);
  return second === undefined ? { value: revision } : violation('must not name several revisions');
}

/** The header with which a client can retry a write safely. Every route that writes accepts it. */
export const idempotencyKey = {
  'Idempotency-Key': {
    kind: 'header',
    description: `A name for this write, chosen by the client. If the write is repeated with it within 24 hours, it gets the same answer and is not done again. It ${keyRule}.`,
    schema: { type: 'string', pattern: keyPattern.source, maxLength: 255 },
    fromText: (text) => (keyPattern.test(text) ? { value: text } : violation(keyRule)),
  } satisfies HeaderField<string>,
} as const;

/** The sort direction of a list. */
export const direction = directionOf('asc');

/** The sort direction of a list, with this default. */
export function directionOf(defaultSpelling: 'asc' | 'desc'): WithDefault<SortDirection> {
  const spellings = { asc: 'ASC', ascending: 'ASC', desc: 'DESC', descending: 'DESC' } as const;
  const description = 'The sort direction. Resources without a value come last in both directions.';
  return withDefault(defaultSpelling, oneOf<SortDirection>(spellings, description));
}

/** The sort field of a list. `note` is a sentence about some of its spellings, for the description. */
export function sortBy<Field extends string>(
  defaultSpelling: string,
  spellings: Readonly<Record<string, Field>>,
  note = '',
): WithDefault<Field> {
  const description = `The field to sort by. Resources with equal values are sorted by id.${note && ` ${note}`}`;
  return withDefault(defaultSpelling, oneOf(spellings, description));
}

/** The kinds of resources that the parameters in the path identify, in order. */
export function nounsOf(parameters: Parameters): string[] {
  return Object.values(parameters).flatMap((parameter) =>
    parameter.kind === 'path' ? [parameter.noun] : [],
  );
}

/**
 * Reads the parameters. `violations` has every invalid parameter. `isNotFound` is true if a parameter in the path does not match its
 * pattern, which is answered only if there are no violations.
 */
export function readParameters(
  parameters: Parameters,
  { path, query, headers = {} }: SentParameters,
): { values: Record<string, unknown>; violations: Violation[]; isNotFound: boolean } {
  const values: Record<string, unknown> = {};
  const violations: Violation[] = [];
  let isNotFound = false;
  for (const [name, parameter] of Object.entries(parameters)) {
    if (parameter.kind === 'path') {
      const part = path[name] ?? '';
      isNotFound ||= !parameter.pattern.test(part);
      values[name] = part;
      continue;
    }
    const read =
      parameter.kind === 'header'
        ? readHeader(parameter, headers[name.toLowerCase()])
        : readQuery(parameter, query.getAll(name));
    if ('value' in read) values[name] = read.value;
    else violations.push(...read.violations.map(({ message }) => ({ field: name, message })));
  }
  return { values, violations, isNotFound };
}

function readQuery(
  parameter: Exclude<Parameters[string], HeaderField<unknown> | PathPart>,
  texts: readonly string[],
): ReadResult<unknown> {
  const [first, second] = texts;
  if (first === undefined)
    return { value: parameter.kind === 'default' ? parameter.defaultValue : undefined };
  if (parameter.kind === 'many') return readMany(parameter, texts);
  if (second !== undefined) return violation('must be sent only once');
  return parameter.kind === 'default' ? parameter.value.fromText(first) : parameter.fromText(first);
}

function readHeader(
  { fromText }: HeaderField<unknown>,
  header: string | readonly string[] | undefined,
): ReadResult<unknown> {
  return header === undefined ? { value: undefined } : fromText([header].flat().join(', '));
}

function readMany({ value, maxItems }: Many<unknown>, texts: readonly string[]): ReadResult<unknown[]> {
  if (texts.length > maxItems) return violation(`must be sent at most ${maxItems} times`);
  const values: unknown[] = [];
  for (const text of texts) {
    const read = value.fromText(text);
    if (!('value' in read)) return read;
    values.push(read.value);
  }
  return { value: values };
}
