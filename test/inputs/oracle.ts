import {
  type GraphQLOutputType,
  isEnumType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql';
import { maxHeadBytes, maxHeaderBytes } from '../../src/executor/limits.ts';
import { errorCodes } from '../../src/resolvers/errors.ts';
import { toRichText } from '../../src/resolvers/rich-text.ts';
import { maxNegotiatedCharacters } from '../../src/server/http/http-rules.ts';
import { objectTypes } from '../graph/schema-walk.ts';
import { type RawAnswer, responseDifferences } from '../support/openapi.ts';
import type { Wire } from './client.ts';
import type { GraphOperation } from './graph-cases.ts';

/** The faults of a REST answer: an internal error, or a difference from openapi.json. */
export function restFaults({ method, target, headers: sent }: Wire, answer: RawAnswer): string[] {
  const { status, text, headers } = answer;
  if (status === 431) return tooLarge(target, sent) ? [] : ['431 for a request of some bytes'];
  const faults = responseDifferences(method, target.split('?')[0] ?? '', answer);
  if (text !== '' && method !== 'HEAD' && headers.get('content-type')?.includes('json'))
    faults.push(...halvesIn(text));
  if (status >= 500) faults.push(`the answer is ${status}: ${text.slice(0, 500)}`);
  if (!headers.has('x-request-id')) faults.push('there is no X-Request-Id');
  // Only for paths that a route has.
  if (status >= 400 && method !== 'HEAD') {
    const problem = JSON.parse(text) as { code: keyof typeof errorCodes; errors: unknown };
    if (errorCodes[problem.code]?.status !== status) faults.push(`${status} has the code ${problem.code}`);
    if (status === 400 && !(Array.isArray(problem.errors) && problem.errors.length > 0))
      faults.push(`400 names no field: ${text}`);
  }
  return faults;
}

/** Finds half a surrogate pair anywhere in an answer, because strict JSON parsers would refuse the whole answer. */
function halvesIn(text: string): string[] {
  // JSON.stringify escapes only unpaired halves, and doubles the backslashes of the text itself.
  const [half] = /(?<!\\)(?:\\\\)*\\ud[89a-f]/.exec(JSON.stringify(JSON.parse(text))) ?? [];
  return half === undefined ? [] : [`half a surrogate pair in ${text.slice(0, 300)}`];
}

/** Whether the head of a request exceeds the limits, so that it is refused before routing. The client adds some headers. */
function tooLarge(target: string, headers: Wire['headers']): boolean {
  const isLong = ({ length }: string) => length > maxNegotiatedCharacters;
  if (['Accept', 'Accept-Encoding'].some((name) => isLong(headers[name] ?? ''))) return true;
  const bytes = JSON.stringify(headers).length + 1_000;
  return bytes > maxHeaderBytes || target.length + bytes > maxHeadBytes;
}

interface GraphAnswer {
  data?: Record<string, unknown> | null;
  errors?: { message?: unknown; path?: unknown[]; extensions?: { code?: unknown } }[];
}

/** The faults of a GraphQL answer: an internal error, an error without a code, or data of a wrong type. */
export function graphFaults({ field }: GraphOperation, { status, text }: RawAnswer): string[] {
  const { data } = JSON.parse(text) as GraphAnswer;
  return [...errorFaults(status, text), ...(data ? ofTypeFaults(field, data[field.name]) : [])];
}

/** The faults in the errors of an answer. */
export function errorFaults(status: number, text: string): string[] {
  const faults = halvesIn(text);
  const { data, errors } = JSON.parse(text) as GraphAnswer;
  if (status >= 500) faults.push(`the answer is ${status}`);
  for (const { extensions, message } of errors ?? []) {
    const known = Object.entries(errorCodes).find(([code]) => code.toUpperCase() === extensions?.code)?.[1];
    if (!known) faults.push(`an error has the code ${String(extensions?.code)}: ${String(message)}`);
    else if (known.status >= 500) faults.push(`an error is a fault: ${text.slice(0, 500)}`);
    if (typeof message !== 'string' || message === '') faults.push('an error says nothing');
  }
  if (errors?.length === 0) faults.push('there are errors, but none');
  if (!errors && !data) faults.push('there is nothing in the answer');
  return faults;
}

/** The paths at which the value of a field does not have its type. */
export function ofTypeFaults(
  { name, type }: { readonly name: string; readonly type: GraphQLOutputType },
  value: unknown,
): string[] {
  return checkOf(type)(value, name);
}

/** Returns the faults of a value at a path. */
type Check = (value: unknown, path: string) => string[];

/** Cached, because the type predicates of graphql-js are slow. */
const checks = new Map<GraphQLOutputType, Check>();

/** Checks values independently of the executors, which are under test. */
function checkOf(type: GraphQLOutputType): Check {
  const known = checks.get(type);
  if (known) return known;
  const check = isNonNullType(type)
    ? nonNull(checkOf(type.ofType))
    : orNull(isListType(type) ? listOf(checkOf(type.ofType)) : checkOfNamed(type));
  checks.set(type, check);
  return check;
}

const none: string[] = [];

function nonNull(inner: Check): Check {
  return (value, path) => (value === null ? [`${path} is null`] : inner(value, path));
}

function orNull(inner: Check): Check {
  return (value, path) => (value === null ? none : inner(value, path));
}

function listOf(inner: Check): Check {
  return (value, path) =>
    Array.isArray(value)
      ? value.flatMap((each, index) => inner(each, `${path}[${index}]`))
      : [`${path} is no list`];
}

function checkOfNamed(type: GraphQLOutputType): Check {
  if (isInterfaceType(type) || isObjectType(type)) return objectFaults;
  const isOne = isEnumType(type)
    ? (value: unknown) => type.getValue(String(value)) !== undefined
    : leaves[String(type)];
  return (value, path) =>
    isOne?.(value) ? none : [`${path} is ${JSON.stringify(value)}, no ${String(type)}`];
}

/** The fields of each object type by name. */
const fieldsOf = new Map(
  objectTypes.map((type) => [
    type.name,
    new Map(Object.values(type.getFields()).map((field) => [field.name, field.type])),
  ]),
);

function objectFaults(value: unknown, path: string): string[] {
  if (typeof value !== 'object' || value === null) return [`${path} is no object`];
  const entries = Object.entries(value);
  const name: unknown = entries.find(([key]) => key === '__typename')?.[1];
  const fields = fieldsOf.get(String(name));
  if (!fields) return [`${path} is a ${String(name)}`];
  return entries.flatMap(([key, each]) => {
    const type = fields.get(key);
    return type ? checkOf(type)(each, `${path}.${key}`) : none;
  });
}

const isText = (value: unknown) => typeof value === 'string' && value.isWellFormed() && !value.includes('\0');

const leaves: Readonly<Record<string, (value: unknown) => boolean>> = {
  Boolean: (value) => typeof value === 'boolean',
  Int: (value) => Number.isInteger(value) && value === Number(value) >> 0,
  String: isText,
  ID: isText,
  URL: isText,
  Date: (value) => /^\d{4}-\d\d-\d\d$/.test(String(value)),
  DateTime: (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(value)),
  RichText: (value) => typeof value === 'object',
};

/** Stored texts, by the name under which they are sent and returned. Some are stored without surrounding white space. */
const keptTexts: Readonly<Record<string, (sent: string) => string>> = {
  title: (sent) => sent.trim(),
  description: (sent) => sent,
  body: (sent) => sent,
  url: (sent) => sent.trim(),
  fileName: (sent) => sent.trim(),
  name: (sent) => sent.trim(),
};

/** The accepted texts that are returned differently. */
export function changedTexts(sent: unknown, shown: unknown): string[] {
  if (!isRecord(sent) || !isRecord(shown)) return [];
  return Object.entries(keptTexts).flatMap(([name, kept]) => {
    const text = sent[name];
    if (typeof text !== 'string' || !(name in shown)) return [];
    const expected = kept(text);
    const wants =
      typeof shown[name] === 'object' ? JSON.stringify(toRichText(expected)) : JSON.stringify(expected);
    const got = JSON.stringify(shown[name]);
    const plain = shown.bodyText;
    if (name === 'body' && plain !== undefined && plain !== expected)
      return [`bodyText is ${JSON.stringify(plain)} and not ${wants}`];
    return got === wants ? [] : [`${name} is ${got} and not ${wants}`];
  });
}

/** The object in a payload that the mutation wrote; undefined if it existed before. */
export function writtenIn(payload: unknown): unknown {
  if (!isRecord(payload) || payload.created === false) return undefined;
  // The issue comes last, because the payload of other objects also contains their issue.
  const own = ['comment', 'issueLink', 'message', 'attachment', 'accessToken', 'issue'].find(
    (name) => name in payload,
  );
  return own === undefined ? undefined : payload[own];
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
