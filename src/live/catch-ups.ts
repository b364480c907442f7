interface WaitingStream {
  /** How many changes the stream is behind the end of its log. */
  readonly behind: number;
  readonly begin: () => void;
}

/**
 * Lets streams that are far behind the end of the log catch up: one read at a time, and then none for as long as it took, because
 * hundreds of clients that read slowly would delay all others. The stream that is least far behind reads first. So a client that
 * reads fast, and has fallen behind for a moment, does not wait for all the slow ones.
 */
export class CatchUps {
  readonly #waiting = new Set<WaitingStream>();
  #isBusy = false;

  async run<Result>(behind: number, read: () => Promise<Result>): Promise<Result> {
    await this.#waitInQueue(behind);
    const beganMs = performance.now();
    try {
      return await read();
    } finally {
      setTimeout(() => this.#next(), performance.now() - beganMs);
    }
  }

  async #waitInQueue(behind: number): Promise<void> {
    if (this.#isBusy) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.add({ behind, begin: resolve });
      return promise;
    }
    this.#isBusy = true;
  }

  #next(): void {
    let next: WaitingStream | undefined;
    for (const waiting of this.#waiting) if (!next || waiting.behind < next.behind) next = waiting;
    this.#isBusy = next !== undefined;
    if (!next) return;
    this.#waiting.delete(next);
    next.begin();
  }
}
