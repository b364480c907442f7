import { DatabaseUnavailableError } from './unavailable.ts';

/** The message of the error that ends a request whose client has disconnected. Only the log shows it. */
export const clientGone = 'The client has gone.';

/** How long one request may take in all, and how much of that it may spend waiting; both in milliseconds. */
export interface DeadlineLimits {
  readonly withinMs: number;
  readonly waitMs: number;
}

/**
 * A request that has used up its waiting time may still wait this long, because a connection may be about to be free.
 */
const minWaitMs = 100;

/** The time that one request has left, and whether its client still waits for the answer. */
export class Deadline {
  readonly #withinMs: number;
  #untilMs: number;
  readonly #listeners = new Set<() => void>();
  #waitMs: number;
  #isAborted = false;

  constructor({ withinMs, waitMs }: DeadlineLimits) {
    this.#withinMs = withinMs;
    this.#untilMs = performance.now() + withinMs;
    this.#waitMs = waitMs;
  }

  /** Milliseconds left for the whole request. */
  get leftMs(): number {
    return this.#untilMs - performance.now();
  }

  /** Milliseconds that the request may wait for a permit now. */
  get waitMs(): number {
    return Math.min(Math.max(this.#waitMs, minWaitMs), this.leftMs);
  }

  /** Subtracts time that the request has waited from its waiting time. */
  waited(ms: number): void {
    this.#waitMs -= ms;
  }

  /** From now on, the request may spend all its time waiting: it has written, and a refusal would say that it has not. */
  committed(): void {
    this.#waitMs = Number.POSITIVE_INFINITY;
  }

  /** Stops the clock while the client sends its body. */
  pause(): void {
    this.#untilMs = Number.POSITIVE_INFINITY;
  }

  /** Starts the clock again, with the whole time, after `pause`. */
  renew(): void {
    this.#untilMs = performance.now() + this.#withinMs;
  }

  /** A deadline with the same time left, for work that continues when this client disconnects. */
  detached(): Deadline {
    return new Deadline({ withinMs: this.leftMs, waitMs: this.#waitMs });
  }

  /** Throws `DatabaseUnavailableError` when the client has disconnected or no time is left. */
  check(): void {
    if (this.#isAborted) throw new DatabaseUnavailableError(clientGone);
    if (this.leftMs <= 0) throw new DatabaseUnavailableError('The request has taken too long.');
  }

  /** Aborts the request because its client has disconnected. */
  abort(): void {
    this.#isAborted = true;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  /**
   * Calls `listener` when the request is aborted, or soon if it has been. Returns a function that removes the listener.
   */
  onDisconnect(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#isAborted) {
      queueMicrotask(() => {
        if (this.#listeners.delete(listener)) listener();
      });
    }
    return () => void this.#listeners.delete(listener);
  }
}
