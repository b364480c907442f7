import { setImmediate as nextTurn } from 'node:timers/promises';

/** The longest time for which one piece of work blocks the event loop. */
const turnMs = 10;

/** Divides long work into turns of the event loop: the caller calls `next` between two steps, and waits for its promise. */
export class EventLoopTurns {
  #untilMs = performance.now() + turnMs;

  /** A promise of the next turn, if this one has lasted long enough. */
  next(): Promise<void> | undefined {
    return performance.now() < this.#untilMs ? undefined : this.#wait();
  }

  async #wait(): Promise<void> {
    await nextTurn();
    this.#untilMs = performance.now() + turnMs;
  }
}
