import { setTimeout as delay } from 'node:timers/promises';

/** How long a start waits for a server that is about to stop. */
const waitMs = 3_000;
const askAgainMs = 50;

/**
 * Tries what a start needs, which a server that is about to stop may still have: its port and its data directory. Once
 * one has been seen stopping, all that fails is tried again until the time is over; anything else fails at once.
 */
export class Predecessor {
  readonly #say: (text: string) => void;
  #untilMs: number | undefined;

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  /** Gives what the attempt gives; throws its last error. */
  async wait<Result>(
    attempt: () => Result | Promise<Result>,
    isStopping: (error: unknown) => boolean | Promise<boolean>,
  ): Promise<Result> {
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        if (!(await this.#isWorthWaiting(() => isStopping(error)))) throw error;
        await delay(askAgainMs);
      }
    }
  }

  async #isWorthWaiting(isStopping: () => boolean | Promise<boolean>): Promise<boolean> {
    if (this.#untilMs === undefined) {
      if (!(await isStopping())) return false;
      this.#say(`Another server is stopping; waiting up to ${waitMs / 1_000} s for it …\n`);
      this.#untilMs = performance.now() + waitMs;
    }
    return performance.now() < this.#untilMs;
  }
}
