import { LRUCache } from 'lru-cache';

/** More refusals than this within the time make a caller's operations take turns. A client with a mistake makes fewer. */
const maxRefusals = 10;
const countedMs = 10_000;
const maxCallers = 1_000;

/** In the queue of turns, operations of these callers count as bodies of this size, so that two of them never have one turn. */
const turnBytes = 4_096;

/**
 * Counts the refused operations of each caller. Most refusals read nothing, so they are complete in the turn of the event loop in
 * which the request came, without ever waiting in the queue of requests. Many connections with operations whose refusal takes long, such
 * as those with fifty variables of the wrong type, would keep all others waiting. So callers with many refusals take turns.
 */
export class RefusedCallers {
  readonly #refusals = new LRUCache<string, { count: number }>({ max: maxCallers, ttl: countedMs });

  note(caller: string): void {
    const refusals = this.#refusals.get(caller);
    if (refusals) refusals.count += 1;
    else this.#refusals.set(caller, { count: 1 });
  }

  /** The size with which the next operation of this caller waits for a turn; undefined if it need not wait. */
  turnOf(caller: string, bodyBytes: number): number | undefined {
    const { count } = this.#refusals.get(caller) ?? { count: 0 };
    return count > maxRefusals ? Math.max(bodyBytes, turnBytes) : undefined;
  }
}
