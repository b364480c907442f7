import {
  type GraphQLArgument,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLInputType,
  getNamedType,
  getNullableType,
  isInputObjectType,
  isListType,
  isRequiredInputField,
  isScalarType,
} from 'graphql';
import type { IdPrefix } from '../../src/resolvers/ids.ts';
import type { JsonSchema } from '../../src/rest-compat/json-schema.ts';
import type { Route } from '../../src/rest-compat/route.ts';
import { entitiesByPrefix } from '../../src/schema/builder/entity.ts';
import '../../src/schema/index.ts';
import type { Naming } from '../../src/schema/builder/naming.ts';
import { type FieldOf, objectFields } from '../graph/schema-walk.ts';
import { namingOf, type Sample, sampleOf, sampleValue } from '../security/positions.ts';
import { requiredArguments, pathByNode } from '../security/selection-paths.ts';
import { selection } from './graph-cases.ts';
import type { Pool, PoolName } from './pool.ts';
import type { RestCase } from './rest-cases.ts';

/** A place on the graph that takes a text: an argument, or a field of an input. */
export interface GraphTextInput {
  /** As a person would write it: `Team.issues(filter.title.eq)`. */
  readonly at: string;
  readonly of: FieldOf;
  /** It names nothing and is kept as it is, when it is taken. */
  readonly isFree: boolean;
  /** A text that is taken there. */
  readonly good: string;
  /** The value of the argument with this text at the place. */
  readonly given: (text: string) => unknown;
  /** An operation that has the field once for each text, under the aliases `it0`, `it1`, … */
  readonly document: (texts: readonly string[]) => { query: string; variables: Record<string, unknown> };
}

/** A place in a request of the REST face that takes a text. */
export interface RestTextInput {
  readonly at: string;
  readonly route: Route;
  readonly isFree: boolean;
  readonly good: string;
  readonly given: (text: string) => RestCase;
}

/** Things of the pool, by what a place says that it names. */
export function sampleFrom(pool: Pool): Sample {
  return ({ by, of = 'issue' }) =>
    by === 'cursor' ? '' : (pool[(by === 'key' ? keysOf[of] : undefined) ?? of][0] ?? '');
}

const keysOf: Partial<Record<IdPrefix, PoolName>> = {
  issue: 'issueKey',
  team: 'teamCode',
  project: 'projectKey',
};

/** Every place on the graph that takes a text; those of a filter that many lists take, once, or once for each root. */
export function graphTextInputs(sample: Sample, filters: 'once' | 'each root' = 'once'): GraphTextInput[] {
  const all = new Set<string>();
  // The roots first, so that filters are tried on the widest list that takes them.
  const fields = objectFields
    // Those of subscriptions are tried in test/live/subscriptions.test.ts; their filters are those of lists.
    .filter(({ parent, field }) => field.args.length > 0 && parent !== 'Subscription')
    .toSorted((one, other) => Number(other.parent === 'Query') - Number(one.parent === 'Query'));
  return fields.flatMap((of) => {
    const holder = pathTo(of.parent, sample);
    const isRoot = of.parent === 'Query' && filters === 'each root';
    return of.field.args.flatMap((argument) => {
      const walked = isRoot ? new Set<string>() : all;
      const inner = textInputsIn(argument, namingOf(argument), sample, walked);
      for (const name of walked) all.add(name);
      return inner.map(({ path, isFree, good, given }) => ({
        at: `${of.coordinate}(${[argument.name, ...path].join('.')})`,
        of,
        isFree: isFree && of.parent === 'Mutation',
        good,
        given,
        document: (texts: readonly string[]) => ({
          query: aliased(of.field, argument, holder, texts.length, sample),
          variables: Object.fromEntries(texts.map((text, place) => [`v${place}`, given(text)])),
        }),
      }));
    });
  });
}

/** Where a field stands: at a root, or on one thing of its type. */
interface SelectionPath {
  readonly kind: 'query' | 'mutation';
  readonly prefix: string;
  readonly suffix: string;
}

function pathTo(typeName: string, sample: Sample): SelectionPath {
  if (typeName === 'Mutation') return { kind: 'mutation', prefix: '{ ', suffix: ' }' };
  if (typeName === 'Query') return { kind: 'query', prefix: '{ ', suffix: ' }' };
  const prefix = [...entitiesByPrefix].find(([, entity]) => entity.name === typeName)?.[0];
  if (!prefix) throw new Error(`No id leads to ${typeName}.`);
  return { kind: 'query', ...pathByNode(typeName, sample({ by: 'id', of: prefix })) };
}

function aliased(
  field: GraphQLField<unknown, unknown>,
  argument: GraphQLArgument,
  { kind, prefix, suffix }: SelectionPath,
  times: number,
  sample: Sample,
): string {
  const places = Array.from({ length: times }, (_, place) => `v${place}`);
  const declared = places.map((variable) => `$${variable}: ${String(argument.type)}`).join(' ');
  const asked = places.map(
    (variable, place) =>
      `it${place}: ${field.name}${requiredArguments(field, sample, { argument, variable })} ${kind === 'mutation' ? selection(field, 2) : shown(field)}`,
  );
  return `${kind} (${declared}) ${prefix}${asked.join(' ')}${suffix}`;
}

/** Enough to have what is asked for looked up. */
function shown(field: GraphQLField<unknown, unknown>): string {
  const isConnection = getNamedType(field.type).name.endsWith('Connection');
  return isConnection ? '{ __typename totalCount nodes { __typename id } }' : selection(field, 1);
}

interface NestedTextInput {
  readonly path: readonly string[];
  readonly isFree: boolean;
  readonly good: string;
  readonly given: (text: string) => unknown;
}

/** What a filter names is said where it stands, and its comparisons name the same. */
function textInputsIn(
  holder: GraphQLArgument | GraphQLInputField,
  naming: Naming | undefined,
  sample: Sample,
  walked: Set<string>,
): NestedTextInput[] {
  const named = getNamedType(holder.type);
  const inList = isListType(getNullableType(holder.type));
  const wrap = (value: unknown) => (inList ? [value] : value);
  if (!isInputObjectType(named)) {
    const isFree = !namingOf(holder) && (named.name === 'String' || named.name === 'URL');
    if (!takesText(named)) return [];
    const good = String(naming ? sample(naming) : sampleValue(holder.name, named.name));
    return [{ path: [], isFree, good, given: wrap }];
  }
  const isComparison = /^(String|ID|DateTime|Date)Filter$/.test(named.name);
  if (walked.has(named.name) && !isComparison) return [];
  walked.add(named.name);
  const fields = Object.values(named.getFields());
  return fields.flatMap((field) => {
    const others = fields.filter((other) => other !== field && isRequiredInputField(other));
    // What changes a thing wants to hear of a change.
    const change =
      named.name.endsWith('UpdateInput') && isRequiredInputField(field) && fields.find(isFreeText);
    if (change && others.every((other) => !isFreeText(other))) others.push(change);
    const needed = Object.fromEntries(others.map((other) => [other.name, sampleOf(other, sample)]));
    return textInputsIn(field, namingOf(field) ?? naming, sample, walked).map(
      ({ path, isFree, good, given }) => ({
        path: [field.name, ...path],
        isFree,
        good,
        given: (text) => wrap({ ...needed, [field.name]: given(text) }),
      }),
    );
  });
}

function isFreeText(field: GraphQLInputField): boolean {
  return getNamedType(field.type).name === 'String' && !namingOf(field);
}

function takesText(type: GraphQLInputType): boolean {
  return isScalarType(type) && ['String', 'ID', 'URL', 'Date', 'DateTime'].includes(type.name);
}

/** Every parameter of a route, and every text in its body. */
export function restTextInputs(route: Route, sample: Sample): RestTextInput[] {
  const name = `${route.method} ${route.path}`;
  const fields = Object.entries(route.body?.fields ?? {}).flatMap(([field, value]) =>
    value.word === 'clears' ? [] : [[field, value.word === 'required' ? value.of : value] as const],
  );
  const jsonOf = (some: typeof fields) =>
    Object.fromEntries(
      some.map(([field, { schema, names }]) => [field, goodJson(field, schema, names, sample)]),
    );
  const json = jsonOf(fields.filter(([field]) => route.body?.fields[field]?.word === 'required'));
  // What changes a thing wants to hear of a change.
  const change = jsonOf(route.body?.writesSomething ? fields.slice(0, 1) : []);
  const path = Object.fromEntries(
    Object.entries(route.parameters).flatMap(([parameter, { word, ...rest }]) =>
      word === 'path' && 'names' in rest ? [[parameter, rest.names ? sample(rest.names) : 'x']] : [],
    ),
  );
  const plain: RestCase = {
    path,
    query: [],
    headers: {},
    ...(route.body && { body: { json: { ...change, ...json } } }),
  };
  const parameters = Object.entries(route.parameters).flatMap(([parameter, described]): RestTextInput[] => {
    const { word } = described;
    if (word === 'header') return [];
    const at = `${name} ${word === 'path' ? '' : '?'}${parameter}`;
    const { schema, names } = { names: undefined, ...('of' in described ? described.of : described) };
    const good = String([goodJson(parameter, schema, names, sample)].flat()[0]);
    const place = { at, route, isFree: false, good };
    if (word === 'path')
      return [{ ...place, given: (text) => ({ ...plain, path: { ...path, [parameter]: text } }) }];
    return [{ ...place, given: (text) => ({ ...plain, query: [[parameter, text]] }) }];
  });
  const inBody = fields.flatMap(([field, { schema, names }]) =>
    textsIn(field, schema, sample).map(({ path, good, put }) => ({
      at: `${name} .${[field, ...path].join('.')}`,
      route,
      isFree: !names && !schema.format?.startsWith('date'),
      good: names ? sample(names) : good,
      given: (text: string) => ({ ...plain, body: { json: { ...json, [field]: put(text) } } }),
    })),
  );
  return [...parameters, ...inBody];
}

/** A text in a value: where it is, one that is taken there, and how another is put in its place. */
interface JsonText {
  readonly path: readonly string[];
  readonly good: string;
  readonly put: (text: string) => unknown;
}

function textsIn(name: string, schema: JsonSchema, sample: Sample): JsonText[] {
  const { type, enum: known, items, properties } = schema;
  if (known) return [];
  if (items)
    return textsIn(name, items, sample).map((each) => ({ ...each, put: (text) => [each.put(text)] }));
  if (properties) {
    const entries = Object.entries(properties);
    const all = Object.fromEntries(
      entries.map(([key, each]) => [key, goodJson(key, each, undefined, sample)]),
    );
    return entries.flatMap(([key, each]) =>
      textsIn(key, each, sample).map(({ path, good, put }) => ({
        path: [key, ...path],
        good,
        put: (text) => ({ ...all, [key]: put(text) }),
      })),
    );
  }
  const good = String(goodJson(name, schema, undefined, sample));
  return type === 'string' ? [{ path: [], good, put: (text) => text }] : [];
}

function goodJson(
  name: string,
  { type, format, enum: known, items, properties }: JsonSchema,
  names: Naming | undefined,
  sample: Sample,
): unknown {
  if (names) return items ? [sample(names)] : sample(names);
  if (known) return known[0];
  if (items) return [goodJson(name, items, names, sample)];
  if (properties)
    return Object.fromEntries(
      Object.entries(properties).map(([key, each]) => [key, goodJson(key, each, undefined, sample)]),
    );
  if (name === 'userAccountId') return sample({ by: 'id', of: 'user' });
  return sampleValue(name, typeNames[format ?? ''] ?? typeNames[String(type)] ?? 'String');
}

/** The scalars of the graph, by what JSON Schema calls the same. */
const typeNames: Readonly<Record<string, string>> = {
  uri: 'URL',
  date: 'Date',
  'date-time': 'DateTime',
  integer: 'Int',
  boolean: 'Boolean',
};
