import pg from 'pg';
import type { Generations } from './generations.ts';

export interface ListenerOptions {
  /** PostgreSQL itself. A pooler that lends connections by transaction passes no notifications on. */
  readonly url: string;
  /** The `application_name` of the connection. */
  readonly name: string;
  readonly channels: Channels;
  /** The connection is replaced with those of the pool: nothing notifies on an old primary. */
  readonly generations?: Pick<Generations, 'onNew'> | undefined;
  /** Called when the connection is lost or cannot be opened, and not again until it has worked in the meantime. */
  readonly onFailure: (error: unknown) => void;
}

/** What to do with the notifications of each channel, by the name of the channel. */
export type Channels = Readonly<Record<string, ChannelHandler>>;

export interface ChannelHandler {
  /** Called for each notification. */
  onNotification(payload: string): void;
  /** Called when notifications may have been missed: when listening begins, and when the connection is lost. */
  onGap(): void;
}

/** The interval of the statements that find out whether the connection still works. */
const pingMs = 10_000;
const answerWithinMs = 5_000;
const firstRetryMs = 500;
const lastRetryMs = 30_000;

/**
 * Listens on channels of PostgreSQL, over one database connection of its own that it reopens when it is lost. A
 * notification may be missed while there is no connection, so a handler must be able to catch up in `onGap`.
 */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #unsubscribe: (() => void) | undefined;
  #client: pg.Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #retryMs = firstRetryMs;
  #closed = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#unsubscribe = options.generations?.onNew(() => this.#replace());
    void this.#open();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#unsubscribe?.();
    clearTimeout(this.#timer);
    await this.#client?.end().catch(() => undefined);
  }

  async #open(): Promise<void> {
    const { url, name, channels } = this.#options;
    const client = new pg.Client({
      connectionString: url,
      application_name: name,
      connectionTimeoutMillis: answerWithinMs,
      query_timeout: answerWithinMs,
      keepAlive: true,
    });
    this.#client = client;
    client.on('notification', ({ channel, payload }) => {
      if (payload) channels[channel]?.onNotification(payload);
    });
    // A lost connection ends with both events, and fails its statement as well. The first of them counts.
    client.on('error', (error) => this.#reopen(client, error));
    client.on('end', () => this.#reopen(client, new Error('The connection was closed.')));
    try {
      await client.connect();
      for (const channel of Object.keys(channels))
        await client.query(`listen ${client.escapeIdentifier(channel)}`);
      this.#reportGap();
      this.#retryMs = firstRetryMs;
      this.#pingSoon(client);
    } catch (error) {
      this.#reopen(client, error);
    }
  }

  #reportGap(): void {
    for (const handler of Object.values(this.#options.channels)) handler.onGap();
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

  /**
   * Opens another connection at once. A gap is reported once it listens, because notifications may have been missed.
   */
  #replace(): void {
    const client = this.#client;
    if (client && this.#drop(client)) void this.#open();
  }

  /** Returns false if the connection was no longer in use anyway. */
  #drop(client: pg.Client): boolean {
    if (this.#closed || this.#client !== client) return false;
    this.#client = undefined;
    clearTimeout(this.#timer);
    client.end().catch(() => undefined);
    return true;
  }

  #reopen(client: pg.Client, error: unknown): void {
    if (!this.#drop(client)) return;
    this.#reportGap();
    if (this.#retryMs === firstRetryMs) this.#options.onFailure(error);
    this.#timer = setTimeout(() => void this.#open(), this.#retryMs).unref();
    this.#retryMs = Math.min(this.#retryMs * 2, lastRetryMs);
  }
}
