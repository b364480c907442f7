import type { IncomingMessage, ServerResponse } from 'node:http';
import { problemOf } from '../../executor/problem.ts';
import { type ErrorCode, errorCodes } from '../../resolvers/errors.ts';
import { discardRest } from './body.ts';
import { acceptedMediaType } from '../graphql/graphql-request.ts';
import { noStatements } from './reply.ts';
import type { ServerRequest } from './request.ts';
import { securityHeaders } from './security-headers.ts';

/** Why a request is refused that no face has answered, and when to come back. No error: its stack would cost more than the rest. */
export interface Refused {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryAfterSeconds: number;
}

/** A body of this size is read to its end and thrown away, so that the connection can be used again. */
const smallBytes = 65_536;

/**
 * Refuses a request in as little work as can be: it says what the faces would say, and costs a fraction of asking
 * them.
 */
export function refuseEarly(
  request: ServerRequest,
  req: IncomingMessage,
  res: ServerResponse,
  { refused, given }: { refused: Refused; given: Readonly<Record<string, string>> },
): void {
  const { status, headers, body } = refusal(request, refused);
  const length = Number(req.headers['content-length'] ?? (req.headers['transfer-encoding'] ? Infinity : 0));
  if (length <= smallBytes && req.headers.expect === undefined) req.resume();
  else void discardRest(req, res);
  const { requestId, origin, trace } = request;
  const varies = [given.Vary, headers.Vary, 'Authorization', 'Accept-Encoding'];
  // All at once, which is a third of what it costs to set them one by one.
  res.writeHead(status, {
    'X-Request-Id': requestId,
    'Server-Timing': noStatements,
    ...(trace && { traceresponse: trace.response }),
    ...securityHeaders(origin),
    ...given,
    ...headers,
    Vary: varies.filter((name) => name !== undefined).join(', '),
    'Content-Length': Buffer.byteLength(body),
  });
  res.end(req.method === 'HEAD' ? undefined : body);
}

interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What is said in the words of its face to a request that no face has answered. */
export function refusal({ path, headers: sent, requestId }: ServerRequest, refused: Refused): Refusal {
  const { code, message } = refused;
  const { status } = errorCodes[code];
  const retry = { 'Retry-After': String(refused.retryAfterSeconds) };
  if (path === '/graphql') {
    const type = acceptedMediaType(sent.accept) ?? 'application/json';
    const errors = [{ message, extensions: { code: code.toUpperCase(), requestId } }];
    const headers = { 'Content-Type': `${type}; charset=utf-8`, Vary: 'Accept', ...retry };
    return { status, headers, body: JSON.stringify({ errors }) };
  }
  const body = JSON.stringify(problemOf({ code, message }, requestId));
  return { status, headers: { 'Content-Type': 'application/problem+json; charset=utf-8', ...retry }, body };
}
