import type { Deadline } from './deadline.ts';

/** How long a caller waits for a permit; without either it waits until there is one. */
export interface Wait {
  readonly withinMs?: number | undefined;
  /** The request of the caller, which leaves the queue when it is aborted. */
  readonly deadline?: Deadline | undefined;
}

/**
 * A number of permits. Callers that find none free wait in a queue, first come first served, but the callers of one request take
 * turns with those of others: a request with many statements would keep all others waiting for all of them.
 */
export class Semaphore {
  /** The callers that wait, by their requests; the next permit is for the first caller of the first request. */
  readonly #queues = new Map<Deadline | symbol, Set<() => void>>();
  #waiting = 0;
  readonly #maxWaiting: number;
  #free: number;

  constructor(permits: number, maxWaiting = Number.POSITIVE_INFINITY) {
    this.#free = permits;
    this.#maxWaiting = maxWaiting;
  }

  get free(): number {
    return this.#free;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Returns whether a permit was free, and has been acquired. */
  tryAcquire(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  /** Returns whether a permit was acquired: not when the queue is full, the time is up or the request was aborted. */
  async acquire({ withinMs = Number.POSITIVE_INFINITY, deadline }: Wait = {}): Promise<boolean> {
    if (this.tryAcquire()) return true;
    if (this.#waiting >= this.#maxWaiting) return false;
    const request = deadline ?? Symbol('a caller without a request');
    return new Promise((resolve) => {
      const settle = (isAcquired: boolean) => {
        clearTimeout(late);
        stopListening?.();
        this.#dequeue(request, proceed);
        resolve(isAcquired);
      };
      const proceed = () => settle(true);
      const giveUp = () => settle(false);
      // A timer cannot wait for an infinite time.
      const late = Number.isFinite(withinMs) ? setTimeout(giveUp, withinMs) : undefined;
      const stopListening = deadline?.onDisconnect(giveUp);
      this.#enqueue(request, proceed);
    });
  }

  /** Hands the permit to the next caller, whose request then comes last. */
  release(): void {
    const [first] = this.#queues;
    if (!first) {
      this.#free += 1;
      return;
    }
    const [request, queue] = first;
    this.#queues.delete(request);
    this.#queues.set(request, queue);
    const [next] = queue;
    next?.();
  }

  #enqueue(request: Deadline | symbol, caller: () => void): void {
    const queue = this.#queues.get(request) ?? new Set();
    this.#queues.set(request, queue.add(caller));
    this.#waiting += 1;
  }

  #dequeue(request: Deadline | symbol, caller: () => void): void {
    const queue = this.#queues.get(request);
    if (!queue?.delete(caller)) return;
    this.#waiting -= 1;
    if (queue.size === 0) this.#queues.delete(request);
  }

  /** Runs `work` with a permit; calls `refuse`, which throws, when none was acquired. A wait without a limit needs no `refuse`. */
  async run<Result>(work: () => Promise<Result>, refuse = unexpectedly, wait?: Wait): Promise<Result> {
    if (!(await this.acquire(wait))) refuse();
    try {
      return await work();
    } finally {
      this.release();
    }
  }
}

function unexpectedly(): never {
  throw new Error('A permit was refused although the wait has no limit.');
}
