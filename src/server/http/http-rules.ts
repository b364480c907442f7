import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import { type Problem, problemOf } from '../../executor/answers/problem.ts';
import type { ErrorCode } from '../../resolvers/errors.ts';

/** Why HTTP/1.1 requires that a request be refused: the status, its reason phrase, and a sentence for the client. */
export interface HttpViolation {
  readonly status: 400 | 408 | 431 | 501 | 505;
  readonly reason: string;
  readonly message: string;
}

export const unsupportedVersion: HttpViolation = {
  status: 505,
  reason: 'HTTP Version Not Supported',
  message: 'This server speaks HTTP/1.1 and HTTP/1.0.',
};

export const notHttp = badRequest('This is not an HTTP request.');
const noHost = badRequest('The request has no Host.');
const severalHosts = badRequest('The request has several Host lines.');
const invalidHost = badRequest('The Host of the request is not valid.');

/** Negotiation compares each part of these headers with each type that is offered. Those of browsers have 200 characters. */
const negotiated = ['accept', 'accept-encoding'] as const;
export const maxNegotiatedCharacters = 1_000;
const longNegotiation: HttpViolation = {
  status: 431,
  reason: 'Request Header Fields Too Large',
  message: `The headers Accept and Accept-Encoding may have ${maxNegotiatedCharacters.toLocaleString('en')} characters each.`,
};

const otherCoding = notImplemented('This server reads no Transfer-Encoding except chunked.');

/**
 * The violation of a request that the parser of Node accepts although RFC 9112 requires a refusal: another major version (2.3),
 * a missing, repeated or invalid Host (3.2), or a transfer coding that nobody decodes (6.1). Also refuses headers that would take too
 * long to negotiate with. Undefined for a valid request.
 */
export function httpViolation({
  httpVersionMajor,
  httpVersion,
  rawHeaders,
  headers,
}: Pick<IncomingMessage, 'httpVersionMajor' | 'httpVersion' | 'rawHeaders' | 'headers'>):
  | HttpViolation
  | undefined {
  if (httpVersionMajor !== 1) return unsupportedVersion;
  const { host, 'transfer-encoding': coding } = headers;
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return otherCoding;
  if (host === undefined && httpVersion === '1.1') return noHost;
  if (hasSeveralHosts(rawHeaders)) return severalHosts;
  if (host !== undefined && !isHost(host)) return invalidHost;
  return negotiated.some((name) => (headers[name]?.length ?? 0) > maxNegotiatedCharacters)
    ? longNegotiation
    : undefined;
}

/** The violation as problem details. */
export function problemOfViolation({ status, message }: HttpViolation, requestId: string): Problem {
  return { ...problemOf({ code: codes[status] ?? 'invalid_request', message }, requestId), status };
}

/** The error codes of these statuses. All other violations are `invalid_request`: the registry has no code for 501 and 505. */
const codes: Readonly<Record<number, ErrorCode>> = { 408: 'request_timeout', 431: 'headers_too_large' };

/** A violation that is answered with 400. */
export function badRequest(message: string): HttpViolation {
  return { status: 400, reason: 'Bad Request', message };
}

/** A violation that is answered with 501. */
export function notImplemented(message: string): HttpViolation {
  return { status: 501, reason: 'Not Implemented', message };
}

/** Searches the raw list of names and values, because `headers` contains only the first of several equal headers. */
function hasSeveralHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

/** A host with an optional port (RFC 3986, 3.2.2). An empty host, which its grammar allows, is not valid in HTTP. */
function isHost(text: string): boolean {
  const [, bracketed, name, port = ''] = hostPattern.exec(text) ?? [];
  if (bracketed === undefined && name === undefined) return false;
  return (bracketed === undefined || isIPv6(bracketed)) && Number(port) <= 65_535;
}

const hostPattern = /^(?:\[([\da-f:.]+)\]|((?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})+))(?::(\d*))?$/i;
