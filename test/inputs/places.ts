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
import { entitiesByPrefix } from '../../src/schema/entity.ts';
import '../../src/schema/index.ts';
import type { Naming } from '../../src/schema/naming.ts';
import { type FieldOf, objectFields } from '../graph/schema-walk.ts';
import { namingOf, type Sample, sampleOf, sampleValue } from '../security/positions.ts';
import { requiredArguments, wayByNode } from '../security/ways.ts';
import { selection } from './graph-cases.ts';
import type { Pool, PoolName } from './pool.ts';
import type { RestCase } from './rest-cases.ts';

/** A place on the graph that takes a text: an argument, or a field of an input. */
export interface GraphPlace {
  /** As a person would write it: `Team.issues(filter.title.eq)`. */
  readonly at: string;
  readonly of: FieldOf;
  /** It names nothing and is kept as it is, when it is taken. */
  readonly isFree: boolean;
  /** The value of the argument with this text at the place. */
  readonly given: (text: string) => unknown;
  /** An operation that has the field once for each text, under the aliases `it0`, `it1`, … */
  readonly document: (texts: readonly string[]) => { query: string; variables: Record<string, unknown> };
}

/** A place in a request of the REST face that takes a text. */
export interface RestPlace {
  readonly at: string;
  readonly route: Route;
  readonly isFree: boolean;
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

/** Every place on the graph that takes a text; those of a filter that many lists take, once. */
export function graphPlaces(sample: Sample): GraphPlace[] {
  const walked = new Set<string>();
  // The roots first, so that filters are tried on the widest list that takes them.
  const fields = objectFields
    .filter(({ field }) => field.args.length > 0)
    .toSorted((one, other) => Number(other.parent === 'Query') - Number(one.parent === 'Query'));
  return fields.flatMap((of) => {
    const way = wayTo(of.parent, sample);
    return of.field.args.flatMap((argument) =>
      placesIn(argument, sample, walked).map(({ path, isFree, given }) => ({
        at: `${of.coordinate}(${[argument.name, ...path].join('.')})`,
        of,
        isFree: isFree && of.parent === 'Mutation',
        given,
        document: (texts) => ({
          query: aliased(of.field, argument, way, texts.length, sample),
          variables: Object.fromEntries(texts.map((text, place) => [`v${place}`, given(text)])),
        }),
      })),
    );
  });
}

/** Where a field stands: at a root, or on one thing of its type. */
interface Way {
  readonly kind: 'query' | 'mutation';
  readonly before: string;
  readonly behind: string;
}

function wayTo(typeName: string, sample: Sample): Way {
  if (typeName === 'Mutation') return { kind: 'mutation', before: '{ ', behind: ' }' };
  if (typeName === 'Query') return { kind: 'query', before: '{ ', behind: ' }' };
  const prefix = [...entitiesByPrefix].find(([, entity]) => entity.name === typeName)?.[0];
  if (!prefix) throw new Error(`No id leads to ${typeName}.`);
  return { kind: 'query', ...wayByNode(typeName, sample({ by: 'id', of: prefix })) };
}

function aliased(
  field: GraphQLField<unknown, unknown>,
  argument: GraphQLArgument,
  { kind, before, behind }: Way,
  times: number,
  sample: Sample,
): string {
  const places = Array.from({ length: times }, (_, place) => `v${place}`);
  const declared = places.map((variable) => `$${variable}: ${String(argument.type)}`).join(' ');
  const asked = places.map(
    (variable, place) =>
      `it${place}: ${field.name}${requiredArguments(field, sample, { argument, variable })} ${kind === 'mutation' ? selection(field, 2) : shown(field)}`,
  );
  return `${kind} (${declared}) ${before}${asked.join(' ')}${behind}`;
}

/** Enough to have what is asked for looked up. */
function shown(field: GraphQLField<unknown, unknown>): string {
  const isConnection = getNamedType(field.type).name.endsWith('Connection');
  return isConnection ? '{ __typename totalCount nodes { __typename id } }' : selection(field, 1);
}

interface InnerPlace {
  readonly path: readonly string[];
  readonly isFree: boolean;
  readonly given: (text: string) => unknown;
}

function placesIn(
  holder: GraphQLArgument | GraphQLInputField,
  sample: Sample,
  walked: Set<string>,
): InnerPlace[] {
  const named = getNamedType(holder.type);
  const inList = isListType(getNullableType(holder.type));
  const wrap = (value: unknown) => (inList ? [value] : value);
  if (!isInputObjectType(named)) {
    const isFree = !namingOf(holder) && (named.name === 'String' || named.name === 'URL');
    return takesText(named) ? [{ path: [], isFree, given: wrap }] : [];
  }
  const isComparison = /^(String|ID|DateTime|Date)Filter$/.test(named.name);
  if (walked.has(named.name) && !isComparison) return [];
  walked.add(named.name);
  const fields = Object.values(named.getFields());
  return fields.flatMap((field) => {
    const others = fields.filter((other) => other !== field && isRequiredInputField(other));
    const needed = Object.fromEntries(others.map((other) => [other.name, sampleOf(other, sample)]));
    return placesIn(field, sample, walked).map(({ path, isFree, given }) => ({
      path: [field.name, ...path],
      isFree,
      given: (text) => wrap({ ...needed, [field.name]: given(text) }),
    }));
  });
}

function takesText(type: GraphQLInputType): boolean {
  return isScalarType(type) && ['String', 'ID', 'URL', 'Date', 'DateTime'].includes(type.name);
}

/** Every parameter of a route, and every text in its body. */
export function restPlaces(route: Route, sample: Sample): RestPlace[] {
  const name = `${route.method} ${route.path}`;
  const fields = Object.entries(route.body?.fields ?? {}).flatMap(([field, value]) =>
    value.word === 'clears' ? [] : [[field, value.word === 'required' ? value.of : value] as const],
  );
  const isRequired = (field: string) => route.body?.fields[field]?.word === 'required';
  const json = Object.fromEntries(
    fields
      .filter(([field]) => isRequired(field))
      .map(([field, { schema, names }]) => [field, goodJson(field, schema, names, sample)]),
  );
  const path = Object.fromEntries(
    Object.entries(route.parameters).flatMap(([parameter, { word, ...rest }]) =>
      word === 'path' && 'names' in rest ? [[parameter, rest.names ? sample(rest.names) : 'x']] : [],
    ),
  );
  const plain: RestCase = { path, query: [], headers: {}, ...(route.body && { body: { json } }) };
  const parameters = Object.entries(route.parameters).flatMap(([parameter, { word }]): RestPlace[] => {
    const at = `${name} ${word === 'path' ? '' : '?'}${parameter}`;
    const place = { at, route, isFree: false };
    if (word === 'header') return [];
    if (word === 'path')
      return [{ ...place, given: (text) => ({ ...plain, path: { ...path, [parameter]: text } }) }];
    return [{ ...place, given: (text) => ({ ...plain, query: [[parameter, text]] }) }];
  });
  const inBody = fields.flatMap(([field, { schema, names }]) =>
    textsIn(schema, sample).map((put) => ({
      at: `${name} .${field}`,
      route,
      isFree: !names && !schema.format?.startsWith('date'),
      given: (text: string) => ({ ...plain, body: { json: { ...json, [field]: put(text) } } }),
    })),
  );
  return [...parameters, ...inBody];
}

/** How a text is put into a value: once for each text that there is in it. */
function textsIn(
  { type, enum: known, items, properties }: JsonSchema,
  sample: Sample,
): ((text: string) => unknown)[] {
  if (known) return [];
  if (items)
    return textsIn(items, sample).map((put) => (text: string): unknown => [put(text)]);
  if (properties) {
    const entries = Object.entries(properties);
    const good = Object.fromEntries(
      entries.map(([key, schema]) => [key, goodJson(key, schema, undefined, sample)]),
    );
    return entries.flatMap(([key, each]) =>
      textsIn(each, sample).map((put) => (text: string): unknown => ({ ...good, [key]: put(text) })),
    );
  }
  return type === 'string' ? [(text) => text] : [];
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
  return sampleValue(name, format === 'uri' ? 'URL' : type === 'integer' ? 'Int' : 'String');
}
