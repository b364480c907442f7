import { LRUCache } from 'lru-cache';

/** How long a refusal is remembered, and of how many callers. */
const rememberedMs = 10_000;
const maxCallers = 1_000;

/** In the queue of turns, operations of these callers count as bodies of this size, so that two of them never have one turn. */
const turnBytes = 4_096;

/**
 * The callers whose operations were refused lately. Most refusals read nothing, so they are complete in the turn of the event loop in
 * which the request came, without ever waiting in the queue of requests. Many connections with operations whose refusal takes long, such
 * as those with fifty variables of the wrong type, would keep all others waiting. So the next operations of these callers take turns.
 */
export class RefusedCallers {
  readonly #refused = new LRUCache<string, true>({ max: maxCallers, ttl: rememberedMs });

  note(caller: string): void {
    this.#refused.set(caller, true);
  }

  /** The size with which the next operation of this caller waits for a turn; undefined if it need not wait. */
  turnOf(caller: string, bodyBytes: number): number | undefined {
    return this.#refused.has(caller) ? Math.max(bodyBytes, turnBytes) : undefined;
  }
}
