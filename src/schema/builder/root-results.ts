/**
 * The results of an operation's root resolvers, by their keys in the answer. If the compiled executor starts the
 * operation again, or graphql-js continues it, each root gets its first result: no write runs twice, and a root that
 * failed fails with the same error.
 */
export class RootResults {
  readonly #settled = new Map<string | number, PromiseSettledResult<unknown>>();

  /** Does the work the first time; later calls return the same value or throw the same error. */
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
