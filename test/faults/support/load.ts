import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ask } from './client.ts';

/** More would only be a queue in the load maker. */
const mostUnderWay = 2_000;
const tickMs = 5;

interface Exchange {
  readonly sinceMs: number;
  status: number;
  /** What is still to come of the answer; unknown until its head is there. */
  leftBytes: number | undefined;
  /** Of a head that comes in pieces. */
  head: string;
}

/**
 * Sends one request again and again, at a rate whether it is answered or not, or by clients that wait for their answers.
 * On bare sockets: a client of HTTP would take as much of the machine as the server that refuses it.
 */
export class Load {
  /** Answers by their status; 0 for what was cut off or not answered in time. */
  readonly told = new Map<number, number>();
  sent = 0;
  /** Was due when too many were under way. */
  notSent = 0;
  /** The longest that somebody waited for an answer. */
  longestMs = 0;
  #isAskedAgain = false;
  readonly #address: { host: string; port: number };
  readonly #request: Buffer;
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
    this.#request = Buffer.from(`${head.join('\r\n')}\r\n\r\n${payload}`);
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

  /** So many who each ask again once they have their answer. */
  async keepAsking(connections: number, forMs: number): Promise<void> {
    this.#isAskedAgain = true;
    for (let n = 0; n < connections; n++) this.#send();
    await delay(forMs);
    this.#isAskedAgain = false;
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
    this.#underWay.set(socket, { sinceMs: performance.now(), status: 0, leftBytes: undefined, head: '' });
    socket.write(this.#request);
  }

  #connect(): Socket {
    const socket = connect(this.#address);
    socket.setNoDelay(true);
    socket.on('data', (piece: Buffer) => this.#take(socket, piece));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#end(socket, 0);
      const place = this.#idle.indexOf(socket);
      if (place >= 0) this.#idle.splice(place, 1);
    });
    return socket;
  }

  /** Counts the bytes of an answer, and looks at its head alone: the rest of a large one would cost more than sending. */
  #take(socket: Socket, piece: Buffer): void {
    const exchange = this.#underWay.get(socket);
    if (!exchange) return;
    if (exchange.leftBytes === undefined) readHead(exchange, piece);
    else exchange.leftBytes -= piece.length;
    if (exchange.leftBytes === undefined || exchange.leftBytes > 0) return;
    this.#end(socket, exchange.status);
    this.#idle.push(socket);
    if (this.#isAskedAgain) this.#send();
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

/** Takes status and length from the head once it is whole. */
function readHead(exchange: Exchange, piece: Buffer): void {
  const before = exchange.head.length;
  exchange.head += piece.toString('latin1', 0, longestHead);
  const end = exchange.head.indexOf('\r\n\r\n');
  const at = exchange.head.search(/content-length:/i);
  if (end < 0 || at < 0 || at > end) return;
  exchange.status = Number(exchange.head.slice(9, 12));
  const length = Number.parseInt(exchange.head.slice(at + 'content-length:'.length), 10);
  exchange.leftBytes = end + 4 + length - before - piece.length;
}

/** All heads of this service are shorter. */
const longestHead = 16_384;
