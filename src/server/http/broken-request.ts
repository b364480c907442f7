import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { headRule } from '../../executor/limits.ts';
import { type HttpViolation, notHttp, problemOfViolation, unsupportedVersion } from './http-rules.ts';
import { securityHeaders } from './security-headers.ts';

const violations: Readonly<Record<string, HttpViolation>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    reason: 'Request Timeout',
    message: 'The request did not arrive completely in time.',
  },
  HPE_HEADER_OVERFLOW: {
    status: 431,
    reason: 'Request Header Fields Too Large',
    message: headRule,
  },
  // A client that begins HTTP/2 without TLS.
  HPE_PAUSED_H2_UPGRADE: unsupportedVersion,
};

/** Why the parser refused the request. It has one code for unknown and for malformed versions. */
function violationOf({ code = '', rawPacket }: BrokenRequestError): HttpViolation {
  if (code === 'HPE_INVALID_VERSION' && /^\S+ \S+ HTTP\/\d+(?:\.\d+)?\r?\n/.test(String(rawPacket)))
    return unsupportedVersion;
  return violations[code] ?? notHttp;
}

/** The error of the event `clientError`: the code of the parser, and the bytes that it refused. */
type BrokenRequestError = Error & { code?: string; rawPacket?: Buffer };

/** Answers data that is not HTTP, or that arrives too late, directly on the socket, since there is no request. */
export function answerBrokenRequest(
  error: BrokenRequestError,
  socket: Duplex,
  publicUrl: string | undefined,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const violation = violationOf(error);
  const requestId = randomUUID();
  const body = JSON.stringify(problemOfViolation(violation, requestId));
  const security = Object.entries(securityHeaders(publicUrl)).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${violation.status} ${violation.reason}\r\n` +
      'Content-Type: application/problem+json; charset=utf-8\r\n' +
      security.join('') +
      `X-Request-Id: ${requestId}\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n` +
      'Connection: close\r\n\r\n' +
      body,
  );
}
