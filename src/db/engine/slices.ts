import { setImmediate as nextTurn } from 'node:timers/promises';

/** For how long work goes on before the event loop turns to something else. */
const sliceMs = 1;

/** Divides the work of many callers into slices, in order, so that requests are handled between two slices. */
export class Slices {
  readonly #waiting = new Set<() => void>();
  #isRunning = false;

  /** Resolves when the caller may continue until its next `await`. */
  next(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    if (!this.#isRunning) void this.#run();
    return promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.size > 0) {
      await nextTurn();
      const untilMs = performance.now() + sliceMs;
      for (const resume of this.#waiting) {
        this.#waiting.delete(resume);
        resume();
        // The work is done before this continues.
        await Promise.resolve();
        if (performance.now() >= untilMs) break;
      }
    }
    this.#isRunning = false;
  }
}
