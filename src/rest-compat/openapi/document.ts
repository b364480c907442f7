import { type OperationDefinitionNode, print } from 'graphql';
import packageFile from '../../../package.json' with { type: 'json' };
import { maxAnswerBytes } from '../../executor/limits.ts';
import { maxInt32 } from '../../model/int32.ts';
import { type Body, type BodyFields, schemaOf } from '../body.ts';
import { type JsonSchema, orNull } from '../json-schema.ts';
import type { Parameters } from '../params.ts';
import type { Success } from '../replies.ts';
import type { Route } from '../route.ts';
import { Components, type OpenApiObject } from './components.ts';
import { type Example, type Examples, variablesOf } from './example.ts';
import { linksOf, type OperationIds } from './response-links.ts';
import { allowOrigin, headers, operationHeader, headerWithExample } from './headers.ts';
import { webhooksOf } from './webhooks.ts';
import { isRepeatable, problemResponses, rateLimitHeaders, sharedResponses } from './problems.ts';

/** The OpenAPI 3.1 description of routes, which is derived from their declarations. */
export function openApiDocument(
  routes: readonly Route[],
  additions: readonly Route[],
  examples: Examples,
): OpenApiObject {
  const components = new Components();
  const ids = operationIds(routes);
  const paths: Record<string, Record<string, OpenApiObject>> = {};
  for (const route of routes) {
    const example = examples[`${route.method} ${route.path}`];
    const operation = operationOf(route, {
      ids,
      isAddition: additions.includes(route),
      example,
      components,
    });
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operation;
  }
  return {
    openapi: '3.1.0',
    info,
    servers: [
      {
        url: anyServer,
        description: 'The server that sent this description, in production.',
        'x-internal': false,
      },
    ],
    tags,
    paths,
    webhooks: webhooksOf(components),
    components: {
      securitySchemes,
      headers,
      responses: sharedResponses(components),
      schemas: components.schemas(),
    },
  };
}

/** The URL of the server in the file `openapi.json`, which is not specific to one server: relative to where the file is. */
export const anyServer = '/';

const info = {
  title: 'workgraph',
  version: packageFile.version,
  summary: 'Issues, their conversations, and the directories of teams, projects and members.',
  description:
    'The REST API of workgraph. Each endpoint runs one named operation of the GraphQL API at `/graphql`, which ' +
    '`x-graphql-document` shows. Every GET also supports HEAD, and every path answers OPTIONS with `Allow`.',
  contact: { name: 'The operator of this server' },
  license: { name: 'MIT', identifier: 'MIT' },
};

const tags = [
  {
    name: 'issues',
    description: 'Issues, their comments, links, attachments, sub-issues, activity and agent threads.',
  },
  { name: 'teams', description: 'Teams and their repositories.' },
  { name: 'projects', description: 'Projects and their links.' },
  { name: 'members', description: 'Members of the workspace.' },
  { name: 'changes', description: 'The log of changes in the workspace, as pages or as a stream.' },
  { name: 'webhooks', description: 'URLs that receive changes as they happen.' },
  { name: 'stats', description: 'Numbers of issues, now and over time.' },
  { name: 'meta', description: 'The meaning of codes.' },
  { name: 'health', description: 'Probes for load balancers.' },
];

const securitySchemes = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description: 'An access token, `wg_…`. `security` lists the scopes that it must have.',
  },
};

/** What the description of a route needs in addition to the route. */
interface RouteDetails {
  readonly ids: OperationIds;
  readonly isAddition: boolean;
  readonly example: Example | undefined;
  readonly components: Components;
}

function operationOf(route: Route, details: RouteDetails): OpenApiObject {
  const { ids, isAddition, example, components } = details;
  const { summary, scope, parameters, body, operation, document } = route;
  const [, version, segment = ''] = route.path.split('/');
  const addition = isAddition ? ' An addition to the specification.' : '';
  const needs = scope === 'public' ? 'Needs no token.' : `Needs the scope \`${scope}\`.`;
  return {
    operationId: ids.get(route),
    tags: [version === 'v1' ? segment : 'health'],
    summary,
    description: `${summary} ${needs}${addition}`,
    ...(Object.keys(parameters).length > 0 && { parameters: parametersOf(parameters, example, components) }),
    ...(body && { requestBody: requestBodyOf(body, operation, example, components) }),
    responses: {
      ...successResponses(route, details),
      ...(answersUnchanged(route) && {
        304: {
          ...unchanged,
          headers: {
            ...unchanged.headers,
            'X-GraphQL-Operation': operationHeader(route),
            ...rateLimitHeaders(route),
          },
        },
      }),
      ...problemResponses(route, components),
    },
    security: scope === 'public' ? [] : [{ token: scope === 'token' ? [] : [scope] }],
    'x-graphql-operation': operation.name.value,
    'x-graphql-document': print(document),
    // The variables of the operation for the request of the example.
    ...(example && { 'x-graphql-variables': variablesOf(route, example.request) }),
  };
}

/**
 * The `operationId` of each route: the name of its operation. If several routes share an operation, the later ones are
 * named after the last segment of their path.
 */
export function operationIds(routes: readonly Route[]): OperationIds {
  const ids = new Map<Route, string>();
  const usedIds = new Set<string>();
  for (const route of routes) {
    const name = route.operation.name.value;
    const camelCase = `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`;
    const last = route.path.split('/').findLast((segment) => !segment.startsWith('{')) ?? '';
    const operationId = usedIds.has(camelCase) ? last : camelCase;
    if (usedIds.has(operationId)) throw new Error(`Two routes would be called ${operationId}.`);
    usedIds.add(operationId);
    ids.set(route, operationId);
  }
  return ids;
}

function parametersOf(
  parameters: Parameters,
  example: Example | undefined,
  components: Components,
): OpenApiObject[] {
  return Object.entries(parameters).map(([name, { kind, description, schema }]) => ({
    name,
    in: kind === 'path' || kind === 'header' ? kind : 'query',
    required: kind === 'path',
    description,
    schema: components.print(schema),
    ...(kind === 'many' && { style: 'form', explode: true }),
    ...exampleOfParameter(schema, example?.request.parameters[name]),
  }));
}

/** Parameters have an example if the request of the example sends them. */
function exampleOfParameter(
  { type }: JsonSchema,
  sent: string | readonly string[] | undefined,
): OpenApiObject {
  if (sent === undefined) return {};
  return { example: type === 'integer' || type === 'boolean' ? JSON.parse(String(sent)) : sent };
}

function requestBodyOf(
  { fields, refusesEmpty }: Body<BodyFields>,
  operation: OperationDefinitionNode,
  example: Example | undefined,
  components: Components,
): OpenApiObject {
  const entries = Object.entries(fields).map(([name, field]) => {
    const schema = sentSchemaOf(field);
    // Not every tool supports a description next to a reference.
    return [name, schema.title ? schema : { ...schema, description: field.description }] as const;
  });
  const required = Object.entries(fields).flatMap(([name, { kind }]) => (kind === 'required' ? [name] : []));
  const schema: JsonSchema = {
    title: `${operation.name?.value ?? ''}Body`,
    type: 'object',
    properties: Object.fromEntries(entries),
    ...(required.length > 0 && { required }),
    ...(refusesEmpty && { minProperties: 1, not: { anyOf: refusedChanges(fields) } }),
  };
  const content = { schema: components.print(schema), ...(example && { example: example.request.body }) };
  return { required: true, content: { 'application/json': content } };
}

/** Optional fields may be null too, which means the same as not sending them. */
function sentSchemaOf(field: BodyFields[string]): JsonSchema {
  const schema = schemaOf(field);
  return field.kind === 'required' ? schema : orNull(schema);
}

/**
 * Excludes the bodies that are refused as a whole: those without a change, and those that set and clear the same field.
 */
function refusedChanges(fields: BodyFields): JsonSchema[] {
  const unset = Object.entries(fields).map(([name, { kind }]): [string, JsonSchema] => [
    name,
    kind === 'clears' ? { enum: [false, null] } : { type: 'null' },
  ]);
  const contradictions = Object.entries(fields).flatMap(([name, field]): JsonSchema[] =>
    field.kind === 'clears'
      ? [
          {
            type: 'object',
            properties: { [name]: { const: true }, [field.target]: { not: { type: 'null' } } },
            required: [name, field.target],
          },
        ]
      : [],
  );
  return [{ type: 'object', properties: Object.fromEntries(unset) }, ...contradictions];
}

/** The response 304 to a client that has the current response already. */
const unchanged = {
  description: 'The answer has the tag in `If-None-Match`. There is no body.',
  headers: {
    'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
    ETag: { $ref: '#/components/headers/ETag' },
    Vary: { $ref: '#/components/headers/Vary' },
    ...allowOrigin,
  },
};

function answersUnchanged({ parameters }: Route): boolean {
  return Object.hasOwn(parameters, 'If-None-Match');
}

function hasTag(route: Route, { schema, hasRevision = false }: Success): boolean {
  return hasRevision || (route.method === 'GET' && schema !== undefined);
}

function successResponses(
  route: Route,
  { ids, example, components }: RouteDetails,
): Record<string, OpenApiObject> {
  return Object.fromEntries(
    route.successes.map((success) => {
      const { status, description, schema, isPaged, isBounded, hasLocation, hasCsv, hasStream } = success;
      const answer = example?.answers.find((candidate) => candidate.status === status);
      const response = {
        description,
        headers: {
          'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
          'X-GraphQL-Operation': operationHeader(route),
          ...allowOrigin,
          Vary: { $ref: '#/components/headers/Vary' },
          ...rateLimitHeaders(route),
          ...(isRepeatable(route) && {
            'Idempotency-Replayed': { $ref: '#/components/headers/Idempotency-Replayed' },
          }),
          ...(hasTag(route, success) && { ETag: { $ref: '#/components/headers/ETag' } }),
          ...(isPaged && { Link: headerWithExample('Link', answer) }),
          ...(isBounded && { 'X-Total-Count-Exact': { $ref: '#/components/headers/X-Total-Count-Exact' } }),
          ...(hasLocation && { Location: headerWithExample('Location', answer) }),
        },
        ...(schema && {
          content: {
            'application/json': { schema: components.print(schema), ...(answer && { example: answer.body }) },
            ...(hasCsv && { 'text/csv': { schema: { type: 'string', maxLength: maxAnswerBytes } } }),
            ...(hasStream && { 'text/event-stream': { schema: { type: 'string', maxLength: maxInt32 } } }),
          },
        }),
        ...linksOf(route, success, ids),
      };
      return [`${status}`, response];
    }),
  );
}
