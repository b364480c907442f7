import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { text } from 'node:stream/consumers';

/** An HTTP response, and the time until it was complete. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly ms: number;
}

export interface ClientRequest {
  readonly method?: string | undefined;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  /** The timeout; a request that takes longer counts as hung. */
  readonly withinMs?: number | undefined;
}

/** A client with keep-alive connections. */
export class Client {
  readonly #url: string;
  readonly #token: string | undefined;
  readonly #agent: Agent;

  constructor(url: string, token?: string, maxSockets = 1) {
    this.#url = url;
    this.#token = token;
    this.#agent = new Agent({ keepAlive: true, maxSockets });
  }

  /** Sends a request; throws if the connection breaks or there is no answer in time. */
  send({ method = 'GET', path, headers = {}, body, withinMs = 60_000 }: ClientRequest): Promise<Answer> {
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

/** The `detail` of an error, or the beginning of the body if it has none, such as the page of a proxy. */
export function wordsOf({ body }: Pick<Answer, 'body'>): string {
  return (/"detail":"([^"]*)"/.exec(body)?.[1] ?? body).replaceAll(/\s+/g, ' ').slice(0, 120);
}
