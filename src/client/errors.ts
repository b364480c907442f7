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
 * if the answer is not one of workgraph.
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

/** An error in the answer of GraphQL. */
interface GraphError {
  readonly message: string;
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** The errors of a GraphQL answer as one error. */
export function errorOfGraph(
  errors: readonly GraphError[],
  response?: Pick<Response, 'status' | 'headers'>,
): WorkgraphError {
  const [{ message, extensions } = { message: 'The answer has no error.' }] = errors;
  const { code, requestId, errors: violations }: Readonly<Record<string, unknown>> = extensions ?? {};
  return new WorkgraphError({
    message,
    code: typeof code === 'string' ? code.toLowerCase() : 'unexpected_answer',
    status: response?.status ?? 200,
    violations: violationsOf(violations),
    requestId: textOf(requestId),
    retryAfterSeconds: response && retryAfterOf(response.headers),
    cause: errors,
  });
}

/** The error in an answer: a problem of REST, errors of GraphQL, or the page of a proxy. */
export async function errorOfResponse(response: Response): Promise<WorkgraphError> {
  const { status, headers } = response;
  const body: unknown = await response.json().catch(() => undefined);
  const { code, title, detail, requestId, errors } = Object(body) as Record<string, unknown>;
  if (code === undefined && Array.isArray(errors)) return errorOfGraph(errors as GraphError[], response);
  return new WorkgraphError({
    message:
      textOf(detail) ?? textOf(title) ?? `The answer has the status ${status} and is not of workgraph.`,
    code: textOf(code) ?? (status === 503 ? 'unavailable' : 'unexpected_answer'),
    status,
    violations: violationsOf(errors),
    requestId: textOf(requestId) ?? headers.get('X-Request-Id') ?? undefined,
    retryAfterSeconds: retryAfterOf(headers),
  });
}

/** The seconds of `Retry-After`. The server sends no dates; the date of a proxy is ignored. */
export function retryAfterOf(headers: Pick<Headers, 'get'>): number | undefined {
  const text = headers.get('Retry-After');
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}

function violationsOf(errors: unknown): readonly Violation[] {
  return Array.isArray(errors) ? (errors as Violation[]) : [];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
