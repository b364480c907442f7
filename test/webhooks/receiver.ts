import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received message. */
export interface ReceivedMessage {
  readonly id: string;
  readonly type: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly data: Record<string, unknown>;
  readonly status: number;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** All messages so far, including those that were refused. */
  readonly messages: readonly ReceivedMessage[];
  /** Resolves with the matching messages once there are `count` of them. */
  until(count: number, matching?: (message: ReceivedMessage) => boolean): Promise<ReceivedMessage[]>;
  /** Sets the answer to the following messages. `left` resolves when the sender has closed the connection. */
  answer(
    answer: (message: Omit<ReceivedMessage, 'status'>, left: Promise<unknown>) => Answer | Promise<Answer>,
  ): void;
  close(): void;
}

interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: string;
}

/** Starts a receiver of webhooks on this machine. */
export async function startReceiver(port = 0): Promise<Receiver> {
  const messages: ReceivedMessage[] = [];
  const waiting = new Set<() => void>();
  let answerOf: Parameters<Receiver['answer']>[0] = () => ({ status: 204 });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    const respond = async () => {
      const text = Buffer.concat(chunks).toString();
      const { type, data } = JSON.parse(text) as Pick<ReceivedMessage, 'type' | 'data'>;
      const message = {
        id: String(request.headers['webhook-id']),
        type,
        headers: request.headers,
        text,
        data,
      };
      const { status, headers, body } = await answerOf(message, once(response, 'close'));
      messages.push({ ...message, status });
      response.writeHead(status, headers).end(body);
      for (const check of waiting) check();
    };
    request.on('end', () => void respond());
  }).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const { port: actual } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${actual}/hook`,
    port: actual,
    messages,
    until: async (count, matching = () => true) => {
      const { promise, resolve } = Promise.withResolvers<ReceivedMessage[]>();
      const check = () => {
        const found = messages.filter(matching);
        if (found.length >= count) resolve(found);
      };
      waiting.add(check);
      check();
      const found = await promise;
      waiting.delete(check);
      return found;
    },
    answer: (answer) => {
      answerOf = answer;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
