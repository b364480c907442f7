import type { Deadline } from './deadline.ts';

/** How long a caller waits for a permit: without limit if neither `withinMs` nor `deadline` is set. */
export interface Wait {
  readonly withinMs?: number | undefined;
  /** The caller leaves the queue when this request is aborted. */
  readonly deadline?: Deadline | undefined;
  /** For whom the permit is; by default for the caller alone. `release` has to name the same. */
  readonly holder?: object | undefined;
}

/**
 * A number of permits. Callers that find none free wait: the next permit goes to the holder with the fewest permits, and
 * among equal holders to the one that was served least recently. So a request with many statements does not keep others
 * waiting for all of them.
 */
export class Semaphore {
  /** The waiting callers by their holders; the holder that was served least recently comes first. */
  readonly #queues = new Map<object, Set<() => void>>();
  readonly #held = new WeakMap<object, number>();
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
  tryAcquire(holder?: object): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    this.#hold(holder, 1);
    return true;
  }

  /** Returns whether a permit was acquired: not when the queue is full, the time is up or the request was aborted. */
  async acquire({ withinMs = Number.POSITIVE_INFINITY, deadline, holder }: Wait = {}): Promise<boolean> {
    if (this.tryAcquire(holder)) return true;
    if (this.#waiting >= this.#maxWaiting) return false;
    return new Promise((resolve) => {
      const queue = holder ?? {};
      const settle = (isAcquired: boolean) => {
        clearTimeout(timer);
        stopListening?.();
        this.#dequeue(queue, proceed);
        resolve(isAcquired);
      };
      const proceed = () => {
        this.#hold(holder, 1);
        settle(true);
      };
      const giveUp = () => settle(false);
      // A timer cannot wait for an infinite time.
      const timer = Number.isFinite(withinMs) ? setTimeout(giveUp, withinMs) : undefined;
      const stopListening = deadline?.onDisconnect(giveUp);
      this.#enqueue(queue, proceed);
    });
  }

  /** Hands the permit to the next caller. */
  release(holder?: object): void {
    this.#hold(holder, -1);
    const next = this.#next();
    if (!next) {
      this.#free += 1;
      return;
    }
    const [waiting, callers] = next;
    this.#queues.delete(waiting);
    this.#queues.set(waiting, callers);
    const [first] = callers;
    first?.();
  }

  #next(): [object, Set<() => void>] | undefined {
    let next: [object, Set<() => void>] | undefined;
    let fewest = Number.POSITIVE_INFINITY;
    for (const entry of this.#queues) {
      const held = this.#held.get(entry[0]) ?? 0;
      if (held < fewest) [next, fewest] = [entry, held];
      if (held === 0) break;
    }
    return next;
  }

  #hold(holder: object | undefined, permits: number): void {
    if (holder) this.#held.set(holder, (this.#held.get(holder) ?? 0) + permits);
  }

  #enqueue(queue: object, caller: () => void): void {
    const callers = this.#queues.get(queue) ?? new Set();
    this.#queues.set(queue, callers.add(caller));
    this.#waiting += 1;
  }

  #dequeue(queue: object, caller: () => void): void {
    const callers = this.#queues.get(queue);
    if (!callers?.delete(caller)) return;
    this.#waiting -= 1;
    if (callers.size === 0) this.#queues.delete(queue);
  }

  /** Runs `work` with a permit; calls `refuse`, which throws, when none was acquired. A wait without a limit needs no `refuse`. */
  async run<Result>(work: () => Promise<Result>, refuse = refuseUnexpectedly, wait?: Wait): Promise<Result> {
    if (!(await this.acquire(wait))) refuse();
    try {
      return await work();
    } finally {
      this.release(wait?.holder);
    }
  }
}

function refuseUnexpectedly(): never {
  throw new Error('A permit was refused although the wait has no limit.');
}
