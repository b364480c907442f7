import type { Logger } from 'pino';
import { AppError } from '../../resolvers/errors.ts';
import type { Callers } from '../callers.ts';
import { busy } from '../limits/admission.ts';
import { Refusals } from '../limits/refusals.ts';
import type { Metrics, RequestLabels } from '../observability/metrics.ts';

/** The maximum number of operations of a connection that have no answer yet. */
const maxUnanswered = 32;
/** How much longer the next message of a connection waits for each operation that was refused. */
const refusalMs = 10;

const labels: RequestLabels = { face: 'graphql', route: '/graphql', operation: 'other' };

/** A connection whose operations may be refused. */
interface RefusableSocket {
  readonly unanswered: { readonly size: number };
  readonly authorization: string | undefined;
  /** How long the next message has to wait. */
  delayMs: number;
}

interface RefusalParts {
  readonly callers: Callers;
  readonly logger: Logger;
  readonly metrics: Metrics | undefined;
}

/**
 * Refuses operations before they are made requests. A client may send a thousand of them in a second, so refusing one costs little,
 * is not logged by itself, and delays the messages that come after it.
 */
export class WebSocketRefusals {
  readonly #callers: Callers;
  readonly #metrics: Metrics | undefined;
  readonly #refusals: Refusals;

  constructor({ callers, logger, metrics }: RefusalParts) {
    this.#callers = callers;
    this.#metrics = metrics;
    this.#refusals = new Refusals(logger);
  }

  /** Why the connection may begin no operation now; undefined if it may. */
  of(socket: RefusableSocket): AppError | undefined {
    const over = this.#callers.overdrawn(socket.authorization);
    if (!over && socket.unanswered.size < maxUnanswered) return undefined;
    socket.delayMs += refusalMs;
    this.#refusals.note({ tokenId: over?.tokenId });
    this.#metrics?.count(labels, over ? 429 : 503, 0);
    return over ? new AppError('rate_limited', over.refused.message) : new AppError('unavailable', busy);
  }
}
