import type { Deadline } from './deadline.ts';

/** How long a caller waits for a permit; without either it waits until there is one. */
export interface Wait {
  readonly withinMs?: number | undefined;
  /** The caller leaves the line when this request is aborted. */
  readonly deadline?: Deadline | undefined;
}

/** A number of permits. Callers that find none free wait in a queue, first come first served. */
export class Semaphore {
  readonly #waiting = new Set<() => void>();
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
    return this.#waiting.size;
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
    if (this.#waiting.size >= this.#maxWaiting) return false;
    return new Promise((resolve) => {
      const settle = (isAcquired: boolean) => {
        clearTimeout(late);
        stopListening?.();
        this.#waiting.delete(proceed);
        resolve(isAcquired);
      };
      const proceed = () => settle(true);
      const giveUp = () => settle(false);
      // A timer cannot wait for an infinite time.
      const late = Number.isFinite(withinMs) ? setTimeout(giveUp, withinMs) : undefined;
      const stopListening = deadline?.onDisconnect(giveUp);
      this.#waiting.add(proceed);
    });
  }

  /** Hands the permit to the first caller in the queue. */
  release(): void {
    const [next] = this.#waiting;
    if (next) next();
    else this.#free += 1;
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
