import { type OperationDefinitionNode, print } from 'graphql';
import type { Body, Fields } from '../body.ts';
import type { JsonSchema } from '../json-schema.ts';
import type { Parameters } from '../params.ts';
import type { Success } from '../reply.ts';
import type { Route } from '../route.ts';
import { Components, type Printed } from './components.ts';
import { problemResponses } from './problems.ts';

/** The OpenAPI 3.1 description of routes: all that it says is read from them. */
export function openApiDocument(routes: readonly Route[], additions: readonly Route[]): Printed {
  const components = new Components();
  const ids = operationIds(routes);
  const paths: Record<string, Record<string, Printed>> = {};
  for (const route of routes) {
    const operation = operationOf(route, ids.get(route) ?? '', additions.includes(route), components);
    (paths[route.path] ??= {})[route.method.toLowerCase()] = operation;
  }
  return {
    openapi: '3.1.0',
    info,
    servers: [{ url: '/', description: 'The server that this was read from.' }],
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

const headers = {
  'X-Request-Id': { description: 'Finds the request in the log.', schema: { type: 'string' } },
  'X-GraphQL-Operation': {
    description: 'The operation that ran, by the name that it has in `x-graphql-document`.',
    schema: { type: 'string' },
  },
  Link: {
    description:
      'The addresses of other pages (RFC 8288): `rel="first"`, and `rel="next"` when there is one.',
    schema: { type: 'string' },
  },
  Location: { description: 'Where to go on; may be a path of this service.', schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'What the token lacks (RFC 6750).', schema: { type: 'string' } },
  'Retry-After': { description: 'When to try again, in seconds.', schema: { type: 'integer' } },
};

function operationOf(
  route: Route,
  operationId: string,
  isAddition: boolean,
  components: Components,
): Printed {
  const { summary, scope, body, operation, document } = route;
  const [, version, segment = ''] = route.path.split('/');
  const addition = isAddition ? ' An addition to the specification.' : '';
  const needs = scope === 'public' ? 'Needs no token.' : `Needs the scope \`${scope}\`.`;
  return {
    operationId,
    tags: [version === 'v1' ? segment : 'health'],
    summary,
    description: `${summary} ${needs}${addition}`,
    ...(Object.keys(route.parameters).length > 0 && {
      parameters: parametersOf(route.parameters, components),
    }),
    ...(body && { requestBody: requestBodyOf(body, operation, components) }),
    responses: { ...successResponses(route.successes, components), ...problemResponses(route, components) },
    security: scope === 'public' ? [] : [{ token: scope === 'token' ? [] : [scope] }],
    'x-graphql-operation': operation.name.value,
    'x-graphql-document': print(document),
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

function parametersOf(parameters: Parameters, components: Components): Printed[] {
  return Object.entries(parameters).map(([name, { word, description, schema }]) => ({
    name,
    in: word === 'path' ? 'path' : 'query',
    required: word === 'path',
    description,
    schema: components.print(schema),
    ...(word === 'many' && { style: 'form', explode: true }),
  }));
}

function requestBodyOf(
  { fields, writesSomething }: Body<Fields>,
  operation: OperationDefinitionNode,
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
  return { required: true, content: { 'application/json': { schema: components.print(schema) } } };
}

function schemaOf(field: Fields[string]): JsonSchema {
  if (field.word === 'clears') return { type: 'boolean' };
  return field.word === 'required' ? field.of.schema : field.schema;
}

function successResponses(successes: readonly Success[], components: Components): Record<string, Printed> {
  return Object.fromEntries(
    successes.map(({ status, description, schema, paged }) => [
      `${status}`,
      {
        description,
        headers: {
          'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
          'X-GraphQL-Operation': { $ref: '#/components/headers/X-GraphQL-Operation' },
          ...(paged && { Link: { $ref: '#/components/headers/Link' } }),
          ...(status === 302 && { Location: { $ref: '#/components/headers/Location' } }),
        },
        ...(schema && { content: { 'application/json': { schema: components.print(schema) } } }),
      },
    ]),
  );
}
