interface FairPermitLimits {
  /** How many may wait in all, and of one group. */
  readonly maxWaiting: number;
  readonly maxOfGroup: number;
}

/** One permit for all. Groups of callers get it in turn, so that one group cannot keep another waiting by its number. */
export class FairPermit {
  readonly #limits: FairPermitLimits;
  /** Those who wait, by group, in the order in which the groups have their turn. */
  readonly #lines = new Map<string, (() => void)[]>();
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
      this.#passOn();
    }
  }

  #wait(group: string, refuse: () => never): Promise<void> {
    const line = this.#lines.get(group) ?? [];
    if (this.#waiting >= this.#limits.maxWaiting || line.length >= this.#limits.maxOfGroup) refuse();
    const { promise, resolve } = Promise.withResolvers<void>();
    line.push(resolve);
    this.#lines.set(group, line);
    this.#waiting += 1;
    return promise;
  }

  #passOn(): void {
    const [first] = this.#lines;
    if (!first) {
      this.#isHeld = false;
      return;
    }
    const [group, [begin, ...others]] = first;
    // The rest of the group waits behind all other groups.
    this.#lines.delete(group);
    if (others.length > 0) this.#lines.set(group, others);
    this.#waiting -= 1;
    begin?.();
  }
}
