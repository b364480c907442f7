import {
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
} from 'graphql';
import type { JsonSchema } from '../../src/rest-compat/json-schema.ts';
import type { Route } from '../../src/rest-compat/route.ts';
import { table } from '../../src/rest-compat/table.ts';
import { graphOperations } from '../inputs/graph-cases.ts';
import type { Pool, PoolName } from '../inputs/pool.ts';

/** A request as sqlmap reads it from a file: what stands before a star is what it tries to break out of. */
export interface MarkedRequest {
  readonly name: string;
  readonly head: string;
  readonly body: string;
  /** How many stars there are. */
  readonly places: number;
}

/** Every route and every field of the roots, each parameter, argument and field of a body marked. */
export function markedRequests(pool: Pool): MarkedRequest[] {
  return [
    ...table.map((route) => restRequest(route, pool)),
    ...graphOperations.map((operation) => {
      const entries = operation.field.args.map(
        ({ name, type }) => [name, markedInput(type, name, pool, 0)] as const,
      );
      const body = { query: operation.document.replaceAll('*', ''), variables: Object.fromEntries(entries) };
      return request(operation.name, 'POST', '/graphql', JSON.stringify(body));
    }),
  ].filter(({ places }) => places > 0);
}

/** The same with the stars of one of several parts of its places. */
export function onlyPart({ name, head, body }: MarkedRequest, part: number, parts: number): MarkedRequest {
  let place = 0;
  const keep = (text: string) => text.replaceAll('*', () => (place++ % parts === part - 1 ? '*' : ''));
  return counted(name, keep(head), keep(body));
}

function restRequest(route: Route, pool: Pool): MarkedRequest {
  const { method, parameters, body } = route;
  const named = Object.entries(parameters).filter(([, { word }]) => word !== 'header');
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => `${goodText(name, {}, pool)}*`);
  const query = named
    .filter(([, { word }]) => word !== 'path')
    .map(
      ([name, { schema }]) => `${name}=${encodeURIComponent(goodText(name, schema.items ?? schema, pool))}*`,
    );
  const fields = Object.entries(body?.fields ?? {}).flatMap(([name, field]) => {
    if (field.word === 'clears') return [];
    return [
      [name, markedJson(name, field.word === 'required' ? field.of.schema : field.schema, pool)] as const,
    ];
  });
  const target = query.length > 0 ? `${path}?${query.join('&')}` : path;
  return request(
    `${method} ${route.path}`,
    method,
    target,
    body ? JSON.stringify(Object.fromEntries(fields)) : '',
  );
}

function request(name: string, method: string, target: string, body: string): MarkedRequest {
  return counted(name, `${method} ${target} HTTP/1.1`, body);
}

function counted(name: string, head: string, body: string): MarkedRequest {
  return { name, head, body, places: (head + body).split('*').length - 1 };
}

function goodText(
  name: string,
  { enum: known, type, format, pattern, minimum = 1 }: JsonSchema,
  pool: Pool,
): string {
  if (known) return String(known[0]);
  if (type === 'integer') return String(Math.max(minimum, 1));
  if (type === 'boolean') return 'true';
  if (format === 'date') return '2026-01-31';
  if (format === 'date-time') return '2026-01-31T12:00:00Z';
  if (format === 'uri') return 'https://example.com/';
  if (name === 'cursor') return '';
  const prefix = /^\^([a-z]+)_/.exec(pattern ?? '')?.[1] ?? byName[name];
  return pool[prefix as PoolName]?.[0] ?? 'conflict';
}

const byName: Readonly<Record<string, PoolName>> = {
  issueKey: 'issueKey',
  key: 'issueKey',
  keys: 'issueKey',
  teamCode: 'teamCode',
  team_code: 'teamCode',
  code: 'teamCode',
  projectKey: 'projectKey',
  project_key: 'projectKey',
  commentId: 'comment',
  attachmentId: 'attachment',
  memberId: 'member',
  linkId: 'spareLink',
};

function markedJson(name: string, schema: JsonSchema, pool: Pool): unknown {
  if (schema.items) return [markedJson(name, schema.items, pool)];
  if (schema.properties)
    return Object.fromEntries(
      Object.entries(schema.properties).map(([key, each]) => [key, markedJson(key, each, pool)]),
    );
  return `${goodText(name, schema, pool)}*`;
}

/** Filters below filters are by the same code. */
const deepest = 3;

function markedInput(type: GraphQLInputType, name: string, pool: Pool, depth: number): unknown {
  if (isNonNullType(type)) return markedInput(type.ofType, name, pool, depth);
  if (isListType(type)) return [markedInput(type.ofType, name, pool, depth)];
  if (isEnumType(type)) return type.getValues()[0]?.name;
  if (!isInputObjectType(type)) return markedScalar(String(type), name, pool);
  const fields = Object.values(type.getFields()).filter(
    (field) => isNonNullType(field.type) || (depth < deepest && getNamedType(field.type) !== type),
  );
  return Object.fromEntries(
    fields.map((field) => [field.name, markedInput(field.type, field.name, pool, depth + 1)]),
  );
}

function markedScalar(type: string, name: string, pool: Pool): unknown {
  // JSON has no star in a number: those are judged by their type before anything else.
  if (type === 'Int') return 1;
  if (type === 'Boolean') return false;
  if (type === 'Date') return '2026-01-31*';
  if (type === 'DateTime') return '2026-01-31T12:00:00Z*';
  if (type === 'URL') return 'https://example.com/*';
  const prefix = byName[name] ?? /([a-z]+)Ids?$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  return `${pool[prefix as PoolName]?.[0] ?? 'a'}*`;
}
