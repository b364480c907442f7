import pg from 'pg';

export interface ListenerOptions {
  /** PostgreSQL itself: through a pooler that lends connections by transaction, nothing would be heard. */
  readonly url: string;
  /** What PostgreSQL calls the connection. */
  readonly name: string;
  /** The reference data of a workspace changed, or what its tokens may do. */
  readonly onChange: (workspaceId: string) => void;
  /** Changes may have gone by unheard: at the start, and after each connection that was lost. */
  readonly onGap: () => void;
  /** Once for each time that it begins to fail. */
  readonly onFailure: (error: unknown) => void;
}

const channel = 'workgraph_reference';
/** How often the connection is tried, so that one that is half open is found out. */
const pingMs = 10_000;
const answerWithinMs = 5_000;
const firstRetryMs = 500;
const lastRetryMs = 30_000;

/**
 * Hears of changes as other processes commit them, on a connection of its own. It makes them seen sooner and is
 * needed for nothing else: what is not heard is found when the lease of the reference data ends.
 */
export class ReferenceListener {
  readonly #options: ListenerOptions;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #retryMs = firstRetryMs;
  #closed = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    void this.#open();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#client?.end().catch(() => undefined);
  }

  async #open(): Promise<void> {
    const { url, name, onChange, onGap } = this.#options;
    const client = new pg.Client({
      connectionString: url,
      application_name: name,
      connectionTimeoutMillis: answerWithinMs,
      query_timeout: answerWithinMs,
      keepAlive: true,
    });
    this.#client = client;
    client.on('notification', ({ payload }) => {
      if (payload) onChange(payload);
    });
    // Ends with the same as a failed statement: whichever comes first.
    client.on('error', (error) => this.#reopen(client, error));
    client.on('end', () => this.#reopen(client, new Error('The connection was closed.')));
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
      onGap();
      this.#retryMs = firstRetryMs;
      this.#pingSoon(client);
    } catch (error) {
      this.#reopen(client, error);
    }
  }

  #pingSoon(client: pg.Client): void {
    if (this.#closed || this.#client !== client) return;
    this.#timer = setTimeout(() => {
      client.query('select 1').then(
        () => this.#pingSoon(client),
        (error: unknown) => this.#reopen(client, error),
      );
    }, pingMs).unref();
  }

  #reopen(client: pg.Client, error: unknown): void {
    if (this.#closed || this.#client !== client) return;
    this.#client = undefined;
    clearTimeout(this.#timer);
    client.end().catch(() => undefined);
    this.#options.onGap();
    if (this.#retryMs === firstRetryMs) this.#options.onFailure(error);
    this.#timer = setTimeout(() => void this.#open(), this.#retryMs).unref();
    this.#retryMs = Math.min(this.#retryMs * 2, lastRetryMs);
  }
}
