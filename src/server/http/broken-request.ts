import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { headRule } from '../../executor/limits.ts';
import { type HttpViolation, notHttp, problemOfViolation, unsupportedVersion } from './http-rules.ts';
import { securityHeaders } from './security-headers.ts';

const violations: Readonly<Record<string, HttpViolation>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    reason: 'Request Timeout',
    message: 'The request did not arrive whole in time.',
  },
  HPE_HEADER_OVERFLOW: {
    status: 431,
    reason: 'Request Header Fields Too Large',
    message: headRule,
  },
  // The preface of HTTP/2 without TLS.
  HPE_PAUSED_H2_UPGRADE: unsupportedVersion,
};

/** What the parser did not accept: for a version it gives one code, whether the version is unknown or not a version. */
function violationOf({ code = '', rawPacket }: BrokenRequestError): HttpViolation {
  if (code === 'HPE_INVALID_VERSION' && /^\S+ \S+ HTTP\/\d+(?:\.\d+)?\r?\n/.test(String(rawPacket)))
    return unsupportedVersion;
  return violations[code] ?? notHttp;
}

/** What `clientError` gives: the parser's code, and the bytes in which it gave up. */
type BrokenRequestError = Error & { code?: string; rawPacket?: Buffer };

/** Answers what is not HTTP, or not in time, on the bare socket: there is no request to answer. */
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
