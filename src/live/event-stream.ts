import { AppError } from '../resolvers/errors.ts';
import { RateLimitedError } from '../executor/answers/challenge.ts';
import type { EventChunk, EventStream } from '../rest-compat/event-chunks.ts';
import type { Arrivals } from './change-watch.ts';
import type { CutReason } from './live-counts.ts';

/** How soon a client reconnects after its connection has broken. */
const retryMs = 2_000;
/**
 * How soon it reconnects after the server has ended the stream. Other servers can continue the stream at once. Clients that find
 * no server must not all retry at the same moments, so the delay is random.
 */
const reconnectMs = () => Math.round(250 + Math.random() * 1_000);
/** The longest single wait of a stream whose token is in debt. */
const debtMs = 7_500;
/** How often a stream shows that its connection works. */
export const beatMs = 15_000;
/** How soon a client is sent a new cursor that comes without an event. */
export const cursorMs = 3_000;
/** How long a stream lasts; some end sooner than others, so that they spread over the processes again. */
const lifetimeMs = () => 60 * 60_000 * (0.9 + Math.random() / 5);

interface StreamParts {
  readonly arrivals: Arrivals;
  /** What is sent at once. */
  readonly first: EventChunk;
  /** The cursor after the new changes, if none of them concerns this stream; undefined if it has to read. */
  readonly skip: (cursor: string) => Promise<string | undefined>;
  /** Calls the listener every `cursorMs`, the first time within that time, until the returned function is called. */
  readonly onCursorPulse: (listener: () => void) => () => void;
  /** Reads what comes after a cursor. Throws if the token may no longer read it. */
  readonly deliver: (cursor: string) => Promise<EventChunk>;
  /** Called when the stream itself ends: at the end of its lifetime, or because of an error. */
  readonly onCut: (reason: CutReason) => void;
  readonly onEnd: () => void;
  /** What is sent for an error that ends the stream; undefined if the client gets the error when it reconnects. */
  readonly errorChunk?: ((error: unknown) => EventChunk | undefined) | undefined;
}

/**
 * The text of a stream of events (`text/event-stream`). The next piece is produced when the client has read the last one, so for a slow
 * client only its cursor is in memory. When a stream ends, no event says so: the client reconnects with its last `id`. Only an error for
 * which `errorChunk` returns a chunk is sent before the end.
 */
export class LiveStream implements EventStream {
  onHeartbeat: (() => void) | undefined;
  readonly #parts: Omit<StreamParts, 'first'>;
  readonly #untilMs = performance.now() + lifetimeMs();
  /** What is sent next. */
  #chunk: EventChunk | undefined;
  /** The cursor of the stream: it has read the log until there. */
  #cursor = '';
  /** The last cursor that the client was sent. It is behind after changes that do not concern the stream. */
  #sentCursor = '';
  /** Cancels the sending of a cursor without an event, while one is due. */
  #cancelCursor: (() => void) | undefined;

  constructor({ first, ...parts }: StreamParts) {
    this.#chunk = first;
    this.#parts = parts;
  }

  /** Sends a heartbeat, or ends the stream at the end of its lifetime. To be called every `beatMs`. */
  beat(): void {
    const { arrivals, onCut } = this.#parts;
    if (arrivals.isEnded) return;
    if (performance.now() > this.#untilMs) {
      onCut('age');
      arrivals.end();
    } else this.onHeartbeat?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string | Uint8Array> {
    const { arrivals, skip, onCursorPulse, errorChunk, onCut, onEnd } = this.#parts;
    // Whether the log has changes that the last chunk did not reach, so that there is nothing to wait for.
    let hasMore = false;
    try {
      yield `retry: ${retryMs}\n`;
      for (;;) {
        const chunk = this.#chunk;
        this.#chunk = undefined;
        if (chunk) {
          if (chunk.cursor !== this.#sentCursor || chunk.isLast) yield* chunk.pieces;
          if (chunk.isLast) break;
          ({ cursor: this.#cursor, hasMore } = chunk);
          this.#sentCursor = this.#cursor;
        }
        try {
          if (!hasMore && !(await arrivals.next())) {
            yield* this.#unsentCursor();
            if (arrivals.isEnded) break;
            continue;
          }
          const skipped = hasMore ? undefined : await skip(this.#cursor);
          if (skipped !== undefined) {
            // The client learns of the new cursor later, together with others that come without an event.
            this.#cursor = skipped;
            this.#cancelCursor ??= onCursorPulse(() => arrivals.interrupt());
            continue;
          }
          this.#chunk = await this.#read();
          if (!this.#chunk) break;
        } catch (error) {
          onCut(cutReasonOf(error));
          this.#chunk = errorChunk?.(error);
          if (!this.#chunk) break;
        }
      }
      if (arrivals.isEnded) yield `retry: ${reconnectMs()}\n\n`;
    } finally {
      this.#cancelCursor?.();
      onEnd();
    }
  }

  /** The cursor, if it has not been sent yet. */
  *#unsentCursor(): Generator<string> {
    this.#cancelCursor?.();
    this.#cancelCursor = undefined;
    if (this.#cursor === this.#sentCursor) return;
    this.#sentCursor = this.#cursor;
    yield `id: ${this.#cursor}\n\n`;
  }

  /** Reads what comes next, and tries again while the token is in debt. Returns undefined when the stream has ended. */
  async #read(): Promise<EventChunk | undefined> {
    const { arrivals, deliver } = this.#parts;
    while (!arrivals.isEnded) {
      try {
        return await deliver(this.#cursor);
      } catch (error) {
        if (!(error instanceof RateLimitedError)) throw error;
        // The wait also ends when the token is revoked, and when the client leaves.
        await arrivals.next(Math.min(error.retryAfterSeconds * 1_000, debtMs));
      }
    }
    return undefined;
  }
}

function cutReasonOf(error: unknown): CutReason {
  if (!(error instanceof AppError)) return 'failed';
  if (error.code === 'cursor_expired') return 'expired';
  return error.code === 'unauthenticated' || error.code === 'forbidden' ? 'refused' : 'failed';
}
