import { maxInt32 } from '../../model/int32.ts';
import { limits } from '../../model/limits.ts';
import { maxLinksLength } from '../page-links.ts';
import type { Route } from '../route.ts';
import type { OpenApiObject } from './components.ts';
import type { ExampleAnswer } from './example.ts';

/** A request id of this service, or one that the caller has sent (`X-Request-Id`). */
export const requestId = { type: 'string', pattern: '^[\\w.:/=+-]{1,128}$', maxLength: 128 };

/** Headers of answers. Every answer that refers to a `required` header has it. */
export const headers = {
  'X-Request-Id': {
    required: true,
    description: 'Identifies the request in the log.',
    schema: requestId,
  },
  'Access-Control-Allow-Origin': {
    description: 'The origin of the request, if the server is configured to let its pages read answers.',
    schema: { type: 'string', maxLength: 255 },
  },
  RateLimit: {
    description:
      'What is left of the quotas of the token, or of the address without a token (draft-ietf-httpapi-ratelimit-headers-11): `r` units, and more in `t` seconds.',
    schema: { type: 'string', maxLength: 200 },
    example: '"requests";r=5999;t=1, "cost";r=9999750;t=1',
  },
  'RateLimit-Policy': {
    description:
      'The quotas: `q` units that refill evenly within `w` seconds. A unit of `cost` is an object in an answer.',
    schema: { type: 'string', maxLength: 200 },
    example: '"requests";q=6000;w=60, "cost";q=10000000;w=3600;qu="objects"',
  },
  ETag: {
    required: true,
    description:
      'Identifies this version of the answer (RFC 9110), for `If-None-Match`. The tag of a resource with a revision begins with it, `"r12-…"`, and `If-Match` compares the revision.',
    schema: { type: 'string', maxLength: 64 },
    example: '"r12-2jmj7l5rSw0yVb_vlWAYkK_YBwk"',
  },
  Vary: {
    description: 'The request headers that the answer depends on.',
    schema: { type: 'string', maxLength: 255 },
    example: 'Authorization, Accept-Encoding',
  },
  'Idempotency-Replayed': {
    description: '`true` when the write was done before with this `Idempotency-Key`, and this is its answer.',
    schema: { const: 'true' },
  },
  'X-Total-Count-Exact': {
    description:
      '`false` when counting stopped early: `totalCount` is then a lower bound. Not sent otherwise.',
    schema: { const: 'false' },
  },
  'WWW-Authenticate': {
    description: 'What the token lacks (RFC 6750).',
    schema: { type: 'string', maxLength: 2_000 },
  },
  'Retry-After': {
    required: true,
    description: 'When to try again, in seconds.',
    schema: { type: 'integer', format: 'int32', minimum: 1, maximum: maxInt32 },
  },
};

/** Headers whose values depend on the answer. They are shown with an example. */
const headersWithExample = {
  Link: {
    description: `The URLs of other pages (RFC 8288): \`rel="first"\`, and \`rel="next"\` when there is one. Not sent when it would be longer than ${maxLinksLength} characters.`,
    schema: { type: 'string', maxLength: maxLinksLength },
  },
  Location: {
    required: true,
    description: 'The URL of the content, or the path of the created resource.',
    schema: { type: 'string', maxLength: limits.url },
  },
};

/** The header with the name of the operation that ran. */
export function operationHeader({ operation }: Route): OpenApiObject {
  return {
    required: true,
    description: 'The name of the operation that ran, as in `x-graphql-document`.',
    schema: { const: operation.name.value },
  };
}

/** The same header on a failure, which may have occurred before an operation could run. */
export function operationOfFailure({ operation }: Route): OpenApiObject {
  return { description: 'The name of the operation, if one ran.', schema: { const: operation.name.value } };
}

/** A header of every answer, if pages of other origins may read it. */
export const allowOrigin: OpenApiObject = {
  'Access-Control-Allow-Origin': { $ref: '#/components/headers/Access-Control-Allow-Origin' },
};

/** A header with the value of the example's answer. */
export function headerWithExample(
  name: keyof typeof headersWithExample,
  answer: ExampleAnswer | undefined,
): OpenApiObject {
  const example = answer?.headers[name];
  return { ...headersWithExample[name], ...(example !== undefined && { example }) };
}
