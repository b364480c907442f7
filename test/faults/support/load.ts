import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClientRequest } from './client.ts';

/** The maximum number of requests in progress; more would only be queued in this process. */
const maxInProgress = 2_000;
const tickMs = 5;

interface Exchange {
  readonly sinceMs: number;
  status: number;
  /** The bytes of the answer that have not arrived; undefined until its head is complete. */
  leftBytes: number | undefined;
  /** The part of the head that has arrived. */
  head: string;
}

/**
 * Sends one request again and again, either at a fixed rate or from connections that each wait for their answer. It uses bare sockets,
 * because an HTTP client would need as much CPU as the server needs to refuse a request.
 */
export class Load {
  /** The numbers of answers by status; 0 is a request that was cut off or timed out. */
  readonly statuses = new Map<number, number>();
  sent = 0;
  /** The requests that were skipped because too many were in progress. */
  notSent = 0;
  /** The longest wait for an answer. */
  longestMs = 0;
  #keepsBusy = false;
  readonly #address: { host: string; port: number };
  readonly #request: Buffer;
  readonly #withinMs: number;
  readonly #idle: Socket[] = [];
  readonly #inProgress = new Map<Socket, Exchange>();

  constructor(url: string, token: string, { method = 'GET', path, body, withinMs = 60_000 }: ClientRequest) {
    const { hostname: host, port } = new URL(url);
    this.#address = { host, port: Number(port) };
    this.#withinMs = withinMs;
    const payload = body === undefined ? '' : JSON.stringify(body);
    const head = [`${method} ${path} HTTP/1.1`, `Host: ${host}:${port}`, `Authorization: Bearer ${token}`];
    if (payload !== '')
      head.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(payload)}`);
    this.#request = Buffer.from(`${head.join('\r\n')}\r\n\r\n${payload}`);
  }

  /** Sends requests at a fixed rate for a time, without waiting for the last answers. */
  async run(perSecond: number, forMs: number, meanwhile: () => void = () => undefined): Promise<void> {
    const began = performance.now();
    for (let passed = 0; passed < forMs; passed = performance.now() - began) {
      const due = Math.floor((passed / 1_000) * perSecond);
      while (this.sent + this.notSent < due) {
        if (this.#inProgress.size < maxInProgress) this.#send();
        else this.notSent++;
      }
      this.#giveUp();
      meanwhile();
      await delay(tickMs);
    }
  }

  /** Keeps one request in progress on each of a number of connections. */
  async keepBusy(connections: number, forMs: number): Promise<void> {
    this.#keepsBusy = true;
    for (let n = 0; n < connections; n++) this.#send();
    await delay(forMs);
    this.#keepsBusy = false;
  }

  /** Waits for the requests in progress, and closes the connections. */
  async end(): Promise<void> {
    while (this.#inProgress.size > 0) {
      await delay(tickMs);
      this.#giveUp();
    }
    for (const socket of this.#idle) socket.destroy();
  }

  #send(): void {
    this.sent++;
    const socket = this.#idle.pop() ?? this.#connect();
    this.#inProgress.set(socket, { sinceMs: performance.now(), status: 0, leftBytes: undefined, head: '' });
    socket.write(this.#request);
  }

  #connect(): Socket {
    const socket = connect(this.#address);
    socket.setNoDelay(true);
    socket.on('data', (piece: Buffer) => this.#take(socket, piece));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#end(socket, 0);
      const index = this.#idle.indexOf(socket);
      if (index >= 0) this.#idle.splice(index, 1);
    });
    return socket;
  }

  /** Parses the head of an answer and only counts the bytes of its body, because parsing it would cost more than sending. */
  #take(socket: Socket, piece: Buffer): void {
    const exchange = this.#inProgress.get(socket);
    if (!exchange) return;
    if (exchange.leftBytes === undefined) readHead(exchange, piece);
    else exchange.leftBytes -= piece.length;
    if (exchange.leftBytes === undefined || exchange.leftBytes > 0) return;
    this.#end(socket, exchange.status);
    this.#idle.push(socket);
    if (this.#keepsBusy) this.#send();
  }

  #end(socket: Socket, status: number): void {
    const exchange = this.#inProgress.get(socket);
    if (!exchange) return;
    this.#inProgress.delete(socket);
    this.longestMs = Math.max(this.longestMs, performance.now() - exchange.sinceMs);
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
  }

  #giveUp(): void {
    const since = performance.now() - this.#withinMs;
    for (const [socket, { sinceMs }] of this.#inProgress) {
      // The oldest requests come first.
      if (sinceMs > since) return;
      this.#end(socket, 0);
      socket.destroy();
    }
  }
}

/** Reads status and length from the head once it is complete. */
function readHead(exchange: Exchange, piece: Buffer): void {
  const before = exchange.head.length;
  exchange.head += piece.toString('latin1', 0, maxHeadBytes);
  const end = exchange.head.indexOf('\r\n\r\n');
  const at = exchange.head.search(/content-length:/i);
  if (end < 0 || at < 0 || at > end) return;
  exchange.status = Number(exchange.head.slice(9, 12));
  const length = Number.parseInt(exchange.head.slice(at + 'content-length:'.length), 10);
  exchange.leftBytes = end + 4 + length - before - piece.length;
}

/** More than any head of this service has. */
const maxHeadBytes = 16_384;
