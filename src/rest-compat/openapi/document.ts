import { type OperationDefinitionNode, print } from 'graphql';
import type { Body, Fields } from '../body.ts';
import type { JsonSchema } from '../json-schema.ts';
import { longestTags, type Parameters } from '../params.ts';
import type { Success } from '../reply.ts';
import type { Route } from '../route.ts';
import { Components, type Printed } from './components.ts';
import { type Example, type Examples, variablesOf } from './example.ts';
import { allowOrigin, headers, operationHeader, shownHeader } from './headers.ts';
import { isRepeatable, problemResponses, rateLimitHeaders } from './problems.ts';

/** The OpenAPI 3.1 description of routes: all that it says is read from them. */
export function openApiDocument(
  routes: readonly Route[],
  additions: readonly Route[],
  examples: Examples,
): Printed {
  const components = new Components();
  const ids = operationIds(routes);
  const paths: Record<string, Record<string, Printed>> = {};
  for (const route of routes) {
    const example = examples[`${route.method} ${route.path}`];
    const operation = operationOf(
      route,
      ids.get(route) ?? '',
      additions.includes(route),
      example,
      components,
    );
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operation;
  }
  return {
    openapi: '3.1.0',
    info,
    servers: [
      { url: '/', description: 'The server that this was read from, in production.', 'x-internal': false },
    ],
    tags,
    paths,
    components: { securitySchemes, headers, schemas: components.schemas() },
  };
}

const info = {
  title: 'workgraph',
  version: '1.0.0',
  summary: 'Issues, their conversations, and the directories of teams, projects and members.',
  description:
    'The REST face of workgraph. Each endpoint runs one named operation on the graph behind `/graphql`, which ' +
    '`x-graphql-document` shows. Every GET answers HEAD, and every path answers OPTIONS with `Allow`.',
  contact: { name: 'Whoever runs this server' },
  license: { name: 'MIT', identifier: 'MIT' },
};

const tags = [
  {
    name: 'issues',
    description: 'Issues, their comments, links, attachments, sub-issues, feeds and threads.',
  },
  { name: 'teams', description: 'Teams and the repositories that they work on.' },
  { name: 'projects', description: 'Projects and their links.' },
  { name: 'members', description: 'Members of the workspace.' },
  { name: 'meta', description: 'What codes mean.' },
  { name: 'health', description: 'Probes for load balancers.' },
];

const securitySchemes = {
  token: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An access token, `wg_…`. What stands beside it in `security` are the scopes that it must hold.',
  },
};

function operationOf(
  route: Route,
  operationId: string,
  isAddition: boolean,
  example: Example | undefined,
  components: Components,
): Printed {
  const { summary, scope, body, operation, document } = route;
  const parameters = { ...route.parameters, ...(answersUnchanged(route) && ifNoneMatch) };
  const [, version, segment = ''] = route.path.split('/');
  const addition = isAddition ? ' An addition to the specification.' : '';
  const needs = scope === 'public' ? 'Needs no token.' : `Needs the scope \`${scope}\`.`;
  return {
    operationId,
    tags: [version === 'v1' ? segment : 'health'],
    summary,
    description: `${summary} ${needs}${addition}`,
    ...(Object.keys(parameters).length > 0 && { parameters: parametersOf(parameters, example, components) }),
    ...(body && { requestBody: requestBodyOf(body, operation, example, components) }),
    responses: {
      ...successResponses(route, example, components),
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
    // What the operation is run with for the request that the examples show.
    ...(example && { 'x-graphql-variables': variablesOf(route, example.request) }),
  };
}

/** The name of the operation; of routes that share one the later are called by the end of their paths. */
function operationIds(routes: readonly Route[]): ReadonlyMap<Route, string> {
  const ids = new Map<Route, string>();
  const taken = new Set<string>();
  for (const route of routes) {
    const name = route.operation.name.value;
    const own = `${name.slice(0, 1).toLowerCase()}${name.slice(1)}`;
    const last = route.path.split('/').findLast((segment) => !segment.startsWith('{')) ?? '';
    const operationId = taken.has(own) ? last : own;
    if (taken.has(operationId)) throw new Error(`Two routes would be called ${operationId}.`);
    taken.add(operationId);
    ids.set(route, operationId);
  }
  return ids;
}

function parametersOf(
  parameters: Parameters,
  example: Example | undefined,
  components: Components,
): Printed[] {
  return Object.entries(parameters).map(([name, { word, description, schema }]) => ({
    name,
    in: word === 'path' || word === 'header' ? word : 'query',
    required: word === 'path',
    description,
    schema: components.print(schema),
    ...(word === 'many' && { style: 'form', explode: true }),
    ...exampleOfParameter(schema, example?.request.parameters[name]),
  }));
}

/** Those parameters have one that the request of the examples sends. */
function exampleOfParameter({ type }: JsonSchema, sent: string | readonly string[] | undefined): Printed {
  if (sent === undefined) return {};
  return { example: type === 'integer' || type === 'boolean' ? JSON.parse(String(sent)) : sent };
}

function requestBodyOf(
  { fields, writesSomething }: Body<Fields>,
  operation: OperationDefinitionNode,
  example: Example | undefined,
  components: Components,
): Printed {
  const entries = Object.entries(fields).map(([name, field]) => {
    const schema = schemaOf(field);
    // A reference has no room for a description of its own in every tool.
    return [name, schema.title ? schema : { ...schema, description: field.description }] as const;
  });
  const required = Object.entries(fields).flatMap(([name, { word }]) => (word === 'required' ? [name] : []));
  const schema: JsonSchema = {
    title: `${operation.name?.value ?? ''}Body`,
    type: 'object',
    properties: Object.fromEntries(entries),
    ...(required.length > 0 && { required }),
    ...(writesSomething && { minProperties: 1 }),
  };
  const content = { schema: components.print(schema), ...(example && { example: example.request.body }) };
  return { required: true, content: { 'application/json': content } };
}

function schemaOf(field: Fields[string]): JsonSchema {
  if (field.word === 'clears') return { type: 'boolean' };
  return field.word === 'required' ? field.of.schema : field.schema;
}

/** What a client that has the answer is told instead of it. */
const unchanged = {
  description: 'The answer is the one that `If-None-Match` names; there is no body.',
  headers: {
    'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
    ETag: { $ref: '#/components/headers/ETag' },
    Vary: { $ref: '#/components/headers/Vary' },
    ...allowOrigin,
  },
};

/** The header that every read takes, whatever its route declares. */
const ifNoneMatch = {
  'If-None-Match': {
    word: 'header',
    description: 'The `ETag` of an earlier answer, or several: when nothing differs, 304 is the answer.',
    schema: { type: 'string', maxLength: longestTags },
    fromText: (value: string) => ({ value }),
  },
} as const satisfies Parameters;

function answersUnchanged({ method, successes }: Route): boolean {
  return method === 'GET' && successes.some(({ schema }) => schema !== undefined);
}

function hasTag(route: Route, { schema, revised = false }: Success): boolean {
  return revised || (route.method === 'GET' && schema !== undefined);
}

function successResponses(
  route: Route,
  example: Example | undefined,
  components: Components,
): Record<string, Printed> {
  return Object.fromEntries(
    route.successes.map((success) => {
      const { status, description, schema, paged } = success;
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
          ...(paged && { Link: shownHeader('Link', answer) }),
          ...(status === 302 && { Location: shownHeader('Location', answer) }),
        },
        ...(schema && {
          content: {
            'application/json': { schema: components.print(schema), ...(answer && { example: answer.body }) },
          },
        }),
      };
      return [`${status}`, response];
    }),
  );
}
