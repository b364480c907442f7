import { documentIds } from './document-ids.js';
import { currentToken } from './session.js';

/** Why there is no data. `code` is the code of the service, or one of `NO_TOKEN`, `OFFLINE` and `BROKEN_ANSWER`. */
export class GraphError extends Error {
  constructor({ code, message, requestId, retryAfter, missingScopes = [], fields = [] }) {
    super(message);
    Object.assign(this, { code, requestId, retryAfter, missingScopes, fields });
  }
}

/** The codes of transient errors: the same request may succeed when it is sent again. */
const transientCodes = new Set([
  'OFFLINE',
  'BROKEN_ANSWER',
  'REQUEST_TIMEOUT',
  'RATE_LIMITED',
  'TOO_MANY_STREAMS',
  'INTERNAL_ERROR',
  'UNAVAILABLE',
  'INSUFFICIENT_STORAGE',
]);

/**
 * Whether the server would refuse the same request again. Unknown codes count as refusals; errors of the browser do not, because
 * a stream ends with one when the connection is lost.
 */
export function isRefusal(error) {
  return error instanceof GraphError && !transientCodes.has(error.code);
}

/** The codes of refusals after which the user has to sign in with another token. */
export const tokenRefusals = new Set(['UNAUTHENTICATED', 'FORBIDDEN', 'NO_TOKEN']);

/** A browser would wait much longer than this for an answer over a lost connection. */
const timeoutMs = 60_000;

/**
 * Runs a query. The measurements are its cost in objects, its SQL statements, and the milliseconds from the request to the
 * end of the answer.
 */
export async function runQuery(query, variables = {}, signal) {
  const started = performance.now();
  const response = await send(
    query,
    variables,
    { Accept: 'application/graphql-response+json', 'X-GraphQL-Cost': '1' },
    AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
  );
  const answer = await bodyOf(response);
  const milliseconds = performance.now() - started;
  const statements = Number(
    /desc="(\d+) statement/.exec(response.headers.get('Server-Timing') ?? '')?.[1] ?? 0,
  );
  return { data: answer.data, measurements: { cost: answer.extensions?.cost, statements, milliseconds } };
}

/** Opens a subscription that begins after a cursor. Returns the response, whose body is a stream of events. */
export async function openStream(query, variables, { cursor, signal }) {
  const headers = { Accept: 'text/event-stream', ...(cursor && { 'Last-Event-ID': cursor }) };
  const response = await send(query, variables, headers, signal);
  if (!response.headers.get('Content-Type')?.startsWith('text/event-stream')) await bodyOf(response);
  return response;
}

async function send(query, variables, headers, signal) {
  const token = currentToken();
  if (!token) throw new GraphError({ code: 'NO_TOKEN', message: 'Nobody is signed in.' });
  // The server knows the documents of its pages, and accepts their ids even if it accepts only trusted documents.
  const documentId = documentIds[/^(?:query|subscription) (\w+)/m.exec(query)[1]];
  try {
    return await fetch('/graphql', {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify({ documentId: `sha256:${documentId}`, variables }),
      signal,
    });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new GraphError({ code: 'OFFLINE', message: 'The server does not answer.' });
  }
}

async function bodyOf(response) {
  const answer = await response.json().catch(() => undefined);
  if (!answer)
    throw new GraphError({ code: 'BROKEN_ANSWER', message: `The answer (${response.status}) is not JSON.` });
  // A request that is refused before it reaches GraphQL, for example by a rate limit, gets a problem document as in REST.
  const [error] = answer.errors?.[0]?.extensions
    ? answer.errors
    : answer.data
      ? []
      : [{ message: answer.detail, extensions: answer }];
  if (error) throw errorOf(error, response);
  return answer;
}

/** An error of a GraphQL answer as a `GraphError`. */
export function errorOf({ message, extensions = {} }, response) {
  return new GraphError({
    code: String(extensions.code ?? 'INTERNAL_ERROR').toUpperCase(),
    message,
    requestId: extensions.requestId,
    retryAfter: response?.headers.get('Retry-After'),
    missingScopes: scopesIn(extensions.errors),
    fields: (extensions.errors ?? []).map(({ field }) => field ?? ''),
  });
}

/** The scopes that a refusal names, each once. Where any of several is sufficient, only the first, which allows the least. */
function scopesIn(errors = []) {
  const names = errors.flatMap(({ message }) => message?.match(/\b[a-z]+:(?:read|write|admin)\b/) ?? []);
  return [...new Set(names)];
}
