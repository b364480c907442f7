import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { openApiDocument } from '../../src/rest-compat/openapi/document.ts';
import { createRouter } from '../../src/rest-compat/router.ts';
import { additions, routeTable } from '../../src/rest-compat/route-table.ts';

/** The parts of an OpenAPI document that tests read. */
export interface OpenApi {
  info: { version: string };
  servers: { url: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: {
    headers: Record<string, OpenApiHeader>;
    responses: Record<string, OpenApiResponse>;
    schemas: Record<string, object>;
  };
}

export interface OpenApiOperation {
  operationId: string;
  parameters?: {
    name: string;
    in: string;
    required: boolean;
    schema: object;
    example?: string | number | boolean | string[];
  }[];
  requestBody?: { content: Record<string, { schema: object; example?: unknown }> };
  responses: Record<string, OpenApiResponse>;
  security: Record<string, string[]>[];
  'x-graphql-operation': string;
  'x-graphql-document': string;
  'x-graphql-variables'?: Record<string, unknown>;
}

export interface OpenApiResponse {
  $ref?: string;
  description: string;
  headers?: Record<string, OpenApiHeader>;
  links?: Record<string, OpenApiLink>;
  content?: Record<
    string,
    { schema: object; example?: unknown; examples?: Record<string, { value: unknown }> }
  >;
}

export interface OpenApiLink {
  operationId: string;
  parameters: Record<string, string>;
}

export interface OpenApiHeader {
  $ref?: string;
  required?: boolean;
  example?: string;
}

/** A response with its body as text. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

// Without examples, because those are recorded from responses.
const document = JSON.parse(JSON.stringify(openApiDocument(routeTable, additions, {}))) as OpenApi;
const find = createRouter(routeTable);

/** Headers that differ from response to response. The document leaves out those that all responses have. */
const described = [
  'ETag',
  'Idempotency-Replayed',
  'Link',
  'Location',
  'Retry-After',
  'WWW-Authenticate',
  'X-GraphQL-Operation',
];

/**
 * Lists the differences between a REST response and its description in the document. The document describes neither
 * unknown paths and methods nor the responses to OPTIONS.
 */
export function responseDifferences(method: string, path: string, answer: RawAnswer): string[] {
  const route = find(path)?.methods.get(method === 'HEAD' ? 'GET' : method);
  if (!route) return [];
  const name = `${method} ${route.path}`;
  const response = responseOf(document, route.path, route.method, answer.status);
  if (!response)
    return [`${name} does not say that it answers ${answer.status}: ${answer.text.slice(0, 300)}`];
  const wrong = [...headerDifferences(response, answer), ...bodyDifferences(response, method, answer)];
  return wrong.map((difference) => `${name} ${answer.status}: ${difference}`);
}

/** Returns the document's description of a response with this status, if there is one. */
export function responseOf(
  { paths, components }: OpenApi,
  path: string,
  method: string,
  status: number,
): OpenApiResponse | undefined {
  const response = paths[path]?.[method.toLowerCase()]?.responses[`${status}`];
  const name = response?.$ref?.split('/').at(-1);
  return name === undefined ? response : components.responses[name];
}

function headerDifferences(response: OpenApiResponse, { headers }: RawAnswer): string[] {
  const declared = new Map(
    Object.entries(response.headers ?? {}).map(([name, header]) => [name.toLowerCase(), resolved(header)]),
  );
  // A stream has no ETag because it does not end.
  const isStream = headers.get('Content-Type')?.startsWith('text/event-stream') ?? false;
  return [
    ...[...declared].flatMap(([name, { required }]) =>
      required && !headers.has(name) && !(isStream && name === 'etag')
        ? [`the header ${name} is missing`]
        : [],
    ),
    ...described.flatMap((name) =>
      headers.has(name) && !declared.has(name.toLowerCase()) ? [`the header ${name} is not documented`] : [],
    ),
  ];
}

function resolved(header: OpenApiHeader): OpenApiHeader {
  const name = header.$ref?.split('/').at(-1);
  return name === undefined ? header : (document.components.headers[name] ?? {});
}

function bodyDifferences(response: OpenApiResponse, method: string, { headers, text }: RawAnswer): string[] {
  const type = headers.get('content-type')?.split(';')[0] ?? '';
  const all = Object.entries(response.content ?? {});
  const documented = all.find(([mediaType]) => mediaType === type) ?? all[0];
  if (!documented) return text === '' ? [] : ['there is a body'];
  const [wanted, { schema }] = documented;
  if (type !== wanted) return [`the body is ${type} and not ${wanted}`];
  if (method === 'HEAD') return text === '' ? [] : ['there is a body'];
  return schemaDifferences(schema, wanted?.startsWith('text/') ? text : JSON.parse(text));
}

const validators = new Map<string, ValidateFunction>();

/** Lists the differences between a value and a schema. A property that the schema does not name is one. */
export function schemaDifferences(schema: object, value: unknown): string[] {
  const key = JSON.stringify(schema);
  const validate = validators.get(key) ?? compile(schema);
  validators.set(key, validate);
  validate(value);
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}

const { schemas } = document.components;
const ajv = new Ajv2020({
  strict: true,
  allowUnionTypes: true,
  allErrors: true,
  keywords: ['components', 'example'],
});
const matching = (pattern: RegExp) => ({
  type: 'string' as const,
  validate: (text: string) => pattern.test(text),
});
ajv.addFormat('date-time', matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/));
ajv.addFormat('date', matching(/^\d{4}-\d\d-\d\d$/));
ajv.addFormat('int32', { type: 'number', validate: (value: number) => value === Math.trunc(value) });
ajv.addFormat('uri', { type: 'string', validate: (text: string) => URL.canParse(text) });

function compile(schema: object): ValidateFunction {
  const whole = JSON.stringify({ ...schema, components: { schemas } }, (_key, value: unknown) =>
    isObjectSchema(value) ? { ...value, additionalProperties: false } : value,
  );
  return ajv.compile(JSON.parse(whole) as object);
}

function isObjectSchema(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'properties' in value && 'type' in value;
}
