import type { Deadline } from './deadline.ts';
import { Semaphore } from './semaphore.ts';
import { DatabaseUnavailableError } from './unavailable.ts';

/**
 * Lets each request have half of a pool's connections at once. The other statements of the request wait here: in the
 * queue of the pool they would hold up other requests, and be refused as if the database were busy.
 */
export class RequestPermits {
  readonly #each: number;
  readonly #byRequest = new WeakMap<Deadline, Semaphore>();

  constructor(poolSize: number) {
    // A statement within a transaction may need a second connection.
    this.#each = Math.max(Math.ceil(poolSize / 2), 2);
  }

  /** Returns a function that releases the permit; a promise of it, if the request has to wait for its own statements. */
  acquire(deadline: Deadline): (() => void) | Promise<() => void> {
    let permits = this.#byRequest.get(deadline);
    if (!permits) {
      permits = new Semaphore(this.#each);
      this.#byRequest.set(deadline, permits);
    }
    const own = permits;
    const release = () => own.release();
    return own.tryAcquire() ? release : queue(own, deadline).then(() => release);
  }
}

/** Waits for as long as the request may take. */
async function queue(permits: Semaphore, deadline: Deadline): Promise<void> {
  if (await permits.acquire({ withinMs: deadline.leftMs, deadline })) return;
  deadline.check();
  throw new DatabaseUnavailableError('The request has taken too long.');
}
