import type { Logger } from 'pino';
import type { ErrorCode } from '../../resolvers/errors.ts';

const everyMs = 1_000;

/** Why a request is refused before it reaches a handler. It is not an Error, whose stack would take longer than the rest. */
export interface RefusalReason {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryAfterSeconds: number;
}

/**
 * The caller whose requests were refused: a token over its quota, or an address with unknown tokens. Neither is set in an
 * overload.
 */
export interface Refusee {
  readonly tokenId?: string | undefined;
  readonly address?: string | undefined;
}

/** Logs once a second how many requests were refused. A line for each would take more time than refusing it. */
export class Refusals {
  readonly #logger: Logger;
  /** The number of refusals by token or address. The empty key is for refusals in an overload. */
  #counts = new Map<string, { refusee: Refusee; refused: number }>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  note(refusee: Refusee): void {
    if (this.#counts.size === 0) setTimeout(() => this.#log(), everyMs).unref();
    const key = refusee.tokenId ?? refusee.address ?? '';
    const counted = this.#counts.get(key);
    if (counted) counted.refused += 1;
    else this.#counts.set(key, { refusee, refused: 1 });
  }

  #log(): void {
    for (const { refusee, refused } of this.#counts.values()) {
      const { tokenId, address } = refusee;
      if (tokenId !== undefined)
        this.#logger.info({ refused, tokenId }, `${refused} requests of a token over its quota were refused`);
      else if (address !== undefined)
        this.#logger.info({ refused, address }, `${refused} requests with unknown tokens were refused`);
      else this.#logger.warn({ refused }, `${refused} requests were refused because of an overload`);
    }
    this.#counts.clear();
  }
}
