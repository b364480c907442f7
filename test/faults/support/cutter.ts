import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, Client } from './client.ts';
import type { Write } from './every-write.ts';
import type { Trial } from './fault.ts';
import type { Cut, Proxy } from './proxy.ts';

/** Sends a write whose connection to PostgreSQL is cut, and repeats it until it is done. */
export class Cutter {
  refused = 0;
  survived = 0;
  readonly #trial: Trial;
  readonly #client: Client;
  readonly #proxy: Proxy;

  constructor(trial: Trial, client: Client, proxy: Proxy) {
    this.#trial = trial;
    this.#client = client;
    this.#proxy = proxy;
  }

  /** Sends the write, and returns whether it reached the statement to cut at. */
  async cut(write: Write, at: Cut): Promise<boolean> {
    const headers: Record<string, string> = write.takesKey ? { 'Idempotency-Key': randomUUID() } : {};
    const send = () => this.#client.send({ method: 'POST', path: '/graphql', body: write.body, headers });
    const { happened } = this.#proxy.cutAt(at);
    let answer = await send();
    this.#proxy.passAll();
    const first = outcomeOf(answer);
    if (happened()) {
      if (first === 'done') this.survived++;
      else this.refused++;
    }
    const point = `${write.name}, ${at.when} statement ${at.statement}`;
    if (first === 'wrong') this.#trial.must(false, `${point}: ${answer.status} ${answer.body.slice(0, 300)}`);
    for (let attempt = 0; outcomeOf(answer) === 'later' && attempt < 100; attempt++) {
      if (!write.takesKey) break;
      await delay(10);
      answer = await send();
    }
    const last = outcomeOf(answer);
    if (last !== 'done' && write.takesKey)
      this.#trial.must(false, `${point}, repeated: ${answer.status} ${answer.body.slice(0, 300)}`);
    return happened();
  }
}

/** GraphQL reports errors in the body, whatever the status. */
function outcomeOf({ status, body }: Answer): 'done' | 'later' | 'wrong' {
  if (body.includes('"code":"UNAVAILABLE"') || body.includes('"code":"CONFLICT"') || status === 503)
    return 'later';
  return status === 200 && !body.includes('"errors"') ? 'done' : 'wrong';
}
