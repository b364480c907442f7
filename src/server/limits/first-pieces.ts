import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';

/** A caller whose first pieces took longer than this in total has to take turns. */
const maxMs = 100;
const countedMs = 10_000;
const maxCallers = 1_000;
/**
 * Shorter pieces do not count: a client may send thousands of such operations in a second, and each turn waits for other
 * requests.
 */
const minMs = 0.5;

/**
 * The queue of turns measures work in bytes of a document, and lets 2,048 bytes, which take about two milliseconds, share a turn. A
 * millisecond of a first piece counts as this many bytes.
 */
const bytesOfMs = 1_024;

/**
 * The first pieces of operations: what they do before they wait for the first time, which is all they do if they are refused, fail
 * before they read, or show only what is in memory. An operation begins in the turn of the event loop in which it arrives, so
 * admission cannot limit how many first pieces follow each other. A caller with many connections and pieces of some milliseconds would
 * block the event loop for seconds. So when the first pieces of a caller have taken long, its operations take turns.
 */
export class FirstPieces {
  readonly #tookMs = new LRUCache<string, { ms: number }>({ max: maxCallers, ttl: countedMs });
  /** How long the last first piece of a document took, if it was long. */
  readonly #lastMs = new WeakMap<DocumentNode, number>();

  /** The size with which the caller's next operation has to wait for a turn; undefined if it need not wait. */
  turnOf(caller: string, document: DocumentNode): number | undefined {
    const lastMs = this.#lastMs.get(document);
    const { ms } = this.#tookMs.get(caller) ?? { ms: 0 };
    return lastMs !== undefined && ms > maxMs ? Math.ceil(lastMs * bytesOfMs) : undefined;
  }

  /** Runs an operation, and counts the time of its first piece. */
  measure<Result>(caller: string, document: DocumentNode, run: () => Promise<Result>): Promise<Result> {
    const beganMs = performance.now();
    // Within a promise callback, `nextTick` waits for all promises that are resolved already. What is left then waits for something else.
    process.nextTick(() => this.#note(caller, document, performance.now() - beganMs));
    return run();
  }

  #note(caller: string, document: DocumentNode, ms: number): void {
    if (ms <= minMs) {
      this.#lastMs.delete(document);
      return;
    }
    this.#lastMs.set(document, ms);
    const took = this.#tookMs.get(caller);
    if (took) took.ms += ms;
    else this.#tookMs.set(caller, { ms });
  }
}
