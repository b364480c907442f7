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
import { objectTypes } from '../graph/schema-walk.ts';
import { type RawAnswer, undocumented } from '../support/openapi.ts';
import type { Wire } from './client.ts';
import type { GraphOperation } from './graph-cases.ts';

/** What is wrong with an answer of the REST face: a fault, or anything that openapi.json does not say. */
export function restFaults({ method, target, headers: sent }: Wire, answer: RawAnswer): string[] {
  const { status, text, headers } = answer;
  if (status === 431) return tooLarge(target, sent) ? [] : ['431 for a request of some bytes'];
  const faults = undocumented(method, target.split('?')[0] ?? '', answer);
  if (text !== '' && method !== 'HEAD' && headers.get('content-type')?.includes('json'))
    faults.push(...halvesIn(text));
  if (status >= 500) faults.push(`the answer is ${status}: ${text.slice(0, 500)}`);
  if (!headers.has('x-request-id')) faults.push('there is no X-Request-Id');
  // Not what a path says that no route has.
  if (status >= 400 && method !== 'HEAD') {
    const problem = JSON.parse(text) as { code: keyof typeof errorCodes; errors: unknown };
    if (errorCodes[problem.code]?.status !== status) faults.push(`${status} has the code ${problem.code}`);
    if (status === 400 && !(Array.isArray(problem.errors) && problem.errors.length > 0))
      faults.push(`400 names no field: ${text}`);
  }
  return faults;
}

/** Half a surrogate pair in what an answer says, errors included: strict readers of JSON refuse the whole of it. */
function halvesIn(text: string): string[] {
  // JSON.stringify escapes halves alone, and a backslash of the text itself comes in pairs.
  const [half] = /(?<!\\)(?:\\\\)*\\ud[89a-f]/.exec(JSON.stringify(JSON.parse(text))) ?? [];
  return half === undefined ? [] : [`half a surrogate pair in ${text.slice(0, 300)}`];
}

/** What is over the limits of a request's head is refused before it is a request of any route; some headers are the client's. */
function tooLarge(target: string, headers: Wire['headers']): boolean {
  const bytes = JSON.stringify(headers).length + 1_000;
  return bytes > maxHeaderBytes || target.length + bytes > maxHeadBytes;
}

interface GraphAnswer {
  data?: Record<string, unknown> | null;
  errors?: { message?: unknown; path?: unknown[]; extensions?: { code?: unknown } }[];
}

/** What is wrong with an answer of the graph: a fault, an error without a code, or data of another type. */
export function graphFaults({ field }: GraphOperation, { status, text }: RawAnswer): string[] {
  const { data } = JSON.parse(text) as GraphAnswer;
  return [...errorFaults(status, text), ...(data ? ofTypeFaults(field, data[field.name]) : [])];
}

/** What is wrong with what an answer says of its errors. */
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

/** Where the value of a field is not of its type. */
export function ofTypeFaults(
  { name, type }: { readonly name: string; readonly type: GraphQLOutputType },
  value: unknown,
): string[] {
  return checkOf(type)(value, name);
}

/** What is wrong with a value at a path. */
type Check = (value: unknown, path: string) => string[];

/** Made once for each type: graphql-js asks what kind of type one is at some length. */
const checks = new Map<GraphQLOutputType, Check>();

/** Where a value is not of its type, judged anew: the executors that complete values are what is tested. */
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

/** The fields of each object type by their names. */
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

/** Texts that a thing keeps, under the names that they are sent and shown by; of some the white space around them is not kept. */
const keptTexts: Readonly<Record<string, (sent: string) => string>> = {
  title: (sent) => sent.trim(),
  description: (sent) => sent,
  body: (sent) => sent,
  url: (sent) => sent.trim(),
  fileName: (sent) => sent.trim(),
  name: (sent) => sent.trim(),
};

/** The texts that were accepted and are shown as others. */
export function changedTexts(sent: unknown, shown: unknown): string[] {
  if (!isRecord(sent) || !isRecord(shown)) return [];
  return Object.entries(keptTexts).flatMap(([name, kept]) => {
    const given = sent[name];
    if (typeof given !== 'string' || !(name in shown)) return [];
    const wanted = kept(given);
    const wants =
      typeof shown[name] === 'object' ? JSON.stringify(toRichText(wanted)) : JSON.stringify(wanted);
    const got = JSON.stringify(shown[name]);
    const plain = shown.bodyText;
    if (name === 'body' && plain !== undefined && plain !== wanted)
      return [`bodyText is ${JSON.stringify(plain)} and not ${wants}`];
    return got === wants ? [] : [`${name} is ${got} and not ${wants}`];
  });
}

/** What a mutation wrote, of its payload; undefined where that was there before. */
export function writtenIn(payload: unknown): unknown {
  if (!isRecord(payload) || payload.created === false) return undefined;
  // It stands under its own name, before or beside the issue that it belongs to.
  const own = ['comment', 'issueLink', 'message', 'attachment', 'accessToken', 'issue'].find(
    (name) => name in payload,
  );
  return own === undefined ? undefined : payload[own];
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
