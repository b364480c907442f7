import type { Logger } from 'pino';

const everyMs = 1_000;

/** Says how many requests were refused, once a second: a line for each would cost more than refusing them. */
export class Refusals {
  readonly #logger: Logger;
  #count = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  note(): void {
    this.#count += 1;
    if (this.#count > 1) return;
    setTimeout(() => {
      this.#logger.warn({ refused: this.#count }, `${this.#count} requests were refused for want of room`);
      this.#count = 0;
    }, everyMs).unref();
  }
}
