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

  /** Waits for as long as the request may take. Returns a function that releases the permit. */
  async acquire(deadline: Deadline): Promise<() => void> {
    let permits = this.#byRequest.get(deadline);
    if (!permits) {
      permits = new Semaphore(this.#each);
      this.#byRequest.set(deadline, permits);
    }
    const own = permits;
    if (await own.acquire({ withinMs: deadline.leftMs, deadline })) return () => own.release();
    deadline.check();
    throw new DatabaseUnavailableError('The request has taken too long.');
  }
}
