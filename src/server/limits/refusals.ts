import type { Logger } from 'pino';

const everyMs = 1_000;

/** Who was refused: a token over its quota, an address that sends unknown tokens, or anybody for want of room. */
export interface Refusee {
  readonly tokenId?: string | undefined;
  readonly address?: string | undefined;
}

/** Says how many requests were refused, once a second: a line for each would cost more than refusing them. */
export class Refusals {
  readonly #logger: Logger;
  /** By the token or the address; an empty text stands for those refused for want of room. */
  #counts = new Map<string, { whose: Refusee; refused: number }>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  note(whose: Refusee): void {
    if (this.#counts.size === 0) setTimeout(() => this.#tell(), everyMs).unref();
    const key = whose.tokenId ?? whose.address ?? '';
    const counted = this.#counts.get(key);
    if (counted) counted.refused += 1;
    else this.#counts.set(key, { whose, refused: 1 });
  }

  #tell(): void {
    for (const { whose, refused } of this.#counts.values()) {
      const { tokenId, address } = whose;
      if (tokenId !== undefined)
        this.#logger.info({ refused, tokenId }, `${refused} requests of a token over its quota were refused`);
      else if (address !== undefined)
        this.#logger.info({ refused, address }, `${refused} requests with unknown tokens were refused`);
      else this.#logger.warn({ refused }, `${refused} requests were refused for want of room`);
    }
    this.#counts.clear();
  }
}
