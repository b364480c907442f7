import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests of one connection may wait for earlier answers. */
const maxWaiting = 32;

/**
 * Starts pipelined requests, which a client sends without waiting for answers, one after another. So a connection never has more
 * than one answer in memory.
 */
export class Pipelines {
  readonly #waiting = new WeakMap<Socket, number>();

  /** Calls `begin` when earlier answers are sent, or `refuse` when too many requests wait; the connection is then closed. */
  enter({ socket }: IncomingMessage, res: ServerResponse, begin: () => void, refuse: () => void): void {
    // Node assigns the socket to one answer at a time, and emits `socket` on the next one.
    if (res.socket) return begin();
    const waiting = this.#waiting.get(socket) ?? 0;
    if (waiting > maxWaiting) return;
    this.#waiting.set(socket, waiting + 1);
    if (waiting === maxWaiting) {
      res.shouldKeepAlive = false;
      return refuse();
    }
    res.once('socket', () => {
      this.#waiting.set(socket, (this.#waiting.get(socket) ?? 1) - 1);
      begin();
    });
  }
}
