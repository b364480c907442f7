import pg from 'pg';

/** A statement that is sent repeatedly, and that a server answers with one row of texts. */
interface WatchOptions<Seen> {
  readonly url: string;
  readonly name: string;
  readonly text: string;
  readonly read: (row: Record<string, string | null>) => Seen;
  /** `startedMs` is when the statement was sent. */
  readonly onSeen: (seen: Seen, startedMs: number) => void;
  /** Called when the connection is lost or cannot be opened, at each attempt. */
  readonly onLost: (error: unknown) => void;
}

/** How often a server is polled. */
export const pollIntervalMs = 100;
/** A server that takes longer to answer counts as lost. */
const answerTimeoutMs = 500;
const connectTimeoutMs = 2_000;
const retryMs = 500;

/**
 * Polls the position of a server, over a connection of its own. A restart of the server breaks the connection at once,
 * so no position from before it is used.
 */
export class PositionWatch<Seen> {
  readonly #options: WatchOptions<Seen>;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: WatchOptions<Seen>) {
    this.#options = options;
    void this.#open();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#client?.end().catch(() => undefined);
  }

  /** Opens another connection soon: the host name may resolve to another server by then. */
  reopen(): void {
    if (this.#client) this.#lose(this.#client, new Error('The primary takes no writes.'));
  }

  async #open(): Promise<void> {
    const { url, name } = this.#options;
    const client = new pg.Client({
      connectionString: url,
      application_name: name,
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: answerTimeoutMs,
      keepAlive: true,
      types: { getTypeParser: () => String },
    });
    this.#client = client;
    client.on('error', (error) => this.#lose(client, error));
    client.on('end', () => this.#lose(client, new Error('The connection was closed.')));
    try {
      await client.connect();
      await this.#poll(client);
    } catch (error) {
      this.#lose(client, error);
    }
  }

  async #poll(client: pg.Client): Promise<void> {
    if (this.#client !== client || this.#isClosed) return;
    const startedMs = performance.now();
    try {
      const { rows } = await client.query<Record<string, string | null>>(this.#options.text);
      const [row] = rows;
      if (this.#client !== client || !row) return;
      this.#options.onSeen(this.#options.read(row), startedMs);
      this.#timer = setTimeout(() => void this.#poll(client), pollIntervalMs).unref();
    } catch (error) {
      this.#lose(client, error);
    }
  }

  #lose(client: pg.Client, error: unknown): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    clearTimeout(this.#timer);
    client.end().catch(() => undefined);
    if (this.#isClosed) return;
    this.#options.onLost(error);
    this.#timer = setTimeout(() => void this.#open(), retryMs).unref();
  }
}
