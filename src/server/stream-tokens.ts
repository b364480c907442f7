import type { Arrivals } from '../live/change-watch.ts';
import { Pulse } from '../live/pulse.ts';

/** How often a token is checked while nothing is delivered to its streams, or asked over its connections. */
const checkMs = 7_500;

type WaitingStream = Pick<Arrivals, 'fail'>;

/** Checks the tokens of idle streams and WebSockets regularly, once for all of a token. */
export class StreamTokens {
  readonly #pulse = new Pulse(checkMs);
  readonly #byToken = new Map<string, { waiting: Set<WaitingStream>; stop: () => void }>();

  /** Ends the wait of a stream with the error that `check` throws. Returns a function that stops watching the stream. */
  watch(token: string, stream: WaitingStream, check: () => Promise<unknown>): () => void {
    const existing = this.#byToken.get(token);
    const { waiting, stop } = existing ?? this.#begin(token, check);
    waiting.add(stream);
    return () => {
      // A second call must not end the checks of streams that have begun since.
      if (!waiting.delete(stream) || waiting.size > 0) return;
      stop();
      this.#byToken.delete(token);
    };
  }

  #begin(token: string, check: () => Promise<unknown>) {
    const waiting = new Set<WaitingStream>();
    const runCheck = async () => {
      try {
        await check();
      } catch (error) {
        for (const stream of waiting) stream.fail(error);
      }
    };
    const entry = { waiting, stop: this.#pulse.add(() => void runCheck()) };
    this.#byToken.set(token, entry);
    return entry;
  }
}
