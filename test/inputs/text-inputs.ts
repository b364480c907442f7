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

/** An argument or input field of the graph that takes a text. */
export interface GraphTextInput {
  /** A readable name: `Team.issues(filter.title.eq)`. */
  readonly at: string;
  readonly of: FieldOf;
  /** Whether the text names no object and is stored unchanged. */
  readonly isFree: boolean;
  /** A text that is accepted. */
  readonly good: string;
  /** Builds the argument's value with the text at this position. */
  readonly buildValue: (text: string) => unknown;
  /** Builds an operation that selects the field once for each text, with the aliases `it0`, `it1`, … */
  readonly document: (texts: readonly string[]) => { query: string; variables: Record<string, unknown> };
}

/** A parameter or body field of a REST route that takes a text. */
export interface RestTextInput {
  readonly at: string;
  readonly route: Route;
  readonly isFree: boolean;
  readonly good: string;
  readonly buildRequest: (text: string) => RestCase;
}

/** Takes samples of named objects from the pool. */
export function sampleFrom(pool: Pool): Sample {
  return ({ by, of = 'issue' }) =>
    by === 'cursor' ? '' : (pool[(by === 'key' ? keysOf[of] : undefined) ?? of][0] ?? '');
}

const keysOf: Partial<Record<IdPrefix, PoolName>> = {
  issue: 'issueKey',
  team: 'teamCode',
  project: 'projectKey',
};

/** Finds all text inputs of the graph. A filter that many lists have is included once, or once for each root. */
export function graphTextInputs(sample: Sample, filters: 'once' | 'each root' = 'once'): GraphTextInput[] {
  const all = new Set<string>();
  // Roots come first, so that a filter is tried on the list with the most rows.
  const fields = objectFields
    // test/live/subscriptions.test.ts tries those of subscriptions, whose filters are those of lists.
    .filter(({ parent, field }) => field.args.length > 0 && parent !== 'Subscription')
    .toSorted((one, other) => Number(other.parent === 'Query') - Number(one.parent === 'Query'));
  return fields.flatMap((of) => {
    const holder = pathTo(of.parent, sample);
    const isRoot = of.parent === 'Query' && filters === 'each root';
    return of.field.args.flatMap((argument) => {
      const walked = isRoot ? new Set<string>() : all;
      const inner = textInputsIn(argument, namingOf(argument), sample, walked);
      for (const name of walked) all.add(name);
      return inner.map(({ path, isFree, good, buildValue }) => ({
        at: `${of.coordinate}(${[argument.name, ...path].join('.')})`,
        of,
        isFree: isFree && of.parent === 'Mutation',
        good,
        buildValue,
        document: (texts: readonly string[]) => ({
          query: aliased(of.field, argument, holder, texts.length, sample),
          variables: Object.fromEntries(texts.map((text, index) => [`v${index}`, buildValue(text)])),
        }),
      }));
    });
  });
}

/** The path to a field: of a root, or of one object of its type. */
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
  const variables = Array.from({ length: times }, (_, index) => `v${index}`);
  const declared = variables.map((variable) => `$${variable}: ${String(argument.type)}`).join(' ');
  const fields = variables.map(
    (variable, index) =>
      `it${index}: ${field.name}${requiredArguments(field, sample, { argument, variable })} ${kind === 'mutation' ? selection(field, 2) : shown(field)}`,
  );
  return `${kind} (${declared}) ${prefix}${fields.join(' ')}${suffix}`;
}

/** The smallest selection that makes the field look its objects up. */
function shown(field: GraphQLField<unknown, unknown>): string {
  const isConnection = getNamedType(field.type).name.endsWith('Connection');
  return isConnection ? '{ __typename totalCount nodes { __typename id } }' : selection(field, 1);
}

interface NestedTextInput {
  readonly path: readonly string[];
  readonly isFree: boolean;
  readonly good: string;
  readonly buildValue: (text: string) => unknown;
}

/** Finds the text inputs in an argument or field. A filter declares what it names, and this applies to its comparators. */
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
    return [{ path: [], isFree, good, buildValue: wrap }];
  }
  const isComparison = /^(String|ID|DateTime|Date)Filter$/.test(named.name);
  if (walked.has(named.name) && !isComparison) return [];
  walked.add(named.name);
  const fields = Object.values(named.getFields());
  return fields.flatMap((field) => {
    const others = fields.filter((other) => other !== field && isRequiredInputField(other));
    // An update must change something.
    const change =
      named.name.endsWith('UpdateInput') && isRequiredInputField(field) && fields.find(isFreeText);
    if (change && others.every((other) => !isFreeText(other))) others.push(change);
    const needed = Object.fromEntries(others.map((other) => [other.name, sampleOf(other, sample)]));
    return textInputsIn(field, namingOf(field) ?? naming, sample, walked).map(
      ({ path, isFree, good, buildValue }) => ({
        path: [field.name, ...path],
        isFree,
        good,
        buildValue: (text) => wrap({ ...needed, [field.name]: buildValue(text) }),
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

/** Finds every parameter of a route and every text in its body. */
export function restTextInputs(route: Route, sample: Sample): RestTextInput[] {
  const name = `${route.method} ${route.path}`;
  const fields = Object.entries(route.body?.fields ?? {}).flatMap(([field, declared]) =>
    declared.kind === 'clears'
      ? []
      : [[field, declared.kind === 'required' ? declared.value : declared] as const],
  );
  const jsonOf = (some: typeof fields) =>
    Object.fromEntries(
      some.map(([field, { schema, names }]) => [field, goodJson(field, schema, names, sample)]),
    );
  const json = jsonOf(fields.filter(([field]) => route.body?.fields[field]?.kind === 'required'));
  // An update must change something.
  const change = jsonOf(route.body?.refusesEmpty ? fields.slice(0, 1) : []);
  const path = Object.fromEntries(
    Object.entries(route.parameters).flatMap(([parameter, { kind, ...rest }]) =>
      kind === 'path' && 'names' in rest ? [[parameter, rest.names ? sample(rest.names) : 'x']] : [],
    ),
  );
  const plain: RestCase = {
    path,
    query: [],
    headers: {},
    ...(route.body && { body: { json: { ...change, ...json } } }),
  };
  const parameters = Object.entries(route.parameters).flatMap(([parameter, described]): RestTextInput[] => {
    const { kind } = described;
    if (kind === 'header') return [];
    const at = `${name} ${kind === 'path' ? '' : '?'}${parameter}`;
    const { schema, names } = { names: undefined, ...('value' in described ? described.value : described) };
    const good = String([goodJson(parameter, schema, names, sample)].flat()[0]);
    const input = { at, route, isFree: false, good };
    if (kind === 'path')
      return [{ ...input, buildRequest: (text) => ({ ...plain, path: { ...path, [parameter]: text } }) }];
    return [{ ...input, buildRequest: (text) => ({ ...plain, query: [[parameter, text]] }) }];
  });
  const inBody = fields.flatMap(([field, { schema, names }]) =>
    textsIn(field, schema, sample).map(({ path, good, put }) => ({
      at: `${name} .${[field, ...path].join('.')}`,
      route,
      isFree: !names && !schema.format?.startsWith('date'),
      good: names ? sample(names) : good,
      buildRequest: (text: string) => ({ ...plain, body: { json: { ...json, [field]: put(text) } } }),
    })),
  );
  return [...parameters, ...inBody];
}

/** A text in a JSON value: its path, a valid text, and a function that builds the value with another text. */
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

/** The scalars of the graph by the equivalent format or type of JSON Schema. */
const typeNames: Readonly<Record<string, string>> = {
  uri: 'URL',
  date: 'Date',
  'date-time': 'DateTime',
  integer: 'Int',
  boolean: 'Boolean',
};
