import { limits } from '../../schema/builder/limits.ts';
import { largestInt32 } from '../json-schema.ts';
import { longestLinks } from '../page-links.ts';
import type { Route } from '../route.ts';
import type { Printed } from './components.ts';
import type { ExampleAnswer } from './example.ts';

/** A request id of this service, or one that the caller has sent (`X-Request-Id`). */
export const requestId = { type: 'string', pattern: '^[\\w.:/=+-]{1,128}$', maxLength: 128 };

/** Headers of answers. Every answer that refers to a `required` header has it. */
export const headers = {
  'X-Request-Id': {
    required: true,
    description: 'Finds the request in the log.',
    schema: requestId,
  },
  'Access-Control-Allow-Origin': {
    description:
      'The origin that asked, when this server was told to let its pages read answers; not sent otherwise.',
    schema: { type: 'string', maxLength: 255 },
  },
  RateLimit: {
    description:
      'What is left of the quotas of the token, or of the address where there is none (draft-ietf-httpapi-ratelimit-headers-11): `r` units, and more of them in `t` seconds.',
    schema: { type: 'string', maxLength: 200 },
    example: '"requests";r=5999;t=1, "cost";r=9999750;t=1',
  },
  'RateLimit-Policy': {
    description:
      'The quotas: `q` units that fill up evenly within `w` seconds; a unit of `cost` is an object that was given back.',
    schema: { type: 'string', maxLength: 200 },
    example: '"requests";q=6000;w=60, "cost";q=10000000;w=3600;qu="objects"',
  },
  ETag: {
    required: true,
    description:
      'Names what was answered (RFC 9110): `If-None-Match` asks for nothing else. Of a thing that counts its changes it begins with the revision, `"r12-…"`, which `If-Match` compares.',
    schema: { type: 'string', maxLength: 64 },
    example: '"r12-2jmj7l5rSw0yVb_vlWAYkK_YBwk"',
  },
  Vary: {
    description: 'The headers of the request that the answer depends on.',
    schema: { type: 'string', maxLength: 255 },
    example: 'Authorization, Accept-Encoding',
  },
  'Idempotency-Replayed': {
    description:
      '`true` when the write had been done before under this `Idempotency-Key`, and its answer is given again.',
    schema: { const: 'true' },
  },
  'WWW-Authenticate': {
    description: 'What the token lacks (RFC 6750).',
    schema: { type: 'string', maxLength: 2_000 },
  },
  'Retry-After': {
    required: true,
    description: 'When to try again, in seconds.',
    schema: { type: 'integer', format: 'int32', minimum: 1, maximum: largestInt32 },
  },
};

/** Headers whose values depend on the answer. They are shown with an example. */
const ownHeaders = {
  Link: {
    description: `The addresses of other pages (RFC 8288): \`rel="first"\`, and \`rel="next"\` when there is one. Left out when it would be longer than ${longestLinks} characters.`,
    schema: { type: 'string', maxLength: longestLinks },
  },
  Location: {
    required: true,
    description: 'Where the bytes are, or where what was made can be read; may be a path of this service.',
    schema: { type: 'string', maxLength: limits.url },
  },
};

/** The header with the name of the operation that ran. */
export function operationHeader({ operation }: Route): Printed {
  return {
    required: true,
    description: 'The operation that ran, by the name that it has in `x-graphql-document`.',
    schema: { const: operation.name.value },
  };
}

/** The same header on a failure, which may have occurred before an operation could run. */
export function operationOfFailure({ operation }: Route): Printed {
  return { description: 'The operation that ran, when one did.', schema: { const: operation.name.value } };
}

/** A header of every answer, if pages of other origins may read it. */
export const allowOrigin: Printed = {
  'Access-Control-Allow-Origin': { $ref: '#/components/headers/Access-Control-Allow-Origin' },
};

/** A header with the value of the example's answer. */
export function shownHeader(name: keyof typeof ownHeaders, answer: ExampleAnswer | undefined): Printed {
  const example = answer?.headers[name];
  return { ...ownHeaders[name], ...(example !== undefined && { example }) };
}
