import type { ServerResponse } from 'node:http';
import { meter } from '../../db/engine/meter.ts';
import { headersOf } from '../../executor/answers/challenge.ts';
import { expectedError, maskedError } from '../../executor/answers/errors.ts';
import type { HttpReply } from '../../rest-compat/http-reply.ts';
import { problemReply } from '../../rest-compat/problem.ts';
import { AnswerHead } from './answer-head.ts';
import { chooseRepresentation, represent } from './representation.ts';
import type { ServerRequest } from './request.ts';
import { securityHeaders } from './security-headers.ts';
import type { Unsent } from './unsent.ts';

/** The message of a 404 for a path that leads to nothing. */
export const nothingHere = 'There is nothing at this path.';

/** A reply with a JSON body. */
export function jsonReply(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): HttpReply {
  const text = JSON.stringify(body);
  return { status, headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers }, body: text };
}

/** The problem details of a thrown error, for REST requests and for unknown paths. */
export function errorReply(error: unknown, requestId: string): HttpReply {
  const failure = expectedError(error) ?? maskedError;
  return problemReply(failure, requestId, headersOf(failure));
}

interface SendParts {
  /** Headers in addition to those of the handler. */
  readonly commonHeaders: readonly (Readonly<Record<string, string>> | undefined)[];
  /** Resolves when no more of an unread body arrives. */
  readonly unread?: Promise<void> | undefined;
  readonly unsent: Unsent;
}

/**
 * Sends an answer with the headers that all answers have and with `commonHeaders`. A body that is a stream may fail midway. While
 * a slow client reads the body, nothing else of the answer stays in memory.
 */
export async function sendReply(
  res: ServerResponse,
  reply: HttpReply,
  { requestId, origin, trace }: Pick<ServerRequest, 'requestId' | 'origin' | 'trace'>,
  { commonHeaders, unread, unsent }: SendParts,
): Promise<void> {
  const head = new AnswerHead(reply.status);
  // After a stream, the client reconnects with a new connection, which may reach another process.
  if (reply.events) res.shouldKeepAlive = false;
  const metered = meter();
  head.set('X-Request-Id', requestId);
  if (trace) head.set('traceresponse', trace.response);
  if (metered) head.set('Server-Timing', serverTiming(metered));
  // Set first, so that the headers of the handler replace them.
  head.add(securityHeaders(origin));
  for (const headers of commonHeaders) if (headers) head.add(headers);
  if (reply.headers) head.add(reply.headers);
  head.vary('Authorization');
  if (reply.unchangedBytes !== undefined) chooseRepresentation(head, res.req, reply.unchangedBytes);
  const body = isBuffered(reply.body)
    ? await represent(head, res.req, reply.body, reply.isConstant)
    : reply.body;
  if (reply.onSent) {
    if (body === reply.body) res.once('finish', reply.onSent);
    else reply.onSent();
  }
  if (isBuffered(body)) head.set('Content-Length', String(body.length));
  // For HEAD, the handler sets the length. A stream has a type and no length.
  else if (!body && !hasNoLength.has(head.status) && !head.get('Content-Type') && !head.get('Content-Length'))
    head.set('Content-Length', '0');
  head.write(res);
  if (reply.events) return unsent.events(res, reply.events);
  if (body !== undefined && !isBuffered(body)) return unsent.stream(res, body);
  return unsent.send(res, res.req.method === 'HEAD' ? undefined : body, unread);
}

/** The statuses of answers without a body, which have no Content-Length (RFC 9110, 8.6). */
const hasNoLength: ReadonlySet<number> = new Set([204, 304]);

function isBuffered(body: HttpReply['body']): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array;
}

/** `Server-Timing` with the number of SQL statements and their time, which a developer looks at first. */
function serverTiming({ statements, sqlMs }: { statements: number; sqlMs: number }): string {
  return `sql;desc="${statements} statements";dur=${sqlMs.toFixed(1)}`;
}

/** The `Server-Timing` of an answer without SQL statements. */
export const noStatements = serverTiming({ statements: 0, sqlMs: 0 });
