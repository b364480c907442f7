import type pg from 'pg';

/**
 * The minimum time between two generations, which limits how often connections to a primary that stays read-only are
 * replaced.
 */
const minIntervalMs = 1_000;

/**
 * The generations of the connections to a server. Connections to an old primary may stay open after a failover,
 * although it takes no more writes. So a write that it refuses begins a new generation: no older connection is used
 * again, and new ones reach the server to which the name or the proxy points by then. Reads need this too: an old
 * primary answers them without an error.
 */
export class Generations {
  readonly #listeners = new Set<() => void>();
  /** The generation in which opening a connection began, or an older one. */
  readonly #generationOf = new WeakMap<pg.PoolClient, number>();
  #current = 0;
  #beganMs = Number.NEGATIVE_INFINITY;
  #beginTimer: NodeJS.Timeout | undefined;

  /** Lends a new connection, or one of the current generation, and closes the older ones that it finds. */
  async lend(pool: pg.Pool): Promise<pg.PoolClient> {
    for (;;) {
      const generation = this.#current;
      const client = await pool.connect();
      if (!this.#generationOf.has(client)) {
        this.#generationOf.set(client, generation);
        return client;
      }
      if (!this.isOld(client)) return client;
      client.release(true);
    }
  }

  isOld(client: pg.PoolClient): boolean {
    return this.#generationOf.get(client) !== this.#current;
  }

  /** To be called when a write was refused on this connection because its server takes none. */
  reportRefusedWrite(client: pg.PoolClient): void {
    if (this.isOld(client) || this.#beginTimer) return;
    const pauseMs = this.#beganMs + minIntervalMs - performance.now();
    if (pauseMs <= 0) return this.#begin();
    // Another generation begins even without a later refusal: when new connections lead to the new primary, writes
    // succeed, and idle connections of this generation would stay at the old one.
    this.#beginTimer = setTimeout(() => this.#begin(), pauseMs).unref();
  }

  /** Calls the listener when a generation begins. Returns a function that removes the listener. */
  onNew(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #begin(): void {
    this.#beginTimer = undefined;
    this.#beganMs = performance.now();
    this.#current += 1;
    for (const listener of this.#listeners) listener();
  }
}
