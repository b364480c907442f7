import { Agent, type IncomingMessage, request } from 'node:http';
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

  /** Resolves with the answer. Of a stream, which does not end, it is the first piece, and the connection is closed. */
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
          const headers = headersOf(response);
          const chunks: Buffer[] = [];
          const end = () => {
            const text = Buffer.concat(chunks).toString();
            resolve({ status: response.statusCode ?? 0, headers, text });
          };
          response.on('data', (chunk: Buffer) => {
            chunks.push(chunk);
            if (!isStream({ headers })) return;
            end();
            response.destroy();
          });
          response.on('error', reject);
          response.on('end', end);
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

/** Whether an answer is a stream of events. */
export function isStream({ headers }: Pick<RawAnswer, 'headers'>): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true;
}

function headersOf(response: IncomingMessage): Headers {
  return new Headers(
    Object.entries(response.headers).flatMap(([name, value]) =>
      value === undefined ? [] : ([[name, [value].flat().join(', ')]] as [string, string][]),
    ),
  );
}
