import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { type ErrorCode } from '../../resolvers/errors.ts';
import { problemOf } from '../../executor/problem.ts';
import { securityHeaders } from './security-headers.ts';

const refusals: Readonly<
  Record<string, { code: ErrorCode; message: string; status?: number; reason: string }>
> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    code: 'request_timeout',
    message: 'The request did not arrive whole in time.',
    reason: 'Request Timeout',
  },
  HPE_HEADER_OVERFLOW: {
    code: 'invalid_request',
    message: 'The headers are too large.',
    status: 431,
    reason: 'Request Header Fields Too Large',
  },
};

/** Answers what is not HTTP, or not in time, on the bare socket: there is no request to answer. */
export function answerBrokenRequest(
  error: Error & { code?: string },
  socket: Duplex,
  publicUrl: string | undefined,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const refusal = refusals[error.code ?? ''] ?? {
    code: 'invalid_request' as const,
    message: 'This is no HTTP request.',
    reason: 'Bad Request',
  };
  const requestId = randomUUID();
  const problem = problemOf(refusal, requestId);
  const status = 'status' in refusal && refusal.status ? refusal.status : problem.status;
  const body = JSON.stringify({ ...problem, status });
  const security = Object.entries(securityHeaders(publicUrl)).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${status} ${refusal.reason}\r\n` +
      'Content-Type: application/problem+json; charset=utf-8\r\n' +
      security.join('') +
      `X-Request-Id: ${requestId}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n` +
      'Connection: close\r\n\r\n' +
      body,
  );
}
