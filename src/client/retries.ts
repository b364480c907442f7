import { retryAfterOf, WorkgraphError } from './errors.ts';

export interface RetryOptions {
  readonly fetch: (request: Request) => Promise<Response>;
  /** The maximum number of times that a request is retried. */
  readonly retries: number;
  /** How long an answer may take before it counts as lost. */
  readonly timeoutMs: number;
  /** The longest `Retry-After` after which a request is retried. */
  readonly longestWaitMs: number;
}

/** How a request is sent. */
export interface SendOptions {
  /** Whether executing the request twice does no harm. */
  readonly mayRetry: boolean;
  /** Whether the caller reads the body as it arrives, however long that takes; `timeoutMs` then ends with the headers. */
  readonly streamsBody?: boolean;
  /** Sends this request, instead of the fetch of the connection. */
  readonly fetch?: RetryOptions['fetch'] | undefined;
}

export type Send = (request: Request, options: SendOptions) => Promise<Response>;

/** The statuses of temporary failures: too many requests or streams, or a server that is restarting. */
export const temporaryStatuses: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const initialBackoffMs = 200;
/** A timer with a longer time fires at once. */
const maxTimerMs = 2 ** 31 - 1;

/**
 * Sends a request, and retries it after temporary failures and lost answers. A write without a key must not be retried; it is
 * sent again only after 429, because the server has not executed it then.
 */
export async function sendWithRetries(
  options: RetryOptions,
  request: Request,
  { mayRetry, streamsBody = false, fetch = options.fetch }: SendOptions,
): Promise<Response> {
  const { retries, timeoutMs, longestWaitMs } = options;
  let isAnswerLost = false;
  for (let attempt = 0; ; attempt += 1) {
    const backoffMs = Math.min(initialBackoffMs * 2 ** attempt * (0.5 + Math.random()), longestWaitMs);
    const isLast = attempt >= retries;
    try {
      const response = await sendOnce(fetch, request, timeoutMs, streamsBody);
      const waitMs = (retryAfterOf(response.headers) ?? 0) * 1_000 || backoffMs;
      // A write whose answer was lost may still be in progress; retrying it with its key is a conflict until it ends.
      const isInProgress = isAnswerLost && response.status === 409;
      const isTemporary =
        response.status === 429 || (mayRetry && (temporaryStatuses.has(response.status) || isInProgress));
      if (isLast || !isTemporary || waitMs > longestWaitMs) return response;
      await response.body?.cancel();
      await pause(waitMs, request.signal);
    } catch (error) {
      request.signal.throwIfAborted();
      if (isLast || !mayRetry) throw unreachable(request, error);
      isAnswerLost = true;
      await pause(backoffMs, request.signal);
    }
  }
}

/** Sends a request that is aborted by its signal, or after a time without an answer. */
async function sendOnce(
  fetch: RetryOptions['fetch'],
  request: Request,
  timeoutMs: number,
  isPassedOn: boolean,
): Promise<Response> {
  request.signal.throwIfAborted();
  const attempt = new AbortController();
  // Not `AbortSignal.any`: Node may collect its result as garbage, and then nothing is aborted.
  request.signal.addEventListener('abort', () => attempt.abort(request.signal.reason), { once: true });
  const timer = setTimeout(
    () => attempt.abort(new Error(`No answer came in ${timeoutMs} ms.`)),
    Math.min(timeoutMs, maxTimerMs),
  );
  try {
    const response = await fetch(new Request(request.clone(), { signal: attempt.signal }));
    return isPassedOn && response.ok ? response : await readCompletely(response);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads an answer completely, so that an interrupted one is retried. */
async function readCompletely(response: Response): Promise<Response> {
  if (!response.body) return response;
  const { status, statusText, headers } = response;
  return new Response(await response.arrayBuffer(), { status, statusText, headers });
}

export function unreachable({ url }: Pick<Request, 'url'>, cause: unknown): WorkgraphError {
  const { origin } = new URL(url);
  return new WorkgraphError({ message: `No answer came from ${origin}.`, code: 'unreachable', cause });
}

/** Waits, unless the signal is aborted meanwhile: then it throws the reason. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(
      () => {
        signal.removeEventListener('abort', stop);
        resolve();
      },
      Math.min(ms, maxTimerMs),
    );
    signal.addEventListener('abort', stop, { once: true });
  });
}

/** A key with which a write can be retried. `crypto.randomUUID` does not exist on pages served over http. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
