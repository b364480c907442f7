import { Agent, request } from 'node:http';
import type { RawAnswer } from '../support/openapi.ts';

/** A request as it is sent: the target is already encoded, and the body is bytes. */
export interface Wire {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** Sends requests over keep-alive connections. fetch would take more processor time than the server. */
export class Client {
  readonly #url: URL;
  readonly #token: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 8 });

  constructor(url: string, token: string) {
    this.#url = new URL(url);
    this.#token = token;
  }

  send({ method, target, headers, body }: Wire): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          agent: this.#agent,
          host: this.#url.hostname,
          port: this.#url.port,
          method,
          path: target,
          headers: {
            Authorization: `Bearer ${this.#token}`,
            ...(body && { 'Content-Type': 'application/json', 'Content-Length': body.length }),
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const pairs = Object.entries(response.headers).flatMap(([name, value]) =>
              value === undefined ? [] : ([[name, [value].flat().join(', ')]] as [string, string][]),
            );
            const text = Buffer.concat(chunks).toString();
            resolve({ status: response.statusCode ?? 0, headers: new Headers(pairs), text });
          });
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
