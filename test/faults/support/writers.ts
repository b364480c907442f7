import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, Client, wordsOf } from './client.ts';
import type { Ledger } from './ledger.ts';
import type { World } from './world.ts';

/** How long a client waits before it repeats a write. */
const retryMs = 25;

export interface WritersOptions {
  readonly url: string;
  readonly world: World;
  readonly ledger: Ledger;
  readonly count?: number;
  /** The timeout of one attempt; an attempt that takes longer counts as hung. */
  readonly withinMs?: number;
}

/** An attempt that was not acknowledged. */
export interface Refusal {
  /** 0 when the connection broke. */
  readonly status: number;
  readonly ms: number;
  readonly words: string;
}

interface Write {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly note: (answer: Answer) => void;
}

/**
 * Clients that write until they are stopped. Each write has an idempotency key of its own, under which it is repeated until it is
 * acknowledged.
 */
export class Writers {
  readonly ledger: Ledger;
  readonly world: World;
  /** Attempts that failed and were repeated. */
  readonly refusals: Refusal[] = [];
  /** Answers that a correct client must never receive. */
  readonly unexpected: string[] = [];
  /** The number of attempts that timed out. */
  hung = 0;
  /** The duration of the longest attempt that was answered. */
  longestMs = 0;
  readonly latencies: number[] = [];
  readonly #options: WritersOptions;
  readonly #running: Promise<void>[];
  readonly #waiting = new Set<() => void>();
  #stopping = false;

  constructor(options: WritersOptions) {
    this.#options = options;
    this.ledger = options.ledger;
    this.world = options.world;
    this.#running = Array.from({ length: options.count ?? 16 }, () => this.#run());
  }

  /** Waits for the next acknowledgement. */
  acknowledgement(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  /** Stops after the writes in progress, each of which is repeated until it is acknowledged. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#running);
  }

  async #run(): Promise<void> {
    const client = new Client(this.#options.url, this.world.token);
    while (!this.#stopping) {
      for (const write of this.#writes()) {
        await this.#sendUntilAcknowledged(client, write);
        if (this.#stopping) break;
      }
    }
    client.close();
  }

  /** Creates an issue, then comments on it and changes it several times. */
  *#writes(): Generator<Write> {
    const { ledger } = this;
    const title = `Issue ${randomUUID()}`;
    let key = '';
    yield {
      method: 'POST',
      path: '/v1/issues',
      body: { teamId: this.world.teamId, title, description: 'As made.', priority: 0 },
      note: ({ body }) => {
        ({ key } = JSON.parse(body) as { key: string });
        ledger.issues.set(title, 'As made.');
      },
    };
    for (let round = 0; round < 4; round++) {
      const comment = `Said ${randomUUID()}`;
      yield {
        method: 'POST',
        path: `/v1/issues/${key}/comments`,
        body: { body: comment },
        note: () => {
          ledger.comments.set(comment, title);
          ledger.noteEntry(title);
        },
      };
      const description = `Changed ${randomUUID()}`;
      yield {
        method: 'PATCH',
        path: `/v1/issues/${key}`,
        body: { description },
        note: () => {
          ledger.issues.set(title, description);
          ledger.noteEntry(title);
        },
      };
    }
  }

  async #sendUntilAcknowledged(client: Client, { method, path, body, note }: Write): Promise<void> {
    const { withinMs = 30_000 } = this.#options;
    const headers = { 'Idempotency-Key': randomUUID() };
    for (;;) {
      const began = performance.now();
      const answer = await client.send({ method, path, body, headers, withinMs }).catch((error: unknown) => {
        if (error instanceof Error && error.name === 'AbortError') this.hung++;
        return undefined;
      });
      const ms = performance.now() - began;
      if (answer) this.longestMs = Math.max(this.longestMs, ms);
      if (answer && answer.status < 300) {
        note(answer);
        this.latencies.push(ms);
        this.ledger.acknowledged++;
        for (const resolve of this.#waiting) resolve();
        this.#waiting.clear();
        return;
      }
      const words = answer ? wordsOf(answer) : 'no answer';
      this.refusals.push({ status: answer?.status ?? 0, ms, words });
      if (answer && !retryable.has(answer.status))
        this.unexpected.push(`${method} ${path}: ${answer.status} ${answer.body}`);
      await delay(retryMs);
    }
  }
}

/** The statuses after which a write is repeated: in progress, over the quota, unavailable, disk full. */
const retryable: ReadonlySet<number> = new Set([409, 429, 503, 507]);
