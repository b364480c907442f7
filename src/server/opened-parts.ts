/** What a server has opened, so that a start that fails half-way closes the same parts as a stop. */
export class OpenedParts {
  readonly #closing: (() => unknown)[] = [];

  /** Adds a part by the function that closes it. */
  add(close: () => unknown): void {
    this.#closing.push(close);
  }

  /** Closes all parts at once, also if one of them fails, and waits for those that take a while. Throws the first failure. */
  async close(): Promise<void> {
    const closed = await Promise.allSettled(this.#closing.splice(0).map(async (close) => close()));
    for (const outcome of closed) if (outcome.status === 'rejected') throw outcome.reason;
  }
}
