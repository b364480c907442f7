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

/** The server sends at least a comment every 15 seconds. */
const silenceMs = 30_000;
const longestPauseMs = 30_000;
/** The maximum number of times that a stream is opened again before the server has answered once. */
const retries = 4;

/** What a stream knows beyond its connections. */
interface Progress {
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
  const progress: Progress = { cursor: after, retryMs: 2_000, failures: 0, hasAnswered: false };
  const ended = new AbortController();
  const over = ended.signal;
  const end = () => ended.abort(signal?.reason);
  try {
    signal?.addEventListener('abort', end);
    signal?.throwIfAborted();
    for (;;) {
      const connection = new AbortController();
      over.addEventListener('abort', () => connection.abort(over.reason), { signal: connection.signal });
      let waitMs = 0;
      try {
        waitMs = yield* readConnection(open, progress, connection, longestWaitMs);
      } catch (error) {
        over.throwIfAborted();
        if (error instanceof StreamRefusal) throw error.reason;
        // If the server has never answered, the address may be wrong.
        if (!progress.hasAnswered && progress.failures === retries) throw error;
      } finally {
        connection.abort();
      }
      const { retryMs, failures } = progress;
      await pause(Math.max(waitMs, Math.min(retryMs * 2 ** failures, longestPauseMs)), over);
      progress.failures += 1;
    }
  } finally {
    signal?.removeEventListener('abort', end);
  }
}

/** The events of one connection, until its end. Returns how long the server asks to wait before the next one. */
async function* readConnection(
  open: OpenStream,
  progress: Progress,
  connection: AbortController,
  longestWaitMs: number,
): AsyncGenerator<EventSourceMessage, number, undefined> {
  const response = await unlessSilent(open(progress.cursor, connection.signal), connection);
  progress.hasAnswered = true;
  const waitMs = (retryAfterOf(response.headers) ?? 0) * 1_000;
  if (temporaryStatuses.has(response.status) && waitMs <= longestWaitMs) return waitMs;
  if (!isStream(response)) throw new StreamRefusal(await unlessSilent(errorOfResponse(response), connection));
  const waiting: EventSourceMessage[] = [];
  // Each connection has its own parser, because it begins with a whole event.
  const parser = createParser({
    onEvent: (event) => waiting.push(event),
    onId: (id) => (progress.cursor = id),
    onRetry: (ms) => (progress.retryMs = ms),
  });
  const text = new TextDecoder();
  for await (const piece of piecesOf(response.body, connection)) {
    progress.failures = 0;
    parser.feed(text.decode(piece, { stream: true }));
    for (let event = waiting.shift(); event; event = waiting.shift()) yield event;
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
function unlessSilent<Result>(waiting: Promise<Result>, connection: AbortController): Promise<Result> {
  const silence = setTimeout(
    () => connection.abort(new Error(`The server was silent for ${silenceMs / 1_000} seconds.`)),
    silenceMs,
  );
  return waiting.finally(() => clearTimeout(silence));
}

/** The chunks of a body, until its end or a long silence. */
async function* piecesOf(
  body: ReadableStream<Uint8Array>,
  connection: AbortController,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await unlessSilent(reader.read(), connection);
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
