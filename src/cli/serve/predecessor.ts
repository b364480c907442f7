import { setTimeout as delay } from 'node:timers/promises';

/** How long a starting server waits for one that is stopping. */
const waitMs = 3_000;
const retryEveryMs = 50;

/**
 * Waits for the port and the data directory that a starting server needs, which a stopping server may still hold. Once a stopping
 * server has been detected, failed attempts are retried until the time is over; otherwise only once, because the other server may
 * have ended between the attempt and the check whether it is stopping.
 */
export class Predecessor {
  readonly #printMessage: (text: string) => void;
  #untilMs: number | undefined;

  constructor(printMessage: (text: string) => void) {
    this.#printMessage = printMessage;
  }

  /** Returns the result of the first attempt that succeeds, or throws the error of the last one. */
  async wait<Result>(
    attempt: () => Result | Promise<Result>,
    isStopping: (error: unknown) => boolean | Promise<boolean>,
  ): Promise<Result> {
    let isLast = false;
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (await this.#isWorthWaiting(() => isStopping(error))) await delay(retryEveryMs);
        else if (isLast) throw error;
        else isLast = true;
      }
    }
  }

  async #isWorthWaiting(isStopping: () => boolean | Promise<boolean>): Promise<boolean> {
    if (this.#untilMs === undefined) {
      if (!(await isStopping())) return false;
      this.#printMessage(`Another server is stopping; waiting up to ${waitMs / 1_000} s for it …\n`);
      this.#untilMs = performance.now() + waitMs;
    }
    return performance.now() < this.#untilMs;
  }
}
