import type { JsonSchema } from '../json-schema.ts';
import type { OpenApiObject } from './components.ts';

/** The part of an OpenAPI operation that a collection needs. */
interface Operation {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example?: string | number | readonly string[];
}

interface Description {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

/**
 * The description as a collection in the format of Postman 2.1, which Postman, Bruno, Insomnia and Hoppscotch import.
 * The address and the token are variables of the collection. Optional parameters are included, but disabled.
 */
export function collectionOf(openApi: OpenApiObject): OpenApiObject {
  const { info, tags, paths } = openApi as unknown as Description;
  const requests = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, operation })),
  );
  return {
    info: {
      name: info.title,
      description: `${info.description} Set the variables \`url\` and \`token\` of the collection.`,
      version: info.version,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{token}}', type: 'string' }] },
    variable: [
      { key: 'url', value: 'http://127.0.0.1:4000' },
      { key: 'token', value: '', description: 'An access token, wg_…' },
    ],
    item: tags.map(({ name, description }) => ({
      name,
      description,
      item: requests
        .filter(({ operation }) => operation.tags.includes(name))
        .map(({ path, method, operation }) => ({
          name: `${method.toUpperCase()} ${path}`,
          request: requestOf(path, method.toUpperCase(), operation),
        })),
    })),
  };
}

function requestOf(path: string, method: string, { summary, parameters = [], requestBody }: Operation) {
  const parametersIn = (location: Parameter['in']) =>
    parameters.filter((parameter) => parameter.in === location);
  const body = requestBody?.content['application/json']?.example;
  return {
    method,
    description: summary,
    header: [
      ...(body === undefined ? [] : [{ key: 'Content-Type', value: 'application/json' }]),
      ...parametersIn('header').map((parameter) => ({ ...entryOf(parameter), disabled: true })),
    ],
    url: {
      raw: `{{url}}${withColons(path)}`,
      host: ['{{url}}'],
      path: withColons(path).split('/').slice(1),
      query: parametersIn('query').map((parameter) => ({ ...entryOf(parameter), disabled: true })),
      variable: parametersIn('path').map(entryOf),
    },
    ...(body !== undefined && {
      body: { mode: 'raw', raw: JSON.stringify(body, null, 2), options: { raw: { language: 'json' } } },
    }),
  };
}

function entryOf({ name, description, schema, example }: Parameter) {
  const value = String(example ?? schema.default ?? '');
  return { key: name, value, description };
}

/** `/v1/teams/{teamCode}` as `/v1/teams/:teamCode`. */
function withColons(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}
