import type { IncomingMessage, ServerResponse } from 'node:http';
import { problemOf } from '../executor/problem.ts';
import { busy } from './admission.ts';
import { discardRest } from './body.ts';
import { acceptedMediaType } from './graphql-request.ts';
import { vary } from './representation.ts';
import type { ServerRequest } from './request.ts';
import { securityHeaders } from './security-headers.ts';

/** A body of this size is read to its end and thrown away, so that the connection can be used again. */
const smallBytes = 65_536;

/**
 * Refuses a request that there is no room for, in as little work as can be: it says what the faces would say, and
 * costs a fraction of asking them.
 */
export function refuseBusy(
  request: ServerRequest,
  req: IncomingMessage,
  res: ServerResponse,
  given: Readonly<Record<string, string>>,
): void {
  const { status, headers, body } = refusal(request, busy);
  const length = Number(req.headers['content-length'] ?? (req.headers['transfer-encoding'] ? Infinity : 0));
  if (length <= smallBytes && req.headers.expect === undefined) req.resume();
  else void discardRest(req, res);
  res.statusCode = status;
  const all = { 'X-Request-Id': request.requestId, ...securityHeaders(request.origin), ...given, ...headers };
  for (const [name, value] of Object.entries(all)) {
    if (name === 'Vary') vary(res, value);
    else res.setHeader(name, value);
  }
  vary(res, 'Authorization');
  vary(res, 'Accept-Encoding');
  res.setHeader('Content-Length', Buffer.byteLength(body));
  res.end(req.method === 'HEAD' ? undefined : body);
}

interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What is said in the words of its face to a request that no face has answered. */
export function refusal({ path, headers: sent, requestId }: ServerRequest, message: string): Refusal {
  const retry = { 'Retry-After': '1' };
  if (path === '/graphql') {
    const type = acceptedMediaType(sent.accept) ?? 'application/json';
    const errors = [{ message, extensions: { code: 'UNAVAILABLE', requestId } }];
    const headers = { 'Content-Type': `${type}; charset=utf-8`, Vary: 'Accept', ...retry };
    return { status: 503, headers, body: JSON.stringify({ errors }) };
  }
  const body = JSON.stringify(problemOf({ code: 'unavailable', message }, requestId));
  return {
    status: 503,
    headers: { 'Content-Type': 'application/problem+json; charset=utf-8', ...retry },
    body,
  };
}
