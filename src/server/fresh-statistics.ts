import type { Logger } from 'pino';
import type { Database } from '../db/engine/engine.ts';
import { analyzeStaleTable } from '../db/statistics.ts';

/**
 * Updates the planner's statistics of the embedded engine soon after writes, because it has no autovacuum. If the planner assumes
 * that the tables are empty, a nested filter can take minutes instead of a tenth of a second.
 */
export class FreshStatistics {
  readonly #database: Database;
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #delayMs: number;
  readonly #unsubscribe: readonly (() => void)[];
  #timer: NodeJS.Timeout | undefined;
  #check: Promise<void> = Promise.resolve();
  #isClosed = false;

  /** `delayMs` is the time from a write to the check, during which further writes cause no check of their own. */
  constructor(database: Database, logger: Pick<Logger, 'warn'>, delayMs = 1_000) {
    this.#database = database;
    this.#logger = logger;
    this.#delayMs = delayMs;
    const { writeSignals } = database;
    const checkSoon = () => this.#checkSoon();
    this.#unsubscribe = [
      writeSignals.subscribe('change', checkSoon),
      writeSignals.subscribe('reference', checkSoon),
    ];
    checkSoon();
  }

  /** Waits for the check in progress, and begins no other. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
    clearTimeout(this.#timer);
    await this.#check;
  }

  #checkSoon(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#check = this.#check.then(() => this.#analyze());
    }, this.#delayMs).unref();
  }

  async #analyze(): Promise<void> {
    try {
      // Requests come first between two tables.
      while (!this.#isClosed && (await analyzeStaleTable(this.#database.unscoped)));
    } catch (error) {
      this.#logger.warn({ err: error }, 'the statistics of the planner could not be updated');
    }
  }
}
