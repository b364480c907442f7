import type { Logger } from 'pino';

const everyMs = 1_000;

/** Why requests were refused: a token over its quota, an address with unknown tokens, or an overload. */
export interface Refusee {
  readonly tokenId?: string | undefined;
  readonly address?: string | undefined;
}

/** Logs once a second how many requests were refused. A line for each would take more time than refusing it. */
export class Refusals {
  readonly #logger: Logger;
  /** The number of refusals by token or address. The empty key is for refusals in an overload. */
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
      else this.#logger.warn({ refused }, `${refused} requests were refused because of an overload`);
    }
    this.#counts.clear();
  }
}
