import { setTimeout as delay } from 'node:timers/promises';
import { Client, wordsOf } from './client.ts';
import type { Refusal } from './writers.ts';

/** Clients that read until they are stopped, and count the reads that failed. */
export class Readers {
  done = 0;
  readonly refusals: Pick<Refusal, 'status' | 'words'>[] = [];
  readonly #running: Promise<void>[];
  #stopping = false;

  constructor(url: string, token: string, count: number) {
    this.#running = Array.from({ length: count }, () => this.#run(new Client(url, token)));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#running);
  }

  async #run(client: Client): Promise<void> {
    while (!this.#stopping) {
      const answer = await client.send({ path: '/v1/issues?page_size=5' }).catch(() => undefined);
      if (answer?.status === 200) this.done++;
      else this.refusals.push({ status: answer?.status ?? 0, words: answer ? wordsOf(answer) : 'no answer' });
      await delay(5);
    }
    client.close();
  }
}
