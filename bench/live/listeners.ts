import { connect, type Socket } from 'node:net';

/** The operation of a subscription. */
export interface Subscription {
  readonly query: string;
  readonly variables?: object;
}

/** Receives an event of a stream: the time of its arrival by `performance.now()`, and its JSON. */
type OnEvent = (atMs: number, json: string) => void;

/**
 * Subscription clients on bare sockets, because an HTTP client would need more memory and time than the server that is measured.
 */
export class Listeners {
  readonly #sockets = new Set<Socket>();
  readonly #port: number;
  readonly #token: string;
  /** The number of streams that the server has ended. */
  ended = 0;

  constructor({ port, token }: { port: number; token: string }) {
    this.#port = port;
    this.#token = token;
  }

  get open(): number {
    return this.#sockets.size;
  }

  /** Opens a number of streams, several at a time. */
  async openMany(
    count: number,
    subscriptionOf: (index: number) => Subscription,
    onEvent: OnEvent,
  ): Promise<void> {
    let next = 0;
    const work = async () => {
      while (next < count) {
        const index = next;
        next += 1;
        await this.openOne(subscriptionOf(index), onEvent);
      }
    };
    await Promise.all(Array.from({ length: 12 }, work));
  }

  /** Opens a stream. Resolves when it has started. */
  openOne(subscription: Subscription, onEvent: OnEvent): Promise<void> {
    const body = JSON.stringify(subscription);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true });
    let isOpen = false;
    let text = '';
    this.#sockets.add(socket);
    socket.on('connect', () =>
      socket.write(
        `POST /graphql HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${this.#token}\r\nAccept: text/event-stream\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      ),
    );
    socket.on('data', (bytes: Buffer) => {
      const atMs = performance.now();
      text += bytes.toString('latin1');
      if (!isOpen) {
        if (!text.includes('retry: ')) {
          if (text.includes('\r\n\r\n') && !text.startsWith('HTTP/1.1 200'))
            reject(new Error(`A stream was refused: ${text}`));
          return;
        }
        isOpen = true;
        resolve();
      }
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        if (line.startsWith('data: ')) onEvent(atMs, line.slice('data: '.length));
      }
    });
    socket.on('error', reject);
    socket.on('close', () => {
      if (this.#sockets.delete(socket)) this.ended += 1;
      reject(new Error('The server closed the connection.'));
    });
    return promise;
  }

  close(): void {
    const sockets = [...this.#sockets];
    this.#sockets.clear();
    for (const socket of sockets) socket.destroy();
  }
}
