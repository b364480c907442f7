import { DatabaseUnavailableError } from './unavailable.ts';

/** How long one request may take in all, and how much of that it may wait for its turn. */
export interface PatienceLimits {
  readonly withinMs: number;
  readonly waitMs: number;
}

/** Whoever has waited its time already may still wait this long for a connection that is about to be free. */
const leastWaitMs = 100;

/** What a request still has of its time, and whether anybody waits for its answer. */
export class Patience {
  readonly #withinMs: number;
  #untilMs: number;
  readonly #listeners = new Set<() => void>();
  #waitMs: number;
  #gone = false;

  constructor({ withinMs, waitMs }: PatienceLimits) {
    this.#withinMs = withinMs;
    this.#untilMs = performance.now() + withinMs;
    this.#waitMs = waitMs;
  }

  /** Time that is left for all that the request still does. */
  get leftMs(): number {
    return this.#untilMs - performance.now();
  }

  /** How long it may wait for a place now. */
  get waitMs(): number {
    return Math.min(Math.max(this.#waitMs, leastWaitMs), this.leftMs);
  }

  /** Takes the time that it has waited off what it may. */
  waited(ms: number): void {
    this.#waitMs -= ms;
  }

  /** The client takes its own time now. */
  pause(): void {
    this.#untilMs = Number.POSITIVE_INFINITY;
  }

  /** The time of the request begins now, when its client has taken some for itself. */
  renew(): void {
    this.#untilMs = performance.now() + this.#withinMs;
  }

  /** As much time as is left, for something that does not end with this client. */
  apart(): Patience {
    return new Patience({ withinMs: this.leftMs, waitMs: this.#waitMs });
  }

  /** Throws when nobody waits for the answer any more, or has waited too long. */
  check(): void {
    if (this.#gone) throw new DatabaseUnavailableError('The client has gone.');
    if (this.leftMs <= 0) throw new DatabaseUnavailableError('The request has taken too long.');
  }

  /** The client has gone: what runs for it ends, and nothing more is begun. */
  abandon(): void {
    this.#gone = true;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  /** Hears when the client goes; gives what ends that. */
  onGone(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
