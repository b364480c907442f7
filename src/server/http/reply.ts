import type { ServerResponse } from 'node:http';
import { meter } from '../../db/engine/meter.ts';
import { headersOf } from '../../executor/challenge.ts';
import { expectedError, maskedError } from '../../executor/errors.ts';
import type { RestReply } from '../../rest-compat/face.ts';
import { problemReply } from '../../rest-compat/problem.ts';
import { AnswerHead } from './answer-head.ts';
import { represent } from './representation.ts';
import type { ServerRequest } from './request.ts';
import { securityHeaders } from './security-headers.ts';
import type { Unsent } from './unsent.ts';

/** An answer in JSON. */
export function jsonReply(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): RestReply {
  const text = JSON.stringify(body);
  return { status, headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers }, body: text };
}

/** The problem that a thrown error is, for whoever asks over REST or for a path that is not there. */
export function errorReply(error: unknown, requestId: string): RestReply {
  const failure = expectedError(error) ?? maskedError;
  return problemReply(failure, requestId, headersOf(failure));
}

interface Sending {
  /** Headers of this answer beside those of its face. */
  readonly given: readonly (Readonly<Record<string, string>> | undefined)[];
  /** Settles when nothing more comes in of a body that nobody reads. */
  readonly unread?: Promise<void> | undefined;
  readonly unsent: Unsent;
}

/**
 * Sends an answer with the headers that all of them have, and those that are `given` to this one; a body that is a
 * stream may fail midway. While a slow client takes the body, nothing else of the answer is kept in memory.
 */
export async function sendReply(
  res: ServerResponse,
  reply: RestReply,
  { requestId, origin, trace }: Pick<ServerRequest, 'requestId' | 'origin' | 'trace'>,
  { given, unread, unsent }: Sending,
): Promise<void> {
  const head = new AnswerHead(reply.status);
  const metered = meter();
  head.set('X-Request-Id', requestId);
  if (trace) head.set('traceresponse', trace.response);
  if (metered) head.set('Server-Timing', serverTiming(metered));
  // First, so that a face's own headers stand in for these.
  head.add(securityHeaders(origin));
  for (const headers of given) if (headers) head.add(headers);
  if (reply.headers) head.add(reply.headers);
  head.vary('Authorization');
  const body = isBuffered(reply.body) ? await represent(head, res.req, reply.body) : reply.body;
  if (reply.sent) {
    if (body === reply.body) res.once('finish', reply.sent);
    else reply.sent();
  }
  if (isBuffered(body)) head.set('Content-Length', String(body.length));
  // To a HEAD a face says the length itself.
  else if (!body && !hasNoLength.has(head.status) && !head.get('Content-Length'))
    head.set('Content-Length', '0');
  head.write(res);
  if (body !== undefined && !isBuffered(body)) return unsent.stream(res, body);
  return unsent.send(res, res.req.method === 'HEAD' ? undefined : body, unread);
}

/** Answers without a body, whose head does not speak of one (RFC 9110, 8.6). */
const hasNoLength: ReadonlySet<number> = new Set([204, 304]);

function isBuffered(body: RestReply['body']): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array;
}

/** How many SQL statements the answer took, and how long: what a developer looks at first. */
function serverTiming({ statements, sqlMs }: { statements: number; sqlMs: number }): string {
  return `sql;desc="${statements} statements";dur=${sqlMs.toFixed(1)}`;
}

/** The `Server-Timing` of an answer that asked for nothing. */
export const noStatements = serverTiming({ statements: 0, sqlMs: 0 });
