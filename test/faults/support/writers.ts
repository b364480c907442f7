import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, Client, wordsOf } from './client.ts';
import type { Ledger } from './ledger.ts';
import type { World } from './world.ts';

/** How long a writer waits before it repeats a write. */
const againMs = 25;

export interface WritersOptions {
  readonly url: string;
  readonly world: World;
  readonly ledger: Ledger;
  readonly count?: number;
  /** How long one attempt may take; longer hangs. */
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
 * Writers who go on until they are stopped: each write under a key of its own, repeated under the same one until it
 * is acknowledged.
 */
export class Writers {
  readonly ledger: Ledger;
  readonly world: World;
  /** Attempts that were refused for now. */
  readonly refusals: Refusal[] = [];
  /** What nobody who writes like this should ever be told. */
  readonly unexpected: string[] = [];
  /** How many attempts nobody answered in time. */
  hung = 0;
  /** The longest attempt that was answered. */
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

  /** The next acknowledgement. */
  acknowledgement(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add(resolve));
  }

  /** Lets every write under way be acknowledged, however often it takes. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#running);
  }

  async #run(): Promise<void> {
    const client = new Client(this.#options.url, this.world.token);
    while (!this.#stopping) {
      for (const write of this.#story()) {
        await this.#insist(client, write);
        if (this.#stopping) break;
      }
    }
    client.close();
  }

  /** An issue, and what happens to it. */
  *#story(): Generator<Write> {
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
      const said = `Said ${randomUUID()}`;
      yield {
        method: 'POST',
        path: `/v1/issues/${key}/comments`,
        body: { body: said },
        note: () => {
          ledger.comments.set(said, title);
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

  async #insist(client: Client, { method, path, body, note }: Write): Promise<void> {
    const { withinMs = 30_000 } = this.#options;
    const headers = { 'Idempotency-Key': randomUUID() };
    for (;;) {
      const began = performance.now();
      const answer = await client.ask({ method, path, body, headers, withinMs }).catch((error: unknown) => {
        if (error instanceof Error && error.name === 'AbortError') this.hung++;
        return undefined;
      });
      const ms = performance.now() - began;
      if (answer) this.longestMs = Math.max(this.longestMs, ms);
      if (answer && answer.status < 300) {
        note(answer);
        this.latencies.push(ms);
        this.ledger.acknowledged++;
        for (const tell of this.#waiting) tell();
        this.#waiting.clear();
        return;
      }
      const words = answer ? wordsOf(answer) : 'no answer';
      this.refusals.push({ status: answer?.status ?? 0, ms, words });
      if (answer && !forNow.has(answer.status))
        this.unexpected.push(`${method} ${path}: ${answer.status} ${answer.body}`);
      await delay(againMs);
    }
  }
}

/** Told to come again: in progress, too much, not now, no room. */
const forNow: ReadonlySet<number> = new Set([409, 429, 503, 507]);
