import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { errorOfResponse, retryAfterOf } from './errors.ts';
import { pause, temporaryStatuses } from './retries.ts';

export interface StreamOptions {
  /** The cursor to continue from; a stream without one begins with the next change. */
  readonly after?: string | undefined;
  /** Ends the stream: the loop over it then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Opens the stream after a cursor. */
export type OpenStream = (cursor: string | undefined, signal: AbortSignal) => Promise<Response>;

/** How long a connection may be silent. The server sends at least a comment every 15 seconds. */
const idleTimeoutMs = 30_000;
const maxPauseMs = 30_000;
/** The maximum number of times that a stream is opened again before the server has answered once. */
const maxRetriesBeforeAnswer = 4;

/** The state of a stream, which its connections share. */
interface StreamState {
  /** The cursor to continue from. */
  cursor: string | undefined;
  /** The pause before the stream is opened again. Each failure in a row doubles it. */
  retryMs: number;
  failures: number;
  /** Whether the server has answered once. */
  hasAnswered: boolean;
}

/**
 * The events of a stream, until the caller stops reading. If the connection is lost or silent, the stream is opened again
 * after the last cursor. Throws the error if the server refuses the stream, or asks to wait for longer than `longestWaitMs`.
 */
export async function* followEvents(
  open: OpenStream,
  { after, signal }: StreamOptions,
  longestWaitMs: number,
): AsyncGenerator<EventSourceMessage, void, undefined> {
  const state: StreamState = { cursor: after, retryMs: 2_000, failures: 0, hasAnswered: false };
  const endController = new AbortController();
  const endSignal = endController.signal;
  const end = () => endController.abort(signal?.reason);
  try {
    signal?.addEventListener('abort', end);
    signal?.throwIfAborted();
    for (;;) {
      const connection = new AbortController();
      endSignal.addEventListener('abort', () => connection.abort(endSignal.reason), {
        signal: connection.signal,
      });
      let waitMs = 0;
      try {
        waitMs = yield* readConnection(open, state, connection, longestWaitMs);
      } catch (error) {
        endSignal.throwIfAborted();
        if (error instanceof StreamRefusal) throw error.reason;
        // If the server has never answered, the address may be wrong.
        if (!state.hasAnswered && state.failures === maxRetriesBeforeAnswer) throw error;
      } finally {
        connection.abort();
      }
      const { retryMs, failures } = state;
      await pause(Math.max(waitMs, Math.min(retryMs * 2 ** failures, maxPauseMs)), endSignal);
      state.failures += 1;
    }
  } finally {
    signal?.removeEventListener('abort', end);
  }
}

/** The events of one connection, until its end. Returns how long the server asks to wait before the next one. */
async function* readConnection(
  open: OpenStream,
  state: StreamState,
  connection: AbortController,
  longestWaitMs: number,
): AsyncGenerator<EventSourceMessage, number, undefined> {
  const response = await withIdleTimeout(open(state.cursor, connection.signal), connection);
  state.hasAnswered = true;
  const waitMs = (retryAfterOf(response.headers) ?? 0) * 1_000;
  if (temporaryStatuses.has(response.status) && waitMs <= longestWaitMs) return waitMs;
  if (!isStream(response))
    throw new StreamRefusal(await withIdleTimeout(errorOfResponse(response), connection));
  const pendingEvents: EventSourceMessage[] = [];
  // Each connection has its own parser, because it begins with a whole event.
  const parser = createParser({
    onEvent: (event) => pendingEvents.push(event),
    onId: (id) => (state.cursor = id),
    onRetry: (ms) => (state.retryMs = ms),
  });
  const decoder = new TextDecoder();
  for await (const chunk of chunksOf(response.body, connection)) {
    state.failures = 0;
    parser.feed(decoder.decode(chunk, { stream: true }));
    for (let event = pendingEvents.shift(); event; event = pendingEvents.shift()) yield event;
  }
  return 0;
}

/** An error that ends the stream, in contrast to a lost connection. */
class StreamRefusal extends Error {
  readonly reason: Error;

  constructor(reason: Error) {
    super(reason.message);
    this.reason = reason;
  }
}

function isStream(response: Response): response is Response & { body: ReadableStream<Uint8Array> } {
  const type = response.headers.get('Content-Type') ?? '';
  return response.ok && response.body !== null && /^text\/event-stream\b/i.test(type);
}

/** Waits for something from the server, and breaks the connection when nothing arrives for a long time. */
function withIdleTimeout<Result>(result: Promise<Result>, connection: AbortController): Promise<Result> {
  const silence = setTimeout(
    () => connection.abort(new Error(`The server was silent for ${idleTimeoutMs / 1_000} seconds.`)),
    idleTimeoutMs,
  );
  return result.finally(() => clearTimeout(silence));
}

/** The chunks of a body, until its end or a long silence. */
async function* chunksOf(
  body: ReadableStream<Uint8Array>,
  connection: AbortController,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await withIdleTimeout(reader.read(), connection);
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
