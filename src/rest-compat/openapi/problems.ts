import { RateLimitedError } from '../../executor/answers/challenge.ts';
import { keyRule } from '../../executor/answers/idempotent.ts';
import { bodyTooLargeMessage, headersTooLargeMessage } from '../../executor/limits.ts';
import { maskedError, noSpaceMessage, unavailableMessage } from '../../executor/answers/errors.ts';
import { InsufficientScopeError, howToAuthenticate } from '../../executor/selections/scope-rule.ts';
import {
  maxMessageLength,
  type Problem,
  problemCodes,
  problemOf,
  problemTitles,
} from '../../executor/answers/problem.ts';
import { limits } from '../../model/limits.ts';
import { allCodeTables } from '../../schema/codes.ts';
import { bodyRule, bodyTypeMessage } from '../body.ts';
import type { JsonSchema } from '../json-schema.ts';
import { type Failure, refusalOf } from '../problem.ts';
import type { Route } from '../route.ts';
import type { Components, OpenApiObject } from './components.ts';
import { allowOrigin, operationOfFailure, requestId } from './headers.ts';

type Code = Problem['code'];

const title = { type: 'string', enum: problemTitles };
const status = { type: 'integer', format: 'int32', minimum: 400, maximum: 599 };
const message = { type: 'string', maxLength: maxMessageLength };

/** The schema of a failure: problem details (RFC 9457). */
const problemSchema: JsonSchema = {
  title: 'Problem',
  type: 'object',
  properties: {
    type: { type: 'string', const: 'about:blank' },
    title: { ...title, description: 'The kind of failure, in words.' },
    status: { ...status, description: 'The HTTP status.' },
    detail: { ...message, description: 'What happened, in a sentence.' },
    code: {
      type: 'string',
      enum: problemCodes,
      description: 'The error code for programs; see `GET /v1/meta/errors/{code}`.',
    },
    requestId: { ...requestId, description: 'Identifies the request in the log; also in `X-Request-Id`.' },
    errors: {
      type: 'array',
      maxItems: limits.violations,
      description: 'Every invalid field or parameter, or missing scope; at most the first hundred.',
      items: {
        title: 'Violation',
        type: 'object',
        properties: {
          field: { ...message, description: 'The name of the parameter, or the path of the field.' },
          message: { ...message, description: 'What is wrong with it.' },
        },
        required: ['field', 'message'],
      },
    },
  },
  required: ['type', 'title', 'status', 'detail', 'code', 'requestId', 'errors'],
};

const shortProblemSchema: JsonSchema = {
  title: 'ProbeProblem',
  type: 'object',
  properties: {
    type: { type: 'string', const: 'about:blank' },
    title,
    status,
    detail: { ...message, description: 'The time limit that was exceeded.' },
  },
  required: ['type', 'title', 'status', 'detail'],
};

const exampleRefusal = (code: 'invalid_request' | 'validation_failed', field: string, message: string) =>
  refusalOf(code, [{ field, message }]);

/** An example failure for each code. */
const examples = {
  invalid_request: exampleRefusal('invalid_request', 'page_size', 'must be a whole number from 1 to 250'),
  validation_failed: exampleRefusal('validation_failed', 'body', bodyRule),
  unauthenticated: {
    code: 'unauthenticated',
    message: howToAuthenticate,
  },
  forbidden: new InsufficientScopeError([{ field: 'PATCH /v1/issues/{issueKey}', scopes: ['issues:write'] }]),
  rate_limited: new RateLimitedError('The quota of 6,000 requests a minute is used up: try again in 1 s.', 1),
  not_found: { code: 'not_found', message: 'There is no such issue.' },
  conflict: {
    code: 'conflict',
    message: 'No agent is installed in this workspace, so there is no agent to write to.',
  },
  cursor_expired: {
    code: 'cursor_expired',
    message:
      'The log does not have all changes after this cursor. Read the lists again, and continue from a new cursor.',
  },
  too_many_streams: {
    code: 'too_many_streams',
    message: 'The token has 20 streams and waiting requests, and may have no more at once.',
  },
  precondition_failed: {
    code: 'precondition_failed',
    message:
      'The issue is not at the expected revision. Read it again, and send the change with its current revision.',
  },
  idempotency_key_reused: {
    code: 'idempotency_key_reused',
    message:
      'This Idempotency-Key was already used for a different request, or with a token of other scopes: use a new one.',
  },
  headers_too_large: {
    code: 'headers_too_large',
    message: headersTooLargeMessage,
  },
  request_timeout: { code: 'request_timeout', message: 'The request did not arrive completely in time.' },
  payload_too_large: { code: 'payload_too_large', message: bodyTooLargeMessage },
  unsupported_media_type: {
    code: 'unsupported_media_type',
    message: bodyTypeMessage,
  },
  internal_error: {
    code: 'internal_error',
    message: maskedError.message,
  },
  unavailable: { code: 'unavailable', message: unavailableMessage },
  insufficient_storage: { code: 'insufficient_storage', message: noSpaceMessage },
} satisfies Partial<Record<Code, Failure>>;

// Examples for routes on which these codes have another cause than elsewhere.
const inProgress: Failure = {
  code: 'conflict',
  message: 'A request with this Idempotency-Key is in progress. Repeat it in a moment.',
};
const noHost: Failure = { code: 'invalid_request', message: 'The request has no Host.' };
const badKey = exampleRefusal('invalid_request', 'Idempotency-Key', keyRule);

/** The codes with which a route can fail, in the order in which they are checked. */
export function failureCodesOf(route: Route): readonly Code[] {
  if (route.hasShortProblems) return ['invalid_request'];
  const codes: readonly (Code | false | undefined)[] = [
    route.scope !== 'public' && 'unauthenticated',
    !route.isProbe && 'rate_limited',
    route.scope !== 'public' && 'forbidden',
    route.body && 'payload_too_large',
    route.body && 'unsupported_media_type',
    'invalid_request',
    route.body && 'validation_failed',
    route.notFoundMessage !== undefined && 'not_found',
    isConditional(route) && 'precondition_failed',
    (isRepeatable(route) || route.failures.includes('conflict')) && 'conflict',
    isRepeatable(route) && 'idempotency_key_reused',
    ...route.failures.filter((code) => code !== 'conflict'),
    'internal_error',
    'unavailable',
    // A read may also need disk space, to sort.
    !route.isProbe && 'insufficient_storage',
  ];
  return codes.filter((code) => code !== false && code !== undefined);
}

/** Whether the route writes, so that a request may have an Idempotency-Key. */
export function isRepeatable({ parameters }: Route): boolean {
  return Object.hasOwn(parameters, 'Idempotency-Key');
}

function isConditional({ parameters }: Route): boolean {
  return Object.hasOwn(parameters, 'If-Match');
}

/** The failures that occur before the route of a request is known, by their names in the document. */
const failuresBeforeRouting = {
  RequestTimeout: 'request_timeout',
  HeadersTooLarge: 'headers_too_large',
} as const;

/** The responses that all routes share, which are components of the document. */
export function sharedResponses(components: Components): OpenApiObject {
  const schema = components.print(problemSchema);
  const responses = Object.entries(failuresBeforeRouting).map(([name, code]) => [
    name,
    {
      description: meaningOf(code),
      headers: {
        'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
        ...allowOrigin,
        RateLimit: neverSent('such a request is not counted'),
      },
      content: {
        'application/problem+json': {
          schema,
          examples: { [code]: { value: problemOf(examples[code], exampleRequestId) } },
        },
      },
    },
  ]);
  return Object.fromEntries(responses);
}

/** The failures of a route by status. */
export function problemResponses(route: Route, components: Components): Record<string, OpenApiObject> {
  const schema = components.print(problemSchema);
  const shared = Object.entries(failuresBeforeRouting).map(([name, code]) => [
    `${statusOf(code)}`,
    { $ref: `#/components/responses/${name}` },
  ]);
  const byStatus = Map.groupBy(failureCodesOf(route), statusOf);
  return {
    ...Object.fromEntries(
      [...byStatus].map(([status, codes]) => [`${status}`, response(schema, codes, route)]),
    ),
    ...Object.fromEntries(shared),
    ...(route.hasShortProblems && { 503: shortProblemResponse(route, components) }),
  };
}

function response(schema: OpenApiObject, codes: readonly Code[], route: Route): OpenApiObject {
  const failures = codes.map((code) => [code, exampleOf(code, route)] as const);
  const challenge = codes.some((code) => code === 'unauthenticated' || code === 'forbidden');
  return {
    description: codes.map(meaningOf).join(' '),
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
      'X-GraphQL-Operation': operationOfFailure(route),
      ...allowOrigin,
      ...(challenge && { 'WWW-Authenticate': { $ref: '#/components/headers/WWW-Authenticate' } }),
      ...rateLimitHeaders(route),
      ...(codes.some(isRetryable) && { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }),
    },
    content: {
      'application/problem+json': {
        schema,
        examples: Object.fromEntries(
          failures.map(([code, failure]) => [code, { value: problemOf(failure, exampleRequestId) }]),
        ),
      },
    },
  };
}

/** The headers of every answer that counts against a quota, which are all but those of probes. */
export function rateLimitHeaders({ isProbe }: Route): OpenApiObject {
  if (isProbe) return { RateLimit: neverSent('probes have no quota') };
  return {
    RateLimit: { $ref: '#/components/headers/RateLimit' },
    'RateLimit-Policy': { $ref: '#/components/headers/RateLimit-Policy' },
  };
}

function neverSent(reason: string): OpenApiObject {
  return { description: `Never sent: ${reason}.`, schema: { type: 'string', maxLength: 0 } };
}

function isRetryable(code: Code): boolean {
  return code === 'unavailable' || code === 'rate_limited' || code === 'too_many_streams';
}

const exampleRequestId = '0b5f8a9e-4f0d-4c58-9e0c-6f1f6f7d2a51';

function exampleOf(code: Code, route: Route): Failure {
  if (code === 'not_found') return { code, message: route.notFoundMessage ?? '' };
  if (code === 'conflict' && !route.failures.includes('conflict')) return inProgress;
  if (code === 'invalid_request' && isRepeatable(route)) return badKey;
  if (code === 'invalid_request' && !Object.hasOwn(route.parameters, 'page_size')) return noHost;
  const [field] = Object.keys(route.body?.fields ?? {});
  if (code === 'validation_failed' && field !== undefined && !route.body?.refusesEmpty)
    return exampleRefusal('validation_failed', field, 'is required');
  if (code === 'forbidden' && route.scope !== 'public' && route.scope !== 'token')
    return new InsufficientScopeError([{ field: `${route.method} ${route.path}`, scopes: [route.scope] }]);
  const example = Object.entries(examples).find(([name]) => name === code)?.[1];
  if (!example) throw new Error(`There is no example of ${code}.`);
  return example;
}

function shortProblemResponse(route: Route, components: Components): OpenApiObject {
  const message = 'The data store did not answer within 2000 ms.';
  const { type, title, status, detail } = problemOf({ code: 'unavailable', message }, exampleRequestId);
  return {
    description: 'The data store does not answer, or the server is about to stop.',
    headers: {
      'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' },
      'X-GraphQL-Operation': operationOfFailure(route),
      ...allowOrigin,
      'Retry-After': { $ref: '#/components/headers/Retry-After' },
    },
    content: {
      'application/problem+json': {
        schema: components.print(shortProblemSchema),
        examples: { unavailable: { value: { type, title, status, detail } } },
      },
    },
  };
}

const codeEntries = new Map(
  allCodeTables.find(({ name }) => name === 'errorCode')?.entries.map((entry) => [entry.name, entry]),
);

function statusOf(code: Code): number {
  return codeEntries.get(code)?.code ?? 500;
}

function meaningOf(code: Code): string {
  return codeEntries.get(code)?.description ?? '';
}
