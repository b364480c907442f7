import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { chance } from './chance.ts';

/** The transports by which a client can follow the log of changes. */
const transports = ['poll', 'stream', 'subscription', 'socket'] as const;
type Transport = (typeof transports)[number];

/** How long a client stays with one transport. */
const durationMs = () => 200 + chance.fraction() * 1_300;
const retryMs = 50;

interface FollowersOptions {
  /** Servers, one of which is chosen at random each time. */
  readonly urls: readonly string[];
  readonly token: string;
  /** The cursor to begin after. */
  readonly cursor: string;
}

/**
 * A client that follows the log of changes and switches between transports and servers, continuing from its cursor. It may read all
 * changes, so it must see positions without gaps.
 */
export class Follower {
  /** The ids of changes by their positions. */
  readonly seen = new Map<number, string>();
  /** Errors: gaps, repeated positions, different changes at the same position. */
  readonly wrong: string[] = [];
  /** How often it switched, how often it was refused, and how often its cursor was too old. */
  readonly counts = { switches: 0, refused: 0, expired: 0 };
  readonly #options: FollowersOptions;
  readonly #running: Promise<void>;
  #cursor: string;
  #last: number;
  #isStopping = false;

  constructor(options: FollowersOptions) {
    this.#options = options;
    this.#cursor = options.cursor;
    this.#last = Number(options.cursor.split('-')[1]);
    this.#running = this.#run();
  }

  get position(): number {
    return this.#last;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    const { urls } = this.#options;
    while (!this.#isStopping) {
      const transport = chance.pick(transports);
      this.counts.switches += 1;
      try {
        await this.#follow(chance.pick(urls), transport);
      } catch {
        this.counts.refused += 1;
        await delay(retryMs);
      }
    }
  }

  async #follow(url: string, transport: Transport): Promise<void> {
    if (transport === 'socket') return this.#overSocket(url);
    const signal = AbortSignal.timeout(durationMs());
    const headers = { Authorization: `Bearer ${this.#options.token}` };
    if (transport === 'poll') {
      const response = await fetch(`${url}/v1/changes?page_size=50&wait=1&cursor=${this.#cursor}`, {
        headers,
      });
      this.#require(response);
      const { results, cursor } = (await response.json()) as { results: Change[]; cursor: string };
      for (const change of results) this.#note(change);
      this.#cursor = cursor;
      return;
    }
    const events = { ...headers, Accept: 'text/event-stream', 'Last-Event-ID': this.#cursor };
    const response = await (transport === 'stream'
      ? fetch(`${url}/v1/changes`, { headers: events, signal })
      : fetch(`${url}/graphql`, {
          method: 'POST',
          headers: { ...events, 'Content-Type': 'application/json' },
          body: JSON.stringify({ query: 'subscription { changes { id position } }' }),
          signal,
        }));
    this.#require(response);
    try {
      await this.#read(response);
    } catch (error) {
      // Its time is over, or the server has ended: it continues from its cursor.
      if (!signal.aborted) this.counts.refused += 1;
      if (error instanceof SyntaxError) this.wrong.push(`an event cannot be read: ${error.message}`);
    }
  }

  async #overSocket(url: string): Promise<void> {
    const client = createClient({
      url: `${url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { Authorization: `Bearer ${this.#options.token}` },
      retryAttempts: 0,
    });
    const query = 'subscription ($after: String) { changes(after: $after) { id position cursor } }';
    const answers = client.iterate<{ changes: Change & { cursor: string } }>({
      query,
      variables: { after: this.#cursor },
    });
    const over = setTimeout(() => void answers.return?.(), durationMs());
    try {
      for await (const { data, errors } of answers) {
        if (errors) this.wrong.push(`an event has errors: ${JSON.stringify(errors)}`);
        if (!data) continue;
        this.#note(data.changes);
        this.#cursor = data.changes.cursor;
      }
    } finally {
      clearTimeout(over);
      await client.dispose();
    }
  }

  #require(response: Response): void {
    if (response.status === 410) this.counts.expired += 1;
    if (response.ok) return;
    void response.body?.cancel();
    throw new Error(`${response.status}`);
  }

  async #read({ body }: Response): Promise<void> {
    let text = '';
    const decoder = new TextDecoder();
    for await (const bytes of body ?? []) {
      text += decoder.decode(bytes, { stream: true });
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const lines = event.split('\n');
        const data = lines.find((line) => line.startsWith('data: '))?.slice('data: '.length);
        if (data !== undefined) {
          const message = JSON.parse(data) as Change & { data?: { changes: Change }; errors?: unknown };
          if (message.errors) this.wrong.push(`an event has errors: ${data}`);
          else this.#note(message.data?.changes ?? message);
        }
        this.#cursor = lines.find((line) => line.startsWith('id: '))?.slice('id: '.length) ?? this.#cursor;
      }
    }
  }

  #note({ id, position }: Change): void {
    const at = Number(position);
    if (at !== this.#last + 1) this.wrong.push(`position ${at} came after ${this.#last}`);
    this.seen.set(at, id);
    this.#last = at;
  }
}

interface Change {
  readonly id: string;
  readonly position: string;
}
