import { limits } from '../model/limits.ts';
import { detailOf } from '../model/sentences.ts';

/**
 * The registry of all error codes of GraphQL and REST. `status` is the HTTP status in REST, and `title` the title of
 * the problem details. GraphQL has the codes in upper case. Rules: docs/contract.md, "Errors".
 */
export const errorCodes = {
  validation_failed: {
    status: 400,
    title: 'Validation failed',
    meaning: 'A body or an input is invalid; `errors` lists all invalid fields.',
  },
  invalid_request: {
    status: 400,
    title: 'Invalid request',
    meaning: 'A query parameter, an argument or a cursor is invalid.',
  },
  unauthenticated: {
    status: 401,
    title: 'Unauthenticated',
    meaning: 'The access token is missing, unknown, expired or revoked.',
  },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    meaning: 'The token lacks a scope, or the member lacks the role.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    meaning: 'The object does not exist in the workspace of the token.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    meaning: 'The path exists, but not with this method; `Allow` lists its methods.',
  },
  not_acceptable: {
    status: 406,
    title: 'Not acceptable',
    meaning: 'The response is not available in any of the requested media types.',
  },
  request_timeout: {
    status: 408,
    title: 'Request timeout',
    meaning: 'The request did not arrive completely in time.',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    meaning: 'The request conflicts with the current state, or with another request in progress.',
  },
  cursor_expired: {
    status: 410,
    title: 'Cursor expired',
    meaning:
      'Changes after this cursor have been removed from the log, or the cursor belongs to an earlier log: read the lists again, and continue from a new cursor.',
  },
  precondition_failed: {
    status: 412,
    title: 'Precondition failed',
    meaning: 'The object has changed since the revision in the request.',
  },
  payload_too_large: {
    status: 413,
    title: 'Payload too large',
    meaning: 'The body is larger than the limit.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    meaning: 'The body has a media type that is not accepted here.',
  },
  range_not_satisfiable: {
    status: 416,
    title: 'Range not satisfiable',
    meaning: 'The file does not have the requested bytes.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'Idempotency key reused',
    meaning: 'The key was already used for a different request, or with a token of other scopes.',
  },
  rate_limited: {
    status: 429,
    title: 'Rate limited',
    meaning:
      'The token, or the address of a request without a token, has used up its quota; `Retry-After` says when to try again.',
  },
  too_many_streams: {
    status: 429,
    title: 'Too many streams',
    meaning: 'The token already has as many streams and waiting requests as it may have at once.',
  },
  headers_too_large: {
    status: 431,
    title: 'Headers too large',
    meaning:
      'The URL and the headers of the request are larger than the limit, or Accept or Accept-Encoding is too long.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    meaning: 'An internal error; its details are in the log under the request id.',
  },
  unavailable: {
    status: 503,
    title: 'Unavailable',
    meaning:
      'The database does not answer, or too many requests are waiting; `Retry-After` says when to try again.',
  },
  insufficient_storage: {
    status: 507,
    title: 'Insufficient storage',
    meaning: 'There is no space left to store the data.',
  },
  graphql_parse_failed: {
    status: 400,
    title: 'Syntax error',
    meaning: 'The GraphQL document has a syntax error (GraphQL only).',
  },
  graphql_validation_failed: {
    status: 400,
    title: 'Invalid document',
    meaning: 'The GraphQL document is invalid for the schema (GraphQL only).',
  },
  query_too_complex: {
    status: 400,
    title: 'Query too complex',
    meaning: 'The GraphQL document is deeper or larger than the limits, or could return too many objects.',
  },
  persisted_query_not_found: {
    status: 400,
    title: 'Persisted query not found',
    meaning: 'The server has no document with this hash (GraphQL only).',
  },
} as const satisfies Record<string, { status: number; title: string; meaning: string }>;

export type ErrorCode = keyof typeof errorCodes;

/** An error in a field, parameter or argument. */
export interface Violation {
  field: string;
  message: string;
}

/** An expected failure. Any other error is a bug, which is logged and hidden from the client. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly violations: readonly Violation[];

  /** The cause appears only in the log. */
  constructor(code: ErrorCode, message: string, violations: readonly Violation[] = [], cause?: unknown) {
    // Nothing uses the stack trace, and collecting it would take a tenth of the time of a refusal.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, cause === undefined ? undefined : { cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'AppError';
    this.code = code;
    this.violations = violations;
  }
}

/** Throws an `AppError`. As a function it can be used in expressions, such as after `??`. */
export function raise(code: ErrorCode, message: string, violations?: readonly Violation[]): never {
  throw new AppError(code, message, violations);
}

/** Collects the violations of an input, as many as an error lists, so that a client gets all of them at once. */
export class Violations {
  readonly #found: Violation[] = [];

  /** A message that is expensive to write can be a function, which is called only if the message is used. */
  add(field: string, message: string | (() => string)): void {
    if (this.#found.length >= limits.violations) return;
    this.#found.push({ field, message: typeof message === 'string' ? message : message() });
  }

  /** Adds the violation unless the condition is true. */
  addUnless(condition: boolean, field: string, message: string): void {
    if (!condition) this.add(field, message);
  }

  get any(): boolean {
    return this.#found.length > 0;
  }

  /** Throws the collected violations, if there are any. */
  throwIfAny(code: 'validation_failed' | 'invalid_request' = 'validation_failed'): void {
    if (this.any) throw new AppError(code, detailOf(this.#found), this.#found);
  }
}
