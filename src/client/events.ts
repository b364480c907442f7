import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { errorOfResponse, retryAfterOf } from './errors.ts';
import { pause } from './patience.ts';

export interface StreamOptions {
  /** The cursor to go on from; a stream without one begins with the next change. */
  readonly after?: string | undefined;
  /** Ends the stream: the loop over it then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Opens the stream after a cursor. */
export type OpenStream = (cursor: string | undefined, signal: AbortSignal) => Promise<Response>;

/** The server sends at least a comment every 15 seconds. */
const silenceMs = 30_000;
const longestWaitMs = 30_000;
/** How often a stream that was never answered is opened again. */
const retries = 4;
/** Over in a moment: too many streams or requests, a server that restarts, a proxy without one. */
const passing: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * The events of a stream, for as long as somebody asks for the next one. A connection that breaks or falls silent is opened
 * again after the last cursor. Throws what the server refuses.
 */
export async function* followEvents(
  open: OpenStream,
  { after, signal }: StreamOptions,
): AsyncGenerator<EventSourceMessage, void, undefined> {
  let cursor = after;
  let retryMs = 2_000;
  let failures = 0;
  let hasAnswered = false;
  const ended = new AbortController();
  const over = ended.signal;
  const end = () => ended.abort(signal?.reason);
  const waiting: EventSourceMessage[] = [];
  try {
    signal?.addEventListener('abort', end);
    signal?.throwIfAborted();
    for (;;) {
      const connection = new AbortController();
      over.addEventListener('abort', () => connection.abort(over.reason), { signal: connection.signal });
      // Of a new connection, which begins with a whole event.
      const parser = createParser({
        onEvent: (event) => waiting.push(event),
        onId: (id) => (cursor = id),
        onRetry: (ms) => (retryMs = ms),
      });
      let waitMs = 0;
      try {
        const response = await open(cursor, connection.signal);
        hasAnswered = true;
        if (passing.has(response.status)) waitMs = (retryAfterOf(response.headers) ?? 0) * 1_000;
        else if (!response.ok || !response.body) throw new Refused(await errorOfResponse(response));
        else {
          const text = new TextDecoder();
          for await (const piece of piecesOf(response.body, connection)) {
            failures = 0;
            parser.feed(text.decode(piece, { stream: true }));
            for (let event = waiting.shift(); event; event = waiting.shift()) yield event;
          }
        }
      } catch (error) {
        over.throwIfAborted();
        if (error instanceof Refused) throw error.reason;
        // Where nothing has ever answered, the address may be wrong.
        if (!hasAnswered && failures === retries) throw error;
      } finally {
        connection.abort();
      }
      await pause(Math.max(waitMs, Math.min(retryMs * 2 ** failures, longestWaitMs)), over);
      failures += 1;
    }
  } finally {
    signal?.removeEventListener('abort', end);
  }
}

/** What ends a stream for good, told apart from a connection that broke. */
class Refused extends Error {
  readonly reason: Error;

  constructor(reason: Error) {
    super(reason.message);
    this.reason = reason;
  }
}

/** What arrives, until the end or a long silence. */
async function* piecesOf(
  body: ReadableStream<Uint8Array>,
  connection: AbortController,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = body.getReader();
  try {
    for (;;) {
      const silence = setTimeout(() => connection.abort(), silenceMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
