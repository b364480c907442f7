import pg from 'pg';
import type { Generations } from './generations.ts';
import { isReadOnly } from './unavailable.ts';

const timeoutMs = 2_000;

/** One connection for probes, so that they do not depend on a free connection of the pool. */
export class Probe {
  readonly #pool: pg.Pool;
  readonly #generations: Generations;

  constructor(options: pg.PoolConfig, generations: Generations) {
    this.#generations = generations;
    this.#pool = new pg.Pool({
      ...options,
      max: 1,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
      idleTimeoutMillis: 0,
    });
    ignoreConnectionLoss(this.#pool);
  }

  /** Sends a statement, after those that were sent before. */
  async send(text: string, values: unknown[] = []): Promise<void> {
    const client = await this.#generations.lend(this.#pool);
    let failed = true;
    try {
      await client.query(text, values);
      failed = false;
    } catch (error) {
      // A standby refuses notifications, too.
      if (isReadOnly(error)) this.#generations.reportRefusedWrite(client);
      throw error;
    } finally {
      client.release(failed || this.#generations.isOld(client));
    }
  }

  end(): Promise<void> {
    return this.#pool.end();
  }
}

/** Keeps lost connections from ending the process: an 'error' event without listeners does that. */
export function ignoreConnectionLoss(pool: pg.Pool): void {
  pool.on('error', () => undefined);
  // The pool removes its own listener while a connection is lent.
  pool.on('connect', (client) => client.on('error', () => undefined));
}
