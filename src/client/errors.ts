/** One invalid part of a request. */
export interface Violation {
  /** The invalid field or parameter, as the called API names it: `title`, `input.title`, `page_size`. */
  readonly field: string;
  readonly message: string;
}

interface Failure {
  readonly message: string;
  readonly code: string;
  readonly status?: number;
  readonly violations?: readonly Violation[];
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

/**
 * The only error that the client throws, except for the reason of a signal that was aborted. `code` is a code of
 * `GET /v1/meta/errors/{code}`, in lower case for both APIs; or `unreachable` if no answer came, and `unexpected_answer`
 * if the answer is not one of workgraph. An argument of `connect` that cannot be used is `invalid_request`, too.
 */
export class WorkgraphError extends Error {
  override readonly name = 'WorkgraphError';
  readonly code: string;
  /** The HTTP status of the answer; 0 if there was none. */
  readonly status: number;
  /** Every violation of the request. Empty for errors of another kind. */
  readonly violations: readonly Violation[];
  /** The id under which the server has logged the request. */
  readonly requestId: string | undefined;
  /** The time that the server asks to wait. If it is at most `longestWaitMs`, the client has already waited and retried. */
  readonly retryAfterSeconds: number | undefined;

  constructor({ message, code, status = 0, violations = [], requestId, retryAfterSeconds, cause }: Failure) {
    super(message, { cause });
    this.code = code;
    this.status = status;
    this.violations = violations;
    this.requestId = requestId;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The errors of a GraphQL answer as one error. */
export function errorOfGraphQL(
  errors: unknown,
  response?: Pick<Response, 'status' | 'headers'>,
): WorkgraphError {
  const [first] = Array.isArray(errors) ? (errors as unknown[]) : [];
  const { message, extensions } = fieldsOf(first);
  const { code, requestId, errors: violations } = fieldsOf(extensions);
  return new WorkgraphError({
    message: textOf(message) ?? 'The answer has an error without a message.',
    code: textOf(code)?.toLowerCase() ?? 'unexpected_answer',
    status: response?.status ?? 200,
    violations: violationsOf(violations),
    requestId: textOf(requestId),
    retryAfterSeconds: response && retryAfterOf(response.headers),
    cause: errors,
  });
}

/** The error in an answer: a problem of REST, errors of GraphQL, a redirect, or the page of a proxy. */
export async function errorOfResponse(response: Response): Promise<WorkgraphError> {
  if (isRedirect(response)) {
    await response.body?.cancel();
    return unexpectedAnswerError(response, { message: redirectMessageOf(response) });
  }
  const body: unknown = await response.json().catch(() => undefined);
  const { code, title, detail, requestId, errors } = fieldsOf(body);
  if (code === undefined && Array.isArray(errors)) return errorOfGraphQL(errors, response);
  return unexpectedAnswerError(response, {
    message: textOf(detail) ?? textOf(title),
    code: textOf(code) ?? (response.status === 503 ? 'unavailable' : undefined),
    violations: violationsOf(errors),
    requestId: textOf(requestId),
  });
}

/** The error for an answer that does not come from workgraph, with the details that can be read from it. */
export function unexpectedAnswerError(
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  details: { [Key in keyof Failure]?: Failure[Key] | undefined } = {},
): WorkgraphError {
  const type = headers.get('Content-Type') ?? 'none';
  return new WorkgraphError({
    ...details,
    message:
      details.message ??
      `The answer does not come from workgraph: its status is ${status}, its type ${type}.`,
    code: details.code ?? 'unexpected_answer',
    status,
    violations: details.violations ?? [],
    requestId: details.requestId ?? headers.get('X-Request-Id') ?? undefined,
    retryAfterSeconds: retryAfterOf(headers),
  });
}

/** The error of an argument that cannot be used. */
export function invalidArgument(field: string, problem: string): WorkgraphError {
  const message = `\`${field}\` ${problem}`;
  return new WorkgraphError({ message, code: 'invalid_request', violations: [{ field, message }] });
}

/** A browser hides the status and the target of a redirect that it does not follow. */
function isRedirect({ type, status }: Response): boolean {
  return type === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304);
}

function redirectMessageOf({ status, headers }: Response): string {
  const target = headers.get('Location') ?? 'another address';
  return `The answer is a redirect${status ? ` (${status})` : ''} to ${target}, which the client does not follow. \`url\` must be the address where workgraph itself answers.`;
}

/** The seconds of `Retry-After`. The server sends no dates; the date of a proxy is ignored. */
export function retryAfterOf(headers: Pick<Headers, 'get'>): number | undefined {
  const text = headers.get('Retry-After');
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}

function violationsOf(errors: unknown): readonly Violation[] {
  return Array.isArray(errors) ? errors.filter(isViolation) : [];
}

function isViolation(value: unknown): value is Violation {
  const { field, message } = fieldsOf(value);
  return typeof field === 'string' && typeof message === 'string';
}

/** The fields of a value of any type; null has none. */
function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object(value) as Record<string, unknown>;
}

/** The value if it is a text that is not empty. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
