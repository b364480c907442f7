import { LRUCache } from 'lru-cache';

/** A caller with more refusals than this within `countedMs` has to take turns. A client with one mistake in it has fewer. */
const maxRefusals = 10;
const countedMs = 10_000;
const maxCallers = 1_000;

/** The size of these callers' operations in the queue of turns: too large for two of them to share a turn. */
const turnBytes = 4_096;

/**
 * Counts the refused operations of each caller. Refusing an operation usually needs no data, so it happens in the turn of the event
 * loop in which the request arrives, and admission cannot limit how many are refused at once. If each takes milliseconds, such as an
 * operation with fifty variables of the wrong type, a caller with many connections blocks the event loop. So callers with many
 * refusals have to take turns.
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
