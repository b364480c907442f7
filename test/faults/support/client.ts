import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** What a server said, and how long it took to say it all. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly ms: number;
}

export interface Ask {
  readonly method?: string | undefined;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  /** After which nobody listens any more; a request that comes to that hangs. */
  readonly withinMs?: number | undefined;
}

/** One who asks a server, on connections that are kept open. */
export class Client {
  readonly #url: string;
  readonly #token: string | undefined;
  readonly #agent: Agent;

  constructor(url: string, token?: string, maxSockets = 1) {
    this.#url = url;
    this.#token = token;
    this.#agent = new Agent({ keepAlive: true, maxSockets });
  }

  /** Throws when the connection breaks or nothing comes in time. */
  ask({ method = 'GET', path, headers = {}, body, withinMs = 60_000 }: Ask): Promise<Answer> {
    const began = performance.now();
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const all: Record<string, string> = {
      ...(this.#token && { Authorization: `Bearer ${this.#token}` }),
      ...(payload !== undefined && {
        'Content-Type': 'application/json',
        'Content-Length': String(Buffer.byteLength(payload)),
      }),
      ...headers,
    };
    return new Promise((resolve, reject) => {
      const signal = AbortSignal.timeout(withinMs);
      const options = { method, headers: all, agent: this.#agent, signal };
      const sent = request(new URL(path, this.#url), options, (response) => {
        text(response).then((body) => {
          const { statusCode = 0, headers } = response;
          resolve({ status: statusCode, headers, body, ms: performance.now() - began });
        }, reject);
      });
      sent.on('error', reject);
      sent.end(payload);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** What an answer says in words where it refuses; whoever stands between may have words of his own. */
export function wordsOf({ body }: Pick<Answer, 'body'>): string {
  return (/"detail":"([^"]*)"/.exec(body)?.[1] ?? body).replaceAll(/\s+/g, ' ').slice(0, 120);
}
