import type { Logger } from 'pino';
import type { ErrorCode } from '../../resolvers/errors.ts';

const logIntervalMs = 1_000;

/** Why a request is refused before it reaches a handler. It is not an Error, because recording its stack would take longer than the rest of the refusal. */
export interface RefusalReason {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryAfterSeconds: number;
}

/**
 * The caller whose requests were refused: a token over its quota, or an address with unknown tokens. Neither is set if
 * the reason is an overload.
 */
export interface RefusedCaller {
  readonly tokenId?: string | undefined;
  readonly address?: string | undefined;
}

/** Logs once a second how many requests were refused. Logging each would take longer than refusing it. */
export class Refusals {
  readonly #logger: Logger;
  /** The number of refusals by token or address. The empty key is for refusals in an overload. */
  #counts = new Map<string, { caller: RefusedCaller; refused: number }>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  note(caller: RefusedCaller): void {
    if (this.#counts.size === 0) setTimeout(() => this.#log(), logIntervalMs).unref();
    const key = caller.tokenId ?? caller.address ?? '';
    const counted = this.#counts.get(key);
    if (counted) counted.refused += 1;
    else this.#counts.set(key, { caller, refused: 1 });
  }

  #log(): void {
    for (const { caller, refused } of this.#counts.values()) {
      const { tokenId, address } = caller;
      if (tokenId !== undefined)
        this.#logger.info({ refused, tokenId }, `${refused} requests of a token over its quota were refused`);
      else if (address !== undefined)
        this.#logger.info({ refused, address }, `${refused} requests with unknown tokens were refused`);
      else this.#logger.warn({ refused }, `${refused} requests were refused because of an overload`);
    }
    this.#counts.clear();
  }
}
