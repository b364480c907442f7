import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { meter } from '../db/meter.ts';
import { headersOf } from '../executor/challenge.ts';
import { expectedError, maskedError } from '../executor/errors.ts';
import type { RestReply } from '../rest-compat/face.ts';
import { problemReply } from '../rest-compat/problem.ts';
import { represent, vary } from './representation.ts';
import type { ServerRequest } from './request.ts';
import { securityHeaders } from './security-headers.ts';

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

/** Sends an answer with the headers that all of them have; a body that is a stream may fail midway. */
export async function sendReply(
  res: ServerResponse,
  reply: RestReply,
  { requestId, origin }: Pick<ServerRequest, 'requestId' | 'origin'>,
  unread?: Promise<void>,
): Promise<void> {
  const { status } = reply;
  const metered = meter();
  res.statusCode = status;
  res.setHeader('X-Request-Id', requestId);
  if (metered) res.setHeader('Server-Timing', serverTiming(metered));
  // By setHeader, which takes names without case, so that a face's own headers stand in for these.
  for (const [name, value] of Object.entries(securityHeaders(origin))) res.setHeader(name, value);
  for (const [name, value] of Object.entries(reply.headers ?? {})) {
    if (name === 'Vary') vary(res, value);
    else res.setHeader(name, value);
  }
  vary(res, 'Authorization');
  if (reply.sent) res.once('finish', reply.sent);
  const body = isBuffered(reply.body) ? await represent(res, reply.body) : reply.body;
  if (isBuffered(body)) res.setHeader('Content-Length', body.length);
  if (unread && (body === undefined || isBuffered(body))) {
    // The whole answer goes out, but the connection is closed only when nothing more comes in.
    if (body === undefined) res.flushHeaders();
    else res.write(body);
    await unread;
    res.end();
  } else if (body === undefined || isBuffered(body)) res.end(body);
  else await pipeline(body, res);
}

function isBuffered(body: RestReply['body']): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array;
}

/** How many SQL statements the answer took, and how long: what a developer looks at first. */
function serverTiming({ statements, sqlMs }: { statements: number; sqlMs: number }): string {
  return `sql;desc="${statements} statements";dur=${sqlMs.toFixed(1)}`;
}

/** The `Server-Timing` of an answer that asked for nothing. */
export const noStatements = serverTiming({ statements: 0, sqlMs: 0 });
