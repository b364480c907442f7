import { RateLimitedError } from '../executor/challenge.ts';
import type { Arrivals } from '../live/change-watch.ts';
import { Pulse } from '../live/pulse.ts';

/** How long a token may go unchecked while nothing is delivered to its streams. */
const checkMs = 7_500;

type Waiting = Pick<Arrivals, 'fail'>;

/** Checks the tokens of streams for which nothing happens, once for all streams of a token. */
export class StreamTokens {
  readonly #pulse = new Pulse(checkMs);
  readonly #byToken = new Map<string, { waiting: Set<Waiting>; stop: () => void }>();

  /** Fails the waiting of a stream when `check` of its token throws. Returns a function that ends the checks. */
  watch(token: string, stream: Waiting, check: () => Promise<unknown>): () => void {
    const known = this.#byToken.get(token);
    const { waiting, stop } = known ?? this.#begin(token, check);
    waiting.add(stream);
    return () => {
      waiting.delete(stream);
      if (waiting.size > 0) return;
      stop();
      this.#byToken.delete(token);
    };
  }

  #begin(token: string, check: () => Promise<unknown>) {
    const waiting = new Set<Waiting>();
    const checked = async () => {
      try {
        await check();
      } catch (error) {
        // A token in debt may read on later.
        if (error instanceof RateLimitedError) return;
        for (const stream of waiting) stream.fail(error);
      }
    };
    const begun = { waiting, stop: this.#pulse.add(() => void checked()) };
    this.#byToken.set(token, begun);
    return begun;
  }
}
