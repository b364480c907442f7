import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';

/** The ways to follow the log of changes. */
const ways = ['poll', 'stream', 'subscription', 'socket'] as const;
type Way = (typeof ways)[number];

/** How long one way is followed before another one is taken. */
const turnMs = () => 200 + Math.random() * 1_300;
const againMs = 50;

interface FollowersOptions {
  /** Servers, of which one is taken at random each time. */
  readonly urls: readonly string[];
  readonly token: string;
  /** The cursor to begin after. */
  readonly cursor: string;
}

/**
 * A client that follows the log of changes, and goes from one way and one server to another with nothing but its cursor. It may see
 * everything, so positions have no gaps for it.
 */
export class Follower {
  /** The ids of changes by their positions. */
  readonly seen = new Map<number, string>();
  /** What should not be: gaps, positions that come again, other changes at the same position. */
  readonly wrong: string[] = [];
  /** How often it has changed its way, and how often it was told to read its lists again. */
  readonly counts = { turns: 0, refused: 0, expired: 0 };
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
      const way = pick(ways);
      this.counts.turns += 1;
      try {
        await this.#turn(pick(urls), way);
      } catch {
        this.counts.refused += 1;
        await delay(againMs);
      }
    }
  }

  async #turn(url: string, way: Way): Promise<void> {
    if (way === 'socket') return this.#overSocket(url);
    const signal = AbortSignal.timeout(turnMs());
    const headers = { Authorization: `Bearer ${this.#options.token}` };
    if (way === 'poll') {
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
    const response = await (way === 'stream'
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
      // Its turn is over, or the server is gone: it goes on from its cursor.
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
    const over = setTimeout(() => void answers.return?.(), turnMs());
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
          const told = JSON.parse(data) as Change & { data?: { changes: Change }; errors?: unknown };
          if (told.errors) this.wrong.push(`an event has errors: ${data}`);
          else this.#note(told.data?.changes ?? told);
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

function pick<Item>(items: readonly [Item, ...Item[]] | readonly Item[]): Item {
  return items[Math.floor(Math.random() * items.length)] as Item;
}
