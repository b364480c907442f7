/**
 * What the resolvers of an operation's roots gave in the compiled executor, by their keys in the answer. Where that has
 * to begin again, or graphql-js to go on, each gets what was given: a write that was done is not done again, and one
 * that failed fails as it did.
 */
export class RootResults {
  readonly #settled = new Map<string | number, PromiseSettledResult<unknown>>();

  /** Does the work, unless it was done before: how it ended is how it ends again. */
  async once(key: string | number, work: () => unknown): Promise<unknown> {
    let settled = this.#settled.get(key);
    if (!settled) {
      [settled] = await Promise.allSettled([(async () => work())()]);
      this.#settled.set(key, settled);
    }
    if (settled.status === 'rejected') throw settled.reason;
    return settled.value;
  }
}
