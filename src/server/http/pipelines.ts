import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that may wait on one connection for the answer before theirs. */
const mostWaiting = 32;

/**
 * Takes the requests that a client sends without waiting for answers (pipelining) one after another, so that a connection
 * never has more than one answer in memory.
 */
export class Pipelines {
  readonly #waiting = new WeakMap<Socket, number>();

  /** Begins at once or after the answers before it are sent; refuses one too many, and then the connection is closed. */
  enter({ socket }: IncomingMessage, res: ServerResponse, begin: () => void, refuse: () => void): void {
    // Node gives the connection to one answer at a time, and says `socket` to the next one.
    if (res.socket) return begin();
    const waiting = this.#waiting.get(socket) ?? 0;
    if (waiting > mostWaiting) return;
    this.#waiting.set(socket, waiting + 1);
    if (waiting === mostWaiting) {
      res.shouldKeepAlive = false;
      return refuse();
    }
    res.once('socket', () => {
      this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1);
      begin();
    });
  }
}
