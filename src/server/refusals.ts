import type { Logger } from 'pino';

const everyMs = 1_000;

/** Says how many requests were refused, once a second: a line for each would cost more than refusing them. */
export class Refusals {
  readonly #logger: Logger;
  /** By the token whose quota was used up; without one for want of room. */
  #counts = new Map<string | undefined, number>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  note(tokenId?: string): void {
    if (this.#counts.size === 0) setTimeout(() => this.#tell(), everyMs).unref();
    this.#counts.set(tokenId, (this.#counts.get(tokenId) ?? 0) + 1);
  }

  #tell(): void {
    for (const [tokenId, refused] of this.#counts) {
      if (tokenId === undefined)
        this.#logger.warn({ refused }, `${refused} requests were refused for want of room`);
      else
        this.#logger.info({ refused, tokenId }, `${refused} requests of a token over its quota were refused`);
    }
    this.#counts.clear();
  }
}
