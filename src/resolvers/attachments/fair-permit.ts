interface FairPermitLimits {
  /** How many callers may wait in all, and how many of one group. */
  readonly maxWaiting: number;
  readonly maxWaitingPerGroup: number;
}

/**
 * A semaphore with one permit. The groups of its callers get the permit in turn, so that a group with many callers does
 * not keep the others waiting.
 */
export class FairPermit {
  readonly #limits: FairPermitLimits;
  /** The waiting callers by group, in the order in which the groups have their turns. */
  readonly #queues = new Map<string, (() => void)[]>();
  #waiting = 0;
  #isHeld = false;

  constructor(limits: FairPermitLimits) {
    this.#limits = limits;
  }

  /** Runs `work` with the permit; calls `refuse`, which throws, when too many wait. */
  async run<Result>(group: string, work: () => Promise<Result>, refuse: () => never): Promise<Result> {
    if (this.#isHeld) await this.#wait(group, refuse);
    this.#isHeld = true;
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  #wait(group: string, refuse: () => never): Promise<void> {
    const queue = this.#queues.get(group) ?? [];
    if (this.#waiting >= this.#limits.maxWaiting || queue.length >= this.#limits.maxWaitingPerGroup) refuse();
    const { promise, resolve } = Promise.withResolvers<void>();
    queue.push(resolve);
    this.#queues.set(group, queue);
    this.#waiting += 1;
    return promise;
  }

  #release(): void {
    const [first] = this.#queues;
    if (!first) {
      this.#isHeld = false;
      return;
    }
    const [group, [resume, ...others]] = first;
    // The rest of the group waits behind all other groups.
    this.#queues.delete(group);
    if (others.length > 0) this.#queues.set(group, others);
    this.#waiting -= 1;
    resume?.();
  }
}
