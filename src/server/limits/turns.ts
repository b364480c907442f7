import type { Deadline } from '../../db/engine/deadline.ts';
import { AppError } from '../../resolvers/errors.ts';

/** Waiting requests at most, and the bytes of their bodies: they are read already, and stay in memory. */
const maxWaiting = 500;
const maxWaitingBytes = 8_000_000;
/** Other requests go before the next turn for this long at most. */
const longestYieldMs = 50;

export const tooManyNew = 'Too many new documents are waiting to be prepared; try again soon.';

interface Waiter {
  readonly begin: () => void;
  readonly refuse: () => void;
  readonly deadline: Deadline;
  readonly bytes: number;
}

/**
 * The queue of requests that come with a document the server does not know. To read, validate and compile one takes
 * milliseconds in which nothing else runs, so they take turns: the next one has to wait until the requests that came
 * during the last one have been taken in and answered. A wait here says nothing about overload, and ends with the time
 * of the request rather than with that of the admission queue.
 */
export class Turns<Other> {
  readonly #waiting = new Set<Waiter>();
  #bytes = 0;
  /** Requests that the last turn has delayed, and that are answered before the next one. */
  #delayed: Set<Other> = new Set();
  /** From a turn until all requests that came meanwhile have been taken in. */
  #resting = false;
  #lastTurnMs = Number.NEGATIVE_INFINITY;
  #arrivals = 0;
  #alarmed = false;
  readonly #inProgress: () => Iterable<Other>;
  readonly #wake: () => void;

  /** `inProgress` gives the other requests in progress; `wake` is called when a turn has become possible by itself. */
  constructor(inProgress: () => Iterable<Other>, wake: () => void) {
    this.#inProgress = inProgress;
    this.#wake = wake;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** Waits for a turn of this request; throws `unavailable` when there is no room or the request ends before. */
  wait(deadline: Deadline, bytes: number): Promise<void> {
    if (this.#waiting.size >= maxWaiting || this.#bytes + bytes > maxWaitingBytes)
      return Promise.reject(new AppError('unavailable', tooManyNew));
    return new Promise((resolve, reject) => {
      const stopListening = deadline.onGone(() => {
        this.#remove(waiter);
        reject(new AppError('unavailable', 'The client has gone.'));
      });
      const begin = () => {
        stopListening();
        resolve();
      };
      const refuse = () => {
        stopListening();
        reject(new AppError('unavailable', tooManyNew));
      };
      const waiter = { begin, refuse, deadline, bytes };
      this.#waiting.add(waiter);
      this.#bytes += bytes;
    });
  }

  /** Does a request wait that may have its turn now, and have the others gone before for so long that it goes first. */
  due(nowMs: number): 'now' | 'first' | undefined {
    this.#dropLate();
    if (this.#resting || this.#waiting.size === 0) return undefined;
    const leftMs = this.#yieldMs(nowMs);
    if (leftMs <= 0) return 'first';
    if (this.#delayed.size === 0) return 'now';
    if (!this.#alarmed) setTimeout(() => this.#ring(), leftMs);
    this.#alarmed = true;
    return undefined;
  }

  #ring(): void {
    this.#alarmed = false;
    this.#wake();
  }

  /** For how long others still go before the next turn: all turns together leave them a quarter of the time that is left. */
  #yieldMs(nowMs: number): number {
    const [first] = this.#waiting;
    if (!first) return 0;
    const shareMs = first.deadline.leftMs / 4 / this.#waiting.size;
    return this.#lastTurnMs + Math.min(longestYieldMs, shareMs) - nowMs;
  }

  /** Gives the turn to the first of those who wait. */
  begin(nowMs: number): void {
    const [first] = this.#waiting;
    if (!first) return;
    this.#remove(first);
    this.#resting = true;
    this.#lastTurnMs = nowMs;
    first.begin();
    // The first comes before the sockets have been looked at, the second after that.
    const seen = this.#arrivals;
    setImmediate(() => setImmediate(() => this.#rest(seen)));
  }

  /** A round of the event loop takes in a single connection, so it goes round for as long as requests come. */
  #rest(arrivals: number): void {
    const hasCome = this.#arrivals > arrivals;
    if (hasCome && this.#yieldMs(performance.now()) > 0) {
      const seen = this.#arrivals;
      setImmediate(() => this.#rest(seen));
      return;
    }
    this.#resting = false;
    this.#delayed = new Set(this.#inProgress());
    this.#wake();
  }

  /** Another request has come. */
  arrived(): void {
    this.#arrivals += 1;
  }

  /** Another request has been answered. */
  done(other: Other): void {
    this.#delayed.delete(other);
  }

  /** Their clients have been told that it takes too long. */
  #dropLate(): void {
    for (const waiter of this.#waiting) {
      if (waiter.deadline.leftMs > 0) return;
      this.#remove(waiter);
      waiter.refuse();
    }
  }

  #remove(waiter: Waiter): void {
    if (this.#waiting.delete(waiter)) this.#bytes -= waiter.bytes;
  }
}
