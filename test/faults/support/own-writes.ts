import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, type ClientRequest, Client } from './client.ts';
import type { World } from './world.ts';

/**
 * Clients that change one issue each, and read each change back with the `X-Workgraph-Consistency` of its answer. They repeat a request until
 * it succeeds, and stop on demand.
 */
export class OwnWrites {
  acknowledged = 0;
  reads = 0;
  /** Descriptions of the reads that did not show an acknowledged change. */
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
    const created = await sendUntilDone(client, {
      ...keyed(),
      method: 'POST',
      path: '/v1/issues',
      body: issue,
    });
    const path = `/v1/issues/${(JSON.parse(created.body) as { key: string }).key}`;
    while (!this.#over.signal.aborted) {
      const title = randomUUID();
      const written = await sendUntilDone(client, { ...keyed(), method: 'PATCH', path, body: { title } });
      this.acknowledged += 1;
      const seen = String(written.headers['x-workgraph-consistency']);
      const read = await sendUntilDone(client, { path, headers: { 'X-Workgraph-Consistency': seen } });
      this.reads += 1;
      if ((JSON.parse(read.body) as { title?: string }).title !== title)
        this.wrong.push(`after ${title}, which was acknowledged with ${seen}: ${read.body.slice(0, 200)}`);
    }
    client.close();
  }
}

function keyed(): Pick<ClientRequest, 'headers'> {
  return { headers: { 'Idempotency-Key': randomUUID() } };
}

/** Sends a request until it succeeds. */
async function sendUntilDone(client: Client, request: ClientRequest): Promise<Answer> {
  for (;;) {
    const answer = await client.send({ ...request, withinMs: 10_000 }).catch(() => undefined);
    if (answer && answer.status < 300) return answer;
    await delay(20);
  }
}
