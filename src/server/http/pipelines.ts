import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How many requests of one connection may wait for earlier answers. */
const maxWaiting = 32;

/** How many requests may wait on all connections together. Node needs some 5 kB for each, and the size of its head. */
const maxWaitingInAll = 4_000;

/** A connection is closed at once if so many of its requests have no answer. One packet can hold thousands. */
const maxUnanswered = 256;

/**
 * Starts pipelined requests, which a client sends without waiting for answers, one after another. So a connection never has more
 * than one answer in memory.
 */
export class Pipelines {
  readonly #waiting = new WeakMap<Socket, number>();
  #totalWaiting = 0;

  /** Calls `begin` when earlier answers are sent, or `refuse` when too many requests wait; the connection is then closed. */
  enter({ socket }: IncomingMessage, res: ServerResponse, begin: () => void, refuse: () => void): void {
    // Node assigns the socket to one answer at a time, and emits `socket` on the next one.
    if (res.socket) return begin();
    // The requests that came in the same packet as the one that exceeded the limit.
    if (socket.destroyed) return;
    const waiting = this.#add(socket, 1);
    if (waiting > maxUnanswered || this.#totalWaiting > maxWaitingInAll) {
      socket.destroy();
      return;
    }
    if (waiting > maxWaiting + 1) return;
    if (waiting === maxWaiting + 1) {
      stopReading(socket);
      res.shouldKeepAlive = false;
      return refuse();
    }
    res.once('socket', () => {
      this.#add(socket, -1);
      begin();
    });
  }

  /** Returns how many requests of the connection wait. */
  #add(socket: Socket, requests: number): number {
    const before = this.#waiting.get(socket);
    if (before === undefined)
      socket.once('close', () => this.#add(socket, -(this.#waiting.get(socket) ?? 0)));
    const waiting = (before ?? 0) + requests;
    this.#waiting.set(socket, waiting);
    this.#totalWaiting += requests;
    return waiting;
  }
}

/** Node would read and keep any number of requests while the first one waits for its answer. */
function stopReading(socket: Socket): void {
  socket.pause();
  // Node resumes the socket when it reads the body of a request that has waited.
  socket.on('resume', () => socket.pause());
}
