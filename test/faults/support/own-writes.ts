import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, type Ask, Client } from './client.ts';
import type { World } from './world.ts';

/**
 * Clients that change one issue each, and read each change back with the `X-Workgraph-Consistency` of its answer. They repeat what is not
 * answered, until they are stopped.
 */
export class OwnWrites {
  acknowledged = 0;
  reads = 0;
  /** What was read although it had been changed before. */
  readonly wrong: string[] = [];
  readonly #url: string;
  readonly #world: World;
  readonly #over = new AbortController();
  readonly #running: Promise<void>[];

  constructor(url: string, world: World, count: number) {
    this.#url = url;
    this.#world = world;
    this.#running = Array.from({ length: count }, () => this.#run());
  }

  async stop(): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#running);
  }

  async #run(): Promise<void> {
    const { token, teamId } = this.#world;
    const client = new Client(this.#url, token);
    const issue = { teamId, title: randomUUID(), description: '', priority: 0 };
    const created = await answered(client, { ...keyed(), method: 'POST', path: '/v1/issues', body: issue });
    const path = `/v1/issues/${(JSON.parse(created.body) as { key: string }).key}`;
    while (!this.#over.signal.aborted) {
      const title = randomUUID();
      const written = await answered(client, { ...keyed(), method: 'PATCH', path, body: { title } });
      this.acknowledged += 1;
      const seen = String(written.headers['x-workgraph-consistency']);
      const read = await answered(client, { path, headers: { 'X-Workgraph-Consistency': seen } });
      this.reads += 1;
      if ((JSON.parse(read.body) as { title?: string }).title !== title)
        this.wrong.push(`after ${title}, which was acknowledged with ${seen}: ${read.body.slice(0, 200)}`);
    }
    client.close();
  }
}

function keyed(): Pick<Ask, 'headers'> {
  return { headers: { 'Idempotency-Key': randomUUID() } };
}

/** Sends a request until it succeeds. */
async function answered(client: Client, ask: Ask): Promise<Answer> {
  for (;;) {
    const answer = await client.ask({ ...ask, withinMs: 10_000 }).catch(() => undefined);
    if (answer && answer.status < 300) return answer;
    await delay(20);
  }
}
