import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import { meter } from '../../db/engine/meter.ts';

/** A caller whose synchronous operations took longer than this has to take turns. */
const maxMs = 100;
const countedMs = 10_000;
const maxCallers = 1_000;
/** Shorter operations need no turns: a client may send thousands of them in a second, and each turn waits for other requests. */
const minMs = 0.5;

/** How an operation counts in the queue of turns, where operations share a turn as long as they take two milliseconds together. */
const bytesOfMs = 1_024;

/**
 * The operations that wait for nothing: those that are refused, or whose fields fail before they read, or that show only what
 * is in memory. They are complete in the turn of the event loop in which they begin, so admission cannot limit how many follow each
 * other. A caller with many connections and an operation of some milliseconds would block the event loop for seconds. So when the
 * synchronous operations of a caller have taken long, they take turns from then on.
 */
export class SynchronousOperations {
  readonly #tookMs = new LRUCache<string, { ms: number }>({ max: maxCallers, ttl: countedMs });
  /** How long the last execution of a document took, if it was synchronous. */
  readonly #lastMs = new WeakMap<DocumentNode, number>();

  /** The size with which the caller's next operation has to wait for a turn; undefined if it need not wait. */
  turnOf(caller: string, document: DocumentNode): number | undefined {
    const lastMs = this.#lastMs.get(document) ?? 0;
    const { ms } = this.#tookMs.get(caller) ?? { ms: 0 };
    return lastMs > minMs && ms > maxMs ? Math.ceil(lastMs * bytesOfMs) : undefined;
  }

  /** Runs an operation, and counts its time if it is synchronous. */
  async measure<Result>(caller: string, document: DocumentNode, run: () => Promise<Result>): Promise<Result> {
    const beganMs = performance.now();
    const statementsBefore = meter()?.statements;
    let isSameTurn = true;
    const turn = setImmediate(() => {
      isSameTurn = false;
    });
    try {
      return await run();
    } finally {
      clearImmediate(turn);
      // The embedded engine may answer in the same turn.
      if (isSameTurn && meter()?.statements === statementsBefore)
        this.#note(caller, document, performance.now() - beganMs);
      else this.#lastMs.delete(document);
    }
  }

  #note(caller: string, document: DocumentNode, ms: number): void {
    this.#lastMs.set(document, ms);
    const took = this.#tookMs.get(caller);
    if (took) took.ms += ms;
    else this.#tookMs.set(caller, { ms });
  }
}
