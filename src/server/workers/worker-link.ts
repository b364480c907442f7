import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Server as SocketServer, Socket } from 'node:net';
import type { Server } from 'node:http';
import type { ChannelHandler, Channels } from '../../db/engine/listener.ts';
import { adopt, listenShared, shareConnections } from '../http/listening.ts';
import type { Grant, LeaseLink } from '../limits/leased-buckets.ts';
import type { FromWorker, MetricsSnapshot, ToWorker, WorkerStart } from './messages.ts';

/** Why a worker stops. */
export type StopReason = 'stopping' | 'replaced' | 'supervisor gone';

type Handle = Server | SocketServer;
/** What other workers report, because the limits and the choice of a replica depend on all workers. */
type ReportKind = 'indebted' | 'unknown token' | 'wrote' | 'streams';
type MessageOf<Kind extends ToWorker['kind']> = Extract<ToWorker, { kind: Kind }>;

/** The connection of a worker process to its supervisor. Without the supervisor the worker stops. */
export class WorkerLink implements LeaseLink {
  readonly start: WorkerStart;
  /** Resolves when this worker is to stop. */
  readonly stopped: Promise<StopReason>;
  /** Emits what other workers and the supervisor report. */
  readonly reports = new EventEmitter<{ [Kind in ReportKind]: [message: MessageOf<Kind>] }>();
  readMetrics: () => Promise<MetricsSnapshot> = () => Promise.resolve([]);
  readonly #process: NodeJS.Process;
  /** The sockets on which this worker listens. */
  #listening: readonly Handle[] = [];
  #onSocket: (socket: SocketServer) => void = () => undefined;
  #onConnection: (connection: Socket) => void = () => undefined;
  /** The open connections that the supervisor accepted while it passed a socket on. */
  readonly #bridged = new Set<Socket>();
  readonly #listen = Promise.withResolvers<void>();
  readonly #lead = Promise.withResolvers<void>();
  #channels: Channels = {};
  readonly #pendingTakes = new Map<number, (grant: Grant | undefined) => void>();
  #lastId = 0;
  #costs: [string, number][] = [];

  private constructor(process: NodeJS.Process, start: WorkerStart) {
    this.#process = process;
    this.start = start;
    const { promise, resolve } = Promise.withResolvers<StopReason>();
    this.stopped = promise;
    process.on('message', (message: ToWorker, handle: unknown) => {
      if (message.kind === 'stop') resolve(message.why);
      else this.#receive(message, handle);
    });
    process.on('disconnect', () => {
      for (const answer of this.#pendingTakes.values()) answer(undefined);
      resolve('supervisor gone');
    });
  }

  /** Waits for the first message of the supervisor, which identifies this worker. */
  static open(process: NodeJS.Process): Promise<WorkerLink> {
    // The terminal and systemd send these signals to all processes of a service, but only the supervisor stops a worker.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
    // Messages that follow the first one must find their listener.
    return new Promise((resolve) =>
      process.once('message', (start: MessageOf<'start'>) => resolve(new WorkerLink(process, start))),
    );
  }

  /** Listens on sockets of its own, or on those of the worker that this one replaces. Returns the sockets in addition to the first. */
  async listen(server: Server, host: string): Promise<SocketServer[]> {
    const additional: SocketServer[] = [];
    this.#onSocket = (socket) => {
      // A received socket listens already, so it needs its server at once.
      if (!server.listening) adopt(server, socket);
      else additional.push(adopt(shareConnections(server), socket));
    };
    this.#onConnection = (connection) => {
      connection.allowHalfOpen = true;
      connection.setNoDelay(true);
      this.#bridged.add(connection.once('close', () => this.#bridged.delete(connection)));
      server.emit('connection', connection);
    };
    this.#send({ kind: 'prepared' });
    await this.#listen.promise;
    if (!server.listening) additional.push(...(await listenShared(server, { host, port: this.start.port })));
    this.#listening = [server, ...additional];
    return additional;
  }

  ready(url: string, token: string | undefined): void {
    this.#send({ kind: 'ready', url, token });
  }

  /** Calls the listener when this worker is the one that listens for notifications and cleans up. */
  onLead(begin: () => void): void {
    void this.#lead.promise.then(begin);
  }

  /**
   * Receives the notifications on these channels from the leading worker. Returns channels for this worker to listen on while it
   * leads, which pass each notification on to the others.
   */
  share(channels: Channels): Channels {
    this.#channels = channels;
    return Object.fromEntries(
      Object.entries(channels).map(([channel, handler]) => [channel, this.#shared(channel, handler)]),
    );
  }

  /** Asks for a request of a caller. Undefined if the supervisor no longer exists. */
  take(caller: string, unused: number): Promise<Grant | undefined> {
    if (!this.#process.connected) return Promise.resolve(undefined);
    const id = this.#nextId();
    this.#send({ kind: 'take', id, caller, unused });
    return new Promise((resolve) =>
      this.#pendingTakes.set(id, (grant) => {
        this.#pendingTakes.delete(id);
        resolve(grant);
      }),
    );
  }

  giveBack(caller: string, unused: number): void {
    this.#send({ kind: 'return', caller, unused });
  }

  /** Reports costs. The costs of one turn of the event loop are sent together. */
  charge(caller: string, cost: number): void {
    if (this.#costs.length === 0) {
      setImmediate(() => {
        this.#send({ kind: 'charge', costs: this.#costs });
        this.#costs = [];
      });
    }
    this.#costs.push([caller, cost]);
  }

  noteUnknownToken(caller: string): void {
    this.#send({ kind: 'unknown token', caller });
  }

  noteWrite(tokenId: string): void {
    this.#send({ kind: 'wrote', tokenId });
  }

  noteStreams(tokenId: string, change: number): void {
    this.#send({ kind: 'streams', tokenId, change });
  }

  /** Waits for the connections that did not come through a socket of this worker. The server ends them with all others. */
  async settle(afterMs: number): Promise<void> {
    await delay(afterMs);
    await Promise.all([...this.#bridged].map((connection) => once(connection, 'close')));
  }

  /** Sends the last counts of this worker, so that the sums do not fall when it ends. */
  async close(): Promise<void> {
    const snapshot = await this.readMetrics();
    await new Promise<void>((resolve) => {
      if (!this.#process.connected) return resolve();
      const last: FromWorker = { kind: 'metrics', id: undefined, snapshot };
      this.#process.send?.(last, undefined, undefined, () => resolve());
    });
  }

  #receive(message: Exclude<ToWorker, MessageOf<'stop'>>, handle: unknown): void {
    switch (message.kind) {
      case 'listen':
      case 'sockets sent':
        return this.#listen.resolve();
      case 'socket':
        if (handle instanceof SocketServer) this.#onSocket(handle);
        return;
      case 'connection':
        if (handle instanceof Socket) this.#onConnection(handle);
        return;
      case 'send sockets':
        for (const socket of this.#listening) this.#send({ kind: 'socket' }, socket);
        return this.#send({ kind: 'sockets sent' });
      case 'lead':
        return this.#lead.resolve();
      case 'notification':
        return this.#channels[message.channel]?.onNotification(message.payload);
      case 'gap':
        for (const handler of Object.values(this.#channels)) handler.onGap();
        return;
      case 'granted':
        return this.#pendingTakes.get(message.id)?.(message.grant);
      case 'indebted':
        return void this.reports.emit(message.kind, message);
      case 'unknown token':
        return void this.reports.emit(message.kind, message);
      case 'wrote':
        return void this.reports.emit(message.kind, message);
      case 'streams':
        return void this.reports.emit(message.kind, message);
      case 'read metrics':
        void this.readMetrics().then((snapshot) => this.#send({ kind: 'metrics', id: message.id, snapshot }));
        return;
      case 'ping':
        return this.#send({ kind: 'pong' });
      case 'start':
    }
  }

  #shared(channel: string, handler: ChannelHandler): ChannelHandler {
    return {
      onNotification: (payload) => {
        handler.onNotification(payload);
        this.#send({ kind: 'notification', channel, payload });
      },
      onGap: () => {
        handler.onGap();
        this.#send({ kind: 'gap' });
      },
    };
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** Sends a message, unless the supervisor is gone. This worker is then about to stop. */
  #send(message: FromWorker, handle?: Handle): void {
    if (this.#process.connected) this.#process.send?.(message, handle, undefined, () => undefined);
  }
}
