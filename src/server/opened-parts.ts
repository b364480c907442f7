/** What a server has opened, so that a start that fails half-way closes the same parts as a stop. */
export class OpenedParts {
  readonly #closing: (() => unknown)[] = [];

  /** Adds a part by the function that closes it. */
  add(close: () => unknown): void {
    this.#closing.push(close);
  }

  /** Closes all parts at once, and waits for those that take a while. */
  async close(): Promise<void> {
    await Promise.all(this.#closing.splice(0).map((close) => close()));
  }
}
