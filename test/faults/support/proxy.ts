import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { PostgresMessages } from './postgres-messages.ts';
import { chance } from './chance.ts';

/** The condition of a network. */
export interface Weather {
  /** The delay of each piece. */
  readonly delayMs?: number;
  /** Each connection is reset after a random time up to this. */
  readonly resetWithinMs?: number;
  /** Data is dropped without an error, as on a half-open connection. */
  readonly silent?: boolean;
}

/** Where a connection to PostgreSQL is cut: at the nth statement, before PostgreSQL receives it or before its result is returned. */
export interface Cut {
  readonly statement: number;
  readonly when: 'before' | 'done';
}

/** A TCP proxy that can disturb the connections through it. */
export class Proxy {
  weather: Weather = {};
  /** The number of open connections. */
  get connections(): number {
    return this.#pairs.size;
  }
  #target: { host: string; port: number };
  readonly #server: Server;
  readonly #pairs = new Set<() => void>();
  #cut: (Cut & { seen: number; report: () => void }) | undefined;
  /** The number of completed statements since it was last set to 0. */
  statements = 0;

  private constructor(target: { host: string; port: number }) {
    this.#target = target;
    this.#server = createServer((near) => this.#join(near));
  }

  static async before(target: { host: string; port: number }): Promise<Proxy> {
    const proxy = new Proxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** Connects new connections to another server, and ends the existing ones. */
  leadTo(target: { host: string; port: number }): void {
    this.#target = target;
    for (const end of this.#pairs) end();
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Cuts the connection of the nth statement; `happened` tells whether that statement was reached. */
  cutAt(cut: Cut): { happened: () => boolean } {
    let happened = false;
    this.#cut = { ...cut, seen: 0, report: () => (happened = true) };
    return { happened: () => happened };
  }

  passAll(): void {
    this.#cut = undefined;
  }

  /** Resets every connection. */
  resetAll(): void {
    for (const reset of this.#pairs) reset();
  }

  close(): void {
    this.#server.close();
    this.resetAll();
  }

  #join(near: Socket): void {
    const far = connect(this.#target);
    const reset = () => {
      this.#pairs.delete(reset);
      near.resetAndDestroy();
      far.resetAndDestroy();
    };
    this.#pairs.add(reset);
    const end = () => {
      this.#pairs.delete(reset);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.on('error', end);
      socket.on('close', end);
    }
    const { resetWithinMs } = this.weather;
    if (resetWithinMs !== undefined) setTimeout(reset, chance.fraction() * resetWithinMs).unref();
    const out = new PostgresMessages('frontend');
    const back = new PostgresMessages('backend');
    near.on('data', (chunk: Buffer) => {
      const length = this.#passes(out, chunk, 'before');
      if (length < chunk.length) reset();
      else this.#send(far, chunk);
    });
    far.on('data', (chunk: Buffer) => {
      const length = this.#passes(back, chunk, 'done');
      if (length < chunk.length) reset();
      else this.#send(near, chunk);
    });
  }

  /** The length of the part of a piece that passes: all of it, or the part before the statement to cut at. */
  #passes(messages: PostgresMessages, chunk: Buffer, when: Cut['when']): number {
    for (const end of messages.statementsIn(chunk)) {
      if (when === 'done') this.statements++;
      const cut = this.#cut;
      if (cut?.when !== when || ++cut.seen < cut.statement) continue;
      this.#cut = undefined;
      cut.report();
      return end - 1;
    }
    return chunk.length;
  }

  #send(socket: Socket, chunk: Buffer): void {
    const { delayMs, silent } = this.weather;
    if (silent) return;
    if (delayMs === undefined) socket.write(chunk);
    else setTimeout(() => socket.destroyed || socket.write(chunk), delayMs).unref();
  }
}
