import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ask } from './client.ts';

/** More would only be a queue in the load maker. */
const mostUnderWay = 2_000;
const tickMs = 5;

interface Exchange {
  readonly sinceMs: number;
  received: string;
}

/**
 * Sends one request again and again at a rate, whether it is answered or not. On bare sockets: a client of HTTP would
 * take as much of the machine as the server that refuses it.
 */
export class Load {
  /** Answers by their status; 0 for what was cut off or not answered in time. */
  readonly told = new Map<number, number>();
  sent = 0;
  /** Was due when too many were under way. */
  notSent = 0;
  /** The longest that somebody waited for an answer. */
  longestMs = 0;
  readonly #address: { host: string; port: number };
  readonly #request: string;
  readonly #withinMs: number;
  readonly #idle: Socket[] = [];
  readonly #underWay = new Map<Socket, Exchange>();

  constructor(url: string, token: string, { method = 'GET', path, body, withinMs = 60_000 }: Ask) {
    const { hostname: host, port } = new URL(url);
    this.#address = { host, port: Number(port) };
    this.#withinMs = withinMs;
    const payload = body === undefined ? '' : JSON.stringify(body);
    const head = [`${method} ${path} HTTP/1.1`, `Host: ${host}:${port}`, `Authorization: Bearer ${token}`];
    if (payload !== '')
      head.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(payload)}`);
    this.#request = `${head.join('\r\n')}\r\n\r\n${payload}`;
  }

  /** Sends for so long; what is under way then goes on. */
  async run(perSecond: number, forMs: number, meanwhile: () => void = () => undefined): Promise<void> {
    const began = performance.now();
    for (let passed = 0; passed < forMs; passed = performance.now() - began) {
      const due = Math.floor((passed / 1_000) * perSecond);
      while (this.sent + this.notSent < due) {
        if (this.#underWay.size < mostUnderWay) this.#send();
        else this.notSent++;
      }
      this.#giveUp();
      meanwhile();
      await delay(tickMs);
    }
  }

  /** Waits for what is under way, and closes the connections. */
  async end(): Promise<void> {
    while (this.#underWay.size > 0) {
      await delay(tickMs);
      this.#giveUp();
    }
    for (const socket of this.#idle) socket.destroy();
  }

  #send(): void {
    this.sent++;
    const socket = this.#idle.pop() ?? this.#connect();
    this.#underWay.set(socket, { sinceMs: performance.now(), received: '' });
    socket.write(this.#request);
  }

  #connect(): Socket {
    const socket = connect(this.#address);
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('data', (piece: string) => this.#take(socket, piece));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#end(socket, 0);
      const place = this.#idle.indexOf(socket);
      if (place >= 0) this.#idle.splice(place, 1);
    });
    return socket;
  }

  #take(socket: Socket, piece: string): void {
    const exchange = this.#underWay.get(socket);
    if (!exchange) return;
    exchange.received += piece;
    const { received } = exchange;
    const head = received.indexOf('\r\n\r\n');
    const length = /\r\nContent-Length: (\d+)\r\n/i.exec(received.slice(0, head + 2))?.[1];
    if (head < 0 || length === undefined || received.length < head + 4 + Number(length)) return;
    this.#end(socket, Number(received.slice(9, 12)));
    this.#idle.push(socket);
  }

  #end(socket: Socket, status: number): void {
    const exchange = this.#underWay.get(socket);
    if (!exchange) return;
    this.#underWay.delete(socket);
    this.longestMs = Math.max(this.longestMs, performance.now() - exchange.sinceMs);
    this.told.set(status, (this.told.get(status) ?? 0) + 1);
  }

  #giveUp(): void {
    const since = performance.now() - this.#withinMs;
    for (const [socket, { sinceMs }] of this.#underWay) {
      // Those that began first come first.
      if (sinceMs > since) return;
      this.#end(socket, 0);
      socket.destroy();
    }
  }
}
