import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long one piece of work may keep everything else waiting before it lets others have a turn. */
const turnMs = 10;

/** Divides long work into turns of the event loop: whoever does it asks between two steps whether to wait. */
export class Turns {
  #untilMs = performance.now() + turnMs;

  /** A promise to wait for when this turn has lasted long enough. */
  next(): Promise<void> | undefined {
    return performance.now() < this.#untilMs ? undefined : this.#wait();
  }

  async #wait(): Promise<void> {
    await nextTurn();
    this.#untilMs = performance.now() + turnMs;
  }
}
