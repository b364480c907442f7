import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../resolvers/errors.ts';
import { RateLimitedError } from '../executor/challenge.ts';
import type { Delivery, EventStream } from '../rest-compat/events.ts';
import type { Arrivals } from './change-watch.ts';
import type { CutReason } from './live-counts.ts';

/** How soon a client comes back after its stream has ended. */
const retryMs = 2_000;
/** The longest time for which a token in debt waits at once. */
const debtMs = 7_500;
/** How often a stream shows that its connection works. */
export const beatMs = 15_000;
/** How soon a client is told the place of its stream, if it has moved without an event. */
export const placeMs = 3_000;
/** How long a stream lasts; some end sooner than others, so that they spread over the processes again. */
const lastsMs = () => 60 * 60_000 * (0.9 + Math.random() / 5);

interface StreamParts {
  readonly arrivals: Arrivals;
  /** What the client gets at once. */
  readonly first: Delivery;
  /** The cursor after what has arrived, if nothing of it is for this stream; otherwise undefined. */
  readonly pass: (cursor: string) => Promise<string | undefined>;
  /** Calls the listener within `placeMs`, and again until the returned function is called. */
  readonly soon: (listener: () => void) => () => void;
  /** Reads what comes after a cursor. Throws if the token may not read it any more. */
  readonly deliver: (cursor: string) => Promise<Delivery>;
  /** Called when the stream ends here, and not because its client has left or the process stops. */
  readonly onCut: (reason: CutReason) => void;
  readonly onEnd: () => void;
  /** What the client is told of an error that ends the stream; undefined if it learns of it when it comes back. */
  readonly farewell?: ((error: unknown) => Delivery | undefined) | undefined;
}

/**
 * The text of a stream of events (`text/event-stream`). It is asked for the next piece when the client has read the last one, so
 * of a slow client nothing is kept but its place. Unless there is a farewell, it just ends: the client then comes back and goes on
 * from the last `id`.
 */
export class LiveStream implements EventStream {
  onBeat: (() => void) | undefined;
  readonly #parts: Omit<StreamParts, 'first'>;
  readonly #untilMs = performance.now() + lastsMs();
  /** What the client gets next. */
  #delivery: Delivery | undefined;
  /** The place of the stream in the log, and the last one that the client was told. */
  #cursor = '';
  #sentCursor = '';
  /** Set while the client is to be told the place soon. */
  #forget: (() => void) | undefined;

  constructor({ first, ...parts }: StreamParts) {
    this.#delivery = first;
    this.#parts = parts;
  }

  /** To be called every `beatMs`. */
  beat(): void {
    const { arrivals, onCut } = this.#parts;
    if (arrivals.isEnded) return;
    if (performance.now() > this.#untilMs) {
      onCut('age');
      arrivals.end();
    } else this.onBeat?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string | Uint8Array> {
    const { arrivals, pass, soon, farewell, onCut, onEnd } = this.#parts;
    let hasMore = false;
    try {
      yield `retry: ${retryMs}\n`;
      for (;;) {
        const delivery = this.#delivery;
        this.#delivery = undefined;
        if (delivery) {
          if (delivery.cursor !== this.#sentCursor || delivery.isLast) yield* delivery.pieces;
          if (delivery.isLast) return;
          ({ cursor: this.#cursor, hasMore } = delivery);
          this.#sentCursor = this.#cursor;
        }
        try {
          if (!hasMore && !(await arrivals.next())) {
            yield* this.#place();
            if (arrivals.isEnded) return;
            continue;
          }
          const passed = hasMore ? undefined : await pass(this.#cursor);
          if (passed !== undefined) {
            this.#cursor = passed;
            this.#forget ??= soon(() => arrivals.interrupt());
            continue;
          }
          this.#delivery = await this.#read();
          if (!this.#delivery) return;
        } catch (error) {
          onCut(reasonOf(error));
          this.#delivery = farewell?.(error);
          if (!this.#delivery) return;
        }
      }
    } finally {
      this.#forget?.();
      onEnd();
    }
  }

  /** The place of the stream, if it has moved since the client was told. */
  *#place(): Generator<string> {
    this.#forget?.();
    this.#forget = undefined;
    if (this.#cursor === this.#sentCursor) return;
    this.#sentCursor = this.#cursor;
    yield `id: ${this.#cursor}\n\n`;
  }

  /** Reads what comes next, again and again while the token is in debt. Gives undefined when the stream was ended. */
  async #read(): Promise<Delivery | undefined> {
    const { arrivals, deliver } = this.#parts;
    while (!arrivals.isEnded) {
      try {
        return await deliver(this.#cursor);
      } catch (error) {
        if (!(error instanceof RateLimitedError)) throw error;
        await delay(Math.min(error.retryAfterSeconds * 1_000, debtMs));
      }
    }
    return undefined;
  }
}

function reasonOf(error: unknown): CutReason {
  if (!(error instanceof AppError)) return 'failed';
  if (error.code === 'cursor_expired') return 'expired';
  return error.code === 'unauthenticated' || error.code === 'forbidden' ? 'refused' : 'failed';
}
