import { ShortLivedMap } from './short-lived-map.ts';

/**
 * Runs work of one key one after the other, and work of different keys at the same time. Writes that would wait for
 * each other's locks in the database wait here instead, where they hold no connection.
 */
export class SerialQueue {
  readonly #tails = new ShortLivedMap<Promise<unknown>>();

  /** Runs the work after all earlier work of the key, whether that succeeded or failed. */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#tails.get(key);
    const tail = before ? before.then(work, work) : work();
    this.#tails.set(key, tail);
    try {
      return await tail;
    } finally {
      this.#leave(key, tail);
    }
  }

  isBusy(key: string): boolean {
    return this.#tails.has(key);
  }

  /**
   * Makes later work of the key wait until the promise is settled. Returns a function that ends the hold; undefined if
   * the key is busy.
   */
  tryHold(key: string, until: Promise<void>): (() => void) | undefined {
    if (this.isBusy(key)) return undefined;
    this.#tails.set(key, until);
    return () => this.#leave(key, until);
  }

  #leave(key: string, tail: Promise<unknown>): void {
    if (this.#tails.get(key) === tail) this.#tails.delete(key);
  }
}

/** The serial keys that writes of different kinds share. */
export const serialKeys = {
  /** The numbers of a team's issues. */
  numbers: (workspaceId: string, teamId: string) => `numbers ${workspaceId} ${teamId}`,
  /**
   * An issue, by the key or id that the client sent. A write that names it by the other one waits for its lock in the
   * database.
   */
  issue: (workspaceId: string, keyOrId: string) => `issue ${workspaceId} ${keyOrId.toUpperCase()}`,
  /** The parents of issues. */
  parents: (workspaceId: string) => `parents ${workspaceId}`,
};
