import { maxNesting } from '../../executor/limits.ts';
import { documentIdOf, hexHash } from '../../executor/manifest.ts';
import { isNestedDeeper } from '../../executor/nesting.ts';
import type { NamedDocument } from '../../executor/persisted-documents.ts';
import { raise } from '../../resolvers/errors.ts';
import type { ServerRequest } from '../http/request.ts';

/** The parameters of a GraphQL request over HTTP, of the right kinds; it has a query, a documentId or both. */
export interface GraphQLRequest extends NamedDocument {
  operationName?: string | undefined;
  variables?: Record<string, unknown> | undefined;
}

export type GraphQLMediaType = 'application/json' | 'application/graphql-response+json';

/** The parameters of a request; throws `unsupported_media_type`, `payload_too_large` and `invalid_request`. */
export async function parametersOf(
  request: Pick<ServerRequest, 'method' | 'headers' | 'query' | 'body'>,
): Promise<GraphQLRequest> {
  const { method, headers } = request;
  if (method === 'GET') return parseQuery(request.query);
  if (!isJson(headers['content-type']) || (headers['content-encoding'] ?? 'identity') !== 'identity') {
    raise('unsupported_media_type', 'The body of a POST must be application/json in UTF-8, not compressed.');
  }
  return parseBody(await request.body());
}

/** The parameters in the body of a POST; throws `invalid_request`. */
function parseBody(body: Buffer): GraphQLRequest {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    raise('invalid_request', 'The body is not UTF-8.');
  }
  return checkParameters(parseJson(text, 'The body'));
}

/** The parameters in the query of a GET; throws `invalid_request`. */
function parseQuery(query: URLSearchParams): GraphQLRequest {
  const json = (name: string) => {
    const text = query.get(name);
    return text ? parseJson(text, `The parameter ${name}`) : undefined;
  };
  return checkParameters({
    query: query.get('query') ?? undefined,
    documentId: query.get('documentId') ?? undefined,
    operationName: query.get('operationName') ?? undefined,
    variables: json('variables'),
    extensions: json('extensions'),
  });
}

/** Is the body JSON, in the only charset that JSON has. */
function isJson(contentType: string | undefined): boolean {
  return /^application\/json *(; *charset="?utf-8"? *)?$/i.test(contentType ?? '');
}

/** The media type to answer in by the Accept header, JSON where it leaves the choice; undefined when it wants neither. */
export function acceptedMediaType(accept: string | undefined): GraphQLMediaType | undefined {
  const choices = (accept || '*/*').toLowerCase().split(',').map(parseChoice);
  let best: { type: GraphQLMediaType; quality: number } | undefined;
  for (const { range, quality } of choices) {
    const type = mediaTypes[range];
    if (type && quality > (best?.quality ?? 0)) best = { type, quality };
  }
  return best?.type;
}

/** Is it a browser that shows a page, rather than a client of the graph. */
export function prefersHtml(accept: string | undefined): boolean {
  const ranges = (accept ?? '')
    .toLowerCase()
    .split(',')
    .map((choice) => parseChoice(choice).range);
  return ranges.includes('text/html') && !ranges.some((range) => range.endsWith('json'));
}

const mediaTypes: Readonly<Record<string, GraphQLMediaType>> = {
  'application/graphql-response+json': 'application/graphql-response+json',
  'application/json': 'application/json',
  'application/*': 'application/json',
  '*/*': 'application/json',
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseChoice(choice: string): { range: string; quality: number } {
  const [range = '', ...parameters] = choice.split(';').map((part) => part.trim());
  const q = parameters.find((parameter) => parameter.startsWith('q='));
  return { range, quality: q ? Number(q.slice(2)) || 0 : 1 };
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return raise('invalid_request', `${what} is not JSON.`);
  }
}

function checkParameters(parameters: unknown): GraphQLRequest {
  if (Array.isArray(parameters))
    raise('invalid_request', 'Batches are not taken: send one operation in a request.');
  if (!isObject(parameters)) raise('invalid_request', 'The body must be a JSON object with the field query.');
  const { query, operationName, variables, extensions } = parameters;
  if (operationName != null && typeof operationName !== 'string') {
    raise('invalid_request', 'operationName must be a string.');
  }
  for (const [name, value] of Object.entries({ variables, extensions })) {
    if (value != null && !isObject(value)) raise('invalid_request', `${name} must be an object.`);
    if (isNestedDeeper(value, maxNesting)) {
      raise('query_too_complex', `${name} must not be nested more than ${maxNesting} deep.`);
    }
  }
  const documentId = documentIn(parameters);
  if (typeof query !== 'string' && (query != null || documentId === undefined))
    raise('invalid_request', 'query must be a string with a GraphQL document.');
  return {
    query: query ?? undefined,
    documentId,
    operationName: operationName ?? undefined,
    variables: isObject(variables) ? variables : undefined,
  };
}

/** By the draft of GraphQL over HTTP, or by Apollo's protocol of automatic persisted queries. */
function documentIn({ documentId, extensions }: Record<string, unknown>): string | undefined {
  const id = typeof documentId === 'string' ? documentIdOf(documentId) : undefined;
  if (documentId != null && id === undefined) {
    raise(
      'invalid_request',
      'documentId must be an id such as sha256: and 64 hexadecimal digits, in lower case.',
    );
  }
  const persisted = isObject(extensions) ? extensions.persistedQuery : undefined;
  if (persisted == null) return id;
  const { version, sha256Hash: hash } = isObject(persisted) ? persisted : {};
  if (version !== 1 || typeof hash !== 'string' || !hexHash.test(hash)) {
    raise(
      'invalid_request',
      'extensions.persistedQuery must have version 1 and a sha256Hash of 64 hexadecimal digits, in lower case.',
    );
  }
  if (id !== undefined && id !== hash)
    raise('invalid_request', 'documentId and extensions.persistedQuery must name one document.');
  return hash;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
