import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { PostgresMessages } from './postgres-messages.ts';

/** How a network can be. */
export interface Weather {
  /** How late each piece arrives. */
  readonly delayMs?: number;
  /** Connections are reset after a time up to this. */
  readonly resetWithinMs?: number;
  /** Nothing gets through, and nobody is told. */
  readonly silent?: boolean;
}

/** Where a conversation with PostgreSQL is cut: at the nth statement, before it is sent or when it is done. */
export interface Cut {
  readonly statement: number;
  readonly when: 'before' | 'done';
}

/** Stands between two ends of a connection, to disturb it. */
export class Proxy {
  weather: Weather = {};
  /** How many connections there are now. */
  get connections(): number {
    return this.#pairs.size;
  }
  #target: { host: string; port: number };
  readonly #server: Server;
  readonly #pairs = new Set<() => void>();
  #cut: (Cut & { seen: number; tell: () => void }) | undefined;
  /** Statements that were done since it was last set to 0. */
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

  /** Leads new connections to another end, and ends those that there are. */
  leadTo(target: { host: string; port: number }): void {
    this.#target = target;
    for (const end of this.#pairs) end();
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Cuts the connection that the statement is on; gives how to know whether it has come to that. */
  cutAt(cut: Cut): { happened: () => boolean } {
    let happened = false;
    this.#cut = { ...cut, seen: 0, tell: () => (happened = true) };
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
    if (resetWithinMs !== undefined) setTimeout(reset, Math.random() * resetWithinMs).unref();
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

  /** How much of a piece gets through: all, or what comes before the statement at which to cut. */
  #passes(messages: PostgresMessages, chunk: Buffer, when: Cut['when']): number {
    for (const end of messages.statementsIn(chunk)) {
      if (when === 'done') this.statements++;
      const cut = this.#cut;
      if (cut?.when !== when || ++cut.seen < cut.statement) continue;
      this.#cut = undefined;
      cut.tell();
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
