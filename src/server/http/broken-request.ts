import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { headersTooLargeMessage } from '../../executor/limits.ts';
import { answerAndClose } from './answer-and-close.ts';
import {
  badRequest,
  type HttpViolation,
  notHttp,
  notImplemented,
  problemOfViolation,
  unsupportedVersion,
} from './http-rules.ts';

const badTarget = badRequest(
  'The target of the request is not valid: it must begin with a slash, and spaces and characters outside ASCII must be percent-encoded.',
);
const badLineEnd = badRequest('Every line before the body must end with CR LF.');
const badHeader = badRequest(
  'A header of the request is not valid: it must be a name, a colon and a value without control characters.',
);
const badLength = badRequest('The Content-Length of the request must be one whole number.');
const badChunks = badRequest('The body of the request is not valid chunked data.');

const violations: Readonly<Record<string, HttpViolation>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    reason: 'Request Timeout',
    message: 'The request did not arrive completely in time.',
  },
  HPE_HEADER_OVERFLOW: {
    status: 431,
    reason: 'Request Header Fields Too Large',
    message: headersTooLargeMessage,
  },
  // A client that begins HTTP/2 without TLS.
  HPE_PAUSED_H2_UPGRADE: unsupportedVersion,
  HPE_INVALID_URL: badTarget,
  HPE_CR_EXPECTED: badLineEnd,
  HPE_LF_EXPECTED: badLineEnd,
  HPE_INVALID_HEADER_TOKEN: badHeader,
  HPE_UNEXPECTED_SPACE: badHeader,
  HPE_INVALID_CONTENT_LENGTH: badLength,
  HPE_UNEXPECTED_CONTENT_LENGTH: badLength,
  HPE_INVALID_TRANSFER_ENCODING: badRequest(
    'The Transfer-Encoding of the request must be chunked, and there must be no Content-Length beside it.',
  ),
  HPE_INVALID_CHUNK_SIZE: badChunks,
  HPE_INVALID_EOF_STATE: badRequest('The connection was closed before the end of the request.'),
};

/** Why the parser refused the request. Some of its codes stand for several reasons, which the refused line tells apart. */
function violationOf(error: BrokenRequestError): HttpViolation {
  const { code = '', reason = '' } = error;
  if (code === 'HPE_STRICT') return reason.includes('chunk') ? badChunks : badLineEnd;
  const [, method = '', target = '', version] = requestLine.exec(refusedLine(error)) ?? [];
  if (version === undefined) return violations[code] ?? notHttp;
  const isSupported = version === '1.1' || version === '1.0';
  if (code === 'HPE_INVALID_VERSION') {
    if (!isSupported) return unsupportedVersion;
    return reason.includes('CRLF') ? badLineEnd : notHttp;
  }
  if (code === 'HPE_INVALID_METHOD') return notImplemented(`This server does not know the method ${method}.`);
  if (code === 'HPE_INVALID_CONSTANT' && target.includes(' ')) return badTarget;
  return violations[code] ?? notHttp;
}

/** A request line: a method of at most 32 characters, a target, which may be invalid, and a version. */
const requestLine = /^([\w!#$%&'*+.^`|~-]{1,32}) (\S.*) HTTP\/(\d+(?:\.\d+)?)\r?$/;

/** The line in which the parser stopped, if the last packet has all of it. Before it, there may be other requests. */
function refusedLine({ rawPacket, bytesParsed = 0 }: BrokenRequestError): string {
  if (!rawPacket) return '';
  // A parser that misses the end of a line may have read up to the line feed.
  const start = bytesParsed < 2 ? 0 : rawPacket.lastIndexOf('\n', bytesParsed - 2) + 1;
  const end = rawPacket.indexOf('\n', start);
  return end < 0 ? '' : rawPacket.toString('latin1', start, end);
}

/**
 * The error of the event `clientError`: the code and the reason of the parser, the bytes that it refused, and how many of them it
 * read.
 */
type BrokenRequestError = Error & {
  code?: string;
  reason?: string;
  rawPacket?: Buffer;
  bytesParsed?: number;
};

/** Answers data that is not HTTP, or that arrives too late, directly on the socket, since there is no request. */
export function answerBrokenRequest(
  error: BrokenRequestError,
  socket: Duplex,
  publicUrl: string | undefined,
): void {
  const isReset = error.code === 'ECONNRESET';
  // The parser refuses each packet that follows a refused one, and `answerAndClose` discards it.
  if (socket.writableEnded && !isReset) return;
  if (isReset || !socket.writable) {
    socket.destroy();
    return;
  }
  refuse(violationOf(error), socket, publicUrl);
}

/** Answers CONNECT, for which Node makes no response: this server is no proxy. */
export function answerConnect(socket: Duplex, publicUrl: string | undefined): void {
  socket.on('error', () => socket.destroy());
  refuse(notImplemented('This server does not support the method CONNECT.'), socket, publicUrl);
}

function refuse(violation: HttpViolation, socket: Duplex, publicUrl: string | undefined): void {
  const requestId = randomUUID();
  const body = JSON.stringify(problemOfViolation(violation, requestId));
  answerAndClose(socket, {
    status: `${violation.status} ${violation.reason}`,
    origin: publicUrl,
    headers: { 'Content-Type': 'application/problem+json; charset=utf-8', 'X-Request-Id': requestId },
    body,
  });
}
