/**
 * The closed registry of error codes of both faces. `status` is what REST answers with; `title` heads the problem
 * details. GraphQL spells the code in upper case. Rules: docs/contract.md, "Errors".
 */
export const errorCodes = {
  validation_failed: {
    status: 400,
    title: 'Validation failed',
    meaning: 'A body or an input breaks a rule; `errors` names every bad field.',
  },
  invalid_request: {
    status: 400,
    title: 'Invalid request',
    meaning: 'A query parameter, an argument or a cursor is not acceptable.',
  },
  unauthenticated: {
    status: 401,
    title: 'Unauthenticated',
    meaning: 'No access token came along, or one that is unknown, expired or revoked.',
  },
  forbidden: {
    status: 403,
    title: 'Forbidden',
    meaning: 'The token lacks a scope, or the member lacks the role.',
  },
  not_found: {
    status: 404,
    title: 'Not found',
    meaning: 'There is no such thing in the workspace of the token.',
  },
  method_not_allowed: {
    status: 405,
    title: 'Method not allowed',
    meaning: 'The path exists, but not with this method; `Allow` lists those it has.',
  },
  not_acceptable: {
    status: 406,
    title: 'Not acceptable',
    meaning: 'The answer cannot be given in a media type that was asked for.',
  },
  request_timeout: {
    status: 408,
    title: 'Request timeout',
    meaning: 'The request did not arrive whole in time.',
  },
  conflict: {
    status: 409,
    title: 'Conflict',
    meaning: 'The request collides with the present state, or with one in progress.',
  },
  precondition_failed: {
    status: 412,
    title: 'Precondition failed',
    meaning: 'The thing has changed since the revision that was named.',
  },
  payload_too_large: {
    status: 413,
    title: 'Payload too large',
    meaning: 'The body is larger than the limit.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'Unsupported media type',
    meaning: 'The body is not of a media type that is taken here.',
  },
  range_not_satisfiable: {
    status: 416,
    title: 'Range not satisfiable',
    meaning: 'The file has no such bytes.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'Idempotency key reused',
    meaning: 'The key was used before for another request.',
  },
  rate_limited: {
    status: 429,
    title: 'Rate limited',
    meaning:
      'The token, or the address without one, has used its quota up; `Retry-After` says when to come back.',
  },
  headers_too_large: {
    status: 431,
    title: 'Headers too large',
    meaning: 'The address and the headers of the request are larger than the limit.',
  },
  internal_error: {
    status: 500,
    title: 'Internal error',
    meaning: 'A fault of ours; the request id finds it in the log.',
  },
  unavailable: {
    status: 503,
    title: 'Unavailable',
    meaning: 'The data store does not answer, or too much waits; `Retry-After` says when to try again.',
  },
  insufficient_storage: {
    status: 507,
    title: 'Insufficient storage',
    meaning: 'There is no room left to keep what was sent.',
  },
  graphql_parse_failed: {
    status: 400,
    title: 'Syntax error',
    meaning: 'The GraphQL document cannot be read (GraphQL only).',
  },
  graphql_validation_failed: {
    status: 400,
    title: 'Invalid document',
    meaning: 'The GraphQL document does not fit the schema (GraphQL only).',
  },
  query_too_complex: {
    status: 400,
    title: 'Query too complex',
    meaning: 'The GraphQL document is deeper or larger than the limits, or could give back too many objects.',
  },
  persisted_query_not_found: {
    status: 400,
    title: 'Persisted query not found',
    meaning: 'No document is known under the hash (GraphQL only).',
  },
} as const satisfies Record<string, { status: number; title: string; meaning: string }>;

export type ErrorCode = keyof typeof errorCodes;

/** One thing that is wrong with one field, parameter or argument. */
export interface Violation {
  field: string;
  message: string;
}

/** An expected failure. Whatever else is thrown is a bug: it is masked and logged. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly violations: readonly Violation[];

  /** The cause is for the log alone. */
  constructor(code: ErrorCode, message: string, violations: readonly Violation[] = [], cause?: unknown) {
    // Where it was thrown is told to nobody, and finding that out would be a tenth of what a refusal costs.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message, cause === undefined ? undefined : { cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = 'AppError';
    this.code = code;
    this.violations = violations;
  }
}

/** Throws; an expression, so that it can stand after `??`. */
export function raise(code: ErrorCode, message: string, violations?: readonly Violation[]): never {
  throw new AppError(code, message, violations);
}

/** As much as a person reads: an answer is not to be longer than what it refuses. */
export const mostViolations = 100;

/** Gathers what is wrong with an input, so that a client hears it all at once: the first hundred things. */
export class Violations {
  readonly #found: Violation[] = [];

  add(field: string, message: string): void {
    if (this.#found.length < mostViolations) this.#found.push({ field, message });
  }

  /** Notes the violation unless the condition holds. */
  that(condition: boolean, field: string, message: string): void {
    if (!condition) this.add(field, message);
  }

  get any(): boolean {
    return this.#found.length > 0;
  }

  /** Throws what was gathered, if anything was. */
  check(code: 'validation_failed' | 'invalid_request' = 'validation_failed'): void {
    const [first] = this.#found;
    if (!first) return;
    const detail =
      this.#found.length === 1
        ? `${first.field}: ${first.message}.`
        : `${this.#found.length} fields are not acceptable.`;
    throw new AppError(code, detail, this.#found);
  }
}
