import { hasMoreValues, isJsonObject } from '../../model/json.ts';
import { maxJsonValues, maxNesting } from '../../executor/limits.ts';
import { documentIdOf, hexHash } from '../../executor/documents/manifest.ts';
import { isNestedDeeper } from '../../executor/inputs/nesting.ts';
import type { NamedDocument } from '../../executor/documents/persisted.ts';
import { raise } from '../../resolvers/errors.ts';
import { isCompressed } from '../../rest-compat/content-encoding.ts';
import { isJsonMediaType } from '../../rest-compat/json.ts';
import { mediaTypeNegotiator } from '../http/negotiation.ts';
import type { ServerRequest } from '../http/request.ts';

/** The checked parameters of a GraphQL request over HTTP. It has a query, a documentId or both. */
export interface GraphQLRequest extends NamedDocument {
  operationName?: string | undefined;
  variables?: Record<string, unknown> | undefined;
}

export type GraphQLMediaType = 'application/json' | 'application/graphql-response+json' | 'text/event-stream';

/** Reads the parameters of a request. Throws `unsupported_media_type`, `payload_too_large` and `invalid_request`. */
export async function parametersOf(
  request: Pick<ServerRequest, 'method' | 'headers' | 'query' | 'body'>,
): Promise<GraphQLRequest> {
  const { method, headers } = request;
  if (method === 'GET') return parseQuery(request.query);
  if (!isJsonMediaType(headers['content-type'] ?? '') || isCompressed(headers)) {
    raise('unsupported_media_type', 'The body of a POST must be application/json in UTF-8, not compressed.');
  }
  return parseBody(await request.body());
}

/** Reads the body of a POST. Throws `invalid_request`. */
function parseBody(body: Buffer): GraphQLRequest {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    raise('invalid_request', 'The body is not UTF-8.');
  }
  return checkParameters(parseJson(text, 'The body'));
}

/** Reads the query of a GET. Throws `invalid_request`. */
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

const json = ['application/json', 'application/graphql-response+json'] as const;
const acceptedJson = mediaTypeNegotiator(json);
const acceptedEvents = mediaTypeNegotiator(['text/event-stream']);
const acceptedPages = mediaTypeNegotiator([...json, 'text/html']);

/**
 * The media type to answer a query or a mutation in. JSON where the `Accept` header leaves the choice, events where it allows
 * nothing else; undefined when it allows none of them.
 */
export function acceptedMediaType(accept: string | undefined): GraphQLMediaType | undefined {
  const [best] = acceptedJson(accept);
  if (best) return best;
  return acceptsEvents(accept) ? 'text/event-stream' : undefined;
}

/** Whether the answer may be a stream of events, as that of a subscription is. */
export function acceptsEvents(accept: string | undefined): boolean {
  return acceptedEvents(accept).length > 0;
}

/** Whether the client is a browser that shows a page, and not a client of the API. */
export function prefersHtml(accept: string | undefined): boolean {
  return acceptedPages(accept)[0] === 'text/html';
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function parseJson(text: string, what: string): unknown {
  if (hasMoreValues(text, maxJsonValues))
    raise(
      'query_too_complex',
      `${what} must not have more than ${maxJsonValues.toLocaleString('en')} values.`,
    );
  try {
    return JSON.parse(text);
  } catch {
    return raise('invalid_request', `${what} is not JSON.`);
  }
}

function checkParameters(parameters: unknown): GraphQLRequest {
  if (Array.isArray(parameters))
    raise('invalid_request', 'Batches are not supported: send one operation per request.');
  if (!isJsonObject(parameters))
    raise('invalid_request', 'The body must be a JSON object with the field query.');
  const { query, operationName, variables, extensions } = parameters;
  if (operationName != null && typeof operationName !== 'string') {
    raise('invalid_request', 'operationName must be a string.');
  }
  for (const [name, value] of Object.entries({ variables, extensions })) {
    if (value != null && !isJsonObject(value)) raise('invalid_request', `${name} must be an object.`);
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
    variables: isJsonObject(variables) ? variables : undefined,
  };
}

/** Reads the id by the draft of GraphQL over HTTP, or by Apollo's protocol of automatic persisted queries. */
function documentIn({ documentId, extensions }: Record<string, unknown>): string | undefined {
  const id = typeof documentId === 'string' ? documentIdOf(documentId) : undefined;
  if (documentId != null && id === undefined) {
    raise(
      'invalid_request',
      'documentId must be an id such as sha256: and 64 hexadecimal digits, in lower case.',
    );
  }
  const persisted = isJsonObject(extensions) ? extensions.persistedQuery : undefined;
  if (persisted == null) return id;
  const { version, sha256Hash: hash } = isJsonObject(persisted) ? persisted : {};
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
