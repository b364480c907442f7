import { LRUCache } from 'lru-cache';

/** How long a token reads from the primary after its last write, if it does not send back the position of the write. */
const stickyMs = 2_000;
const maxTokens = 100_000;

/** The tokens that have just written, here or at other processes. */
export class RecentWrites {
  readonly #listeners: ((tokenId: string) => void)[] = [];
  readonly #tokens = new LRUCache<string, true>({ max: maxTokens, ttl: stickyMs });

  /** Calls the listener with the id of each token that writes here. */
  onNote(listener: (tokenId: string) => void): void {
    this.#listeners.push(listener);
  }

  /** Notes a write that begins or ends; at the beginning too, so that other processes know of it before its end. */
  note(tokenId: string): void {
    this.#tokens.set(tokenId, true);
    for (const listener of this.#listeners) listener(tokenId);
  }

  noteElsewhere(tokenId: string): void {
    this.#tokens.set(tokenId, true);
  }

  has(tokenId: string): boolean {
    return this.#tokens.has(tokenId);
  }
}
