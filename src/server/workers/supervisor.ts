import { createServer, type Server as SocketServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Beat } from '../heartbeat.ts';
import { adopt } from '../http/listening.ts';
import { CrashLoop } from './crash-loop.ts';
import type { MetricsSnapshot } from './messages.ts';
import type { QuotaLeases } from './quota-leases.ts';
import {
  describeExit,
  EarlyExit,
  type Exit,
  type ForSupervisor,
  WorkerProcess,
  type WorkerProgram,
} from './worker-process.ts';

export interface SupervisorOptions {
  readonly workers: number;
  readonly port: number;
  readonly program: WorkerProgram;
  readonly quotas: QuotaLeases;
  readonly logger: Logger;
  /** How long a worker may take to stop. Then it is killed. */
  readonly stopWithinMs: number;
  readonly crashes?: CrashLoop;
  /** How long a worker may be silent. */
  readonly beat?: Beat;
}

/**
 * Runs several worker processes on one port, and replaces them. It has no database and answers no requests: each worker listens
 * on sockets of its own, among which the system distributes connections. A worker that replaces another one takes over its
 * sockets, so no connection that waits to be accepted is lost.
 */
export class Supervisor {
  /** Resolves when the service cannot continue, because no worker is left and new ones keep dying. */
  readonly failed: Promise<void>;
  readonly #options: SupervisorOptions;
  /** The workers that accept connections or will, by their number minus 1. */
  readonly #workers: (WorkerProcess | undefined)[];
  /** All processes that run, those included that are about to stop. */
  readonly #running = new Set<WorkerProcess>();
  readonly #crashes: CrashLoop;
  readonly #fail: () => void;
  #lead: WorkerProcess | undefined;
  /** Replacing takes place one worker after the other. */
  #replacing: Promise<unknown> = Promise.resolve();
  #isReloadQueued = false;
  /** Aborted when all workers are to stop. */
  readonly #stopping = new AbortController();
  #onRetired: (snapshot: MetricsSnapshot) => void = () => undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#crashes = options.crashes ?? new CrashLoop();
    this.#workers = Array.from({ length: options.workers }, () => undefined);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.failed = promise;
    this.#fail = resolve;
  }

  /** Starts the first worker, and the others when it is ready. Throws EarlyExit when the first one cannot start. */
  start(): Promise<{ url: string; token: string | undefined }> {
    const started = this.#start();
    // A failure ends the service, so that no further worker is replaced.
    this.#replacing = started.catch((error: unknown) => {
      // A worker that was started says itself why it ended.
      if (error instanceof EarlyExit && error.exit.failure) this.#options.logger.error(error.message);
    });
    return started;
  }

  async #start(): Promise<{ url: string; token: string | undefined }> {
    const numbers = this.#workers.map((_, index) => index + 1);
    const [first = 1, ...others] = numbers;
    const { url, token } = await this.#launch(first, undefined, true);
    await Promise.all(others.map((number) => this.#startOrTryAgain(number)));
    return { url, token };
  }

  /** Replaces all workers, one after the other. If a new worker cannot start, the others stay as they are. */
  reload(): void {
    if (this.#isReloadQueued) return;
    this.#isReloadQueued = true;
    this.#inTurn(async () => {
      this.#isReloadQueued = false;
      const { logger } = this.#options;
      logger.info('replacing all workers');
      for (const old of this.#workers) {
        if (this.#isStopping) return;
        if (old) await this.#replace(old);
      }
      logger.info('all workers are replaced');
    });
  }

  /** Stops all workers at once. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    const { stopWithinMs } = this.#options;
    await Promise.all([...this.#running].map((worker) => worker.stop('stopping', stopWithinMs)));
  }

  /** Kills all workers. */
  kill(): void {
    this.#stopping.abort();
    for (const worker of this.#running) worker.kill();
  }

  /** The metrics of all running workers. The callback of `onRetired` receives those of workers that have ended. */
  readMetrics(): Promise<MetricsSnapshot[]> {
    return Promise.all([...this.#running].map((worker) => worker.readMetrics()));
  }

  onRetired(callback: (snapshot: MetricsSnapshot) => void): void {
    this.#onRetired = callback;
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Starts a worker and lets it listen: on the sockets of the one that it replaces, or on its own. */
  async #launch(
    number: number,
    old: WorkerProcess | undefined,
    isFirst = false,
  ): Promise<{ url: string; token: string | undefined }> {
    const { workers, port, program, beat, logger } = this.#options;
    const worker = new WorkerProcess({
      program,
      start: { number, workers, port, isFirst },
      beat,
      onMessage: (from, message) => this.#receive(from, message),
      onHang: ({ pid }) => {
        logger.error({ worker: number, pid }, 'a worker does not answer, so it is killed');
        worker.kill();
      },
    });
    this.#running.add(worker);
    void worker.exited.then((exit) => this.#onExit(worker, exit));
    this.#sendStreamsOfOthers(worker);
    await worker.prepared;
    const bridges = old?.isRunning ? await this.#passSockets(old, worker) : [];
    worker.send({ kind: bridges.length > 0 ? 'sockets sent' : 'listen' });
    const ready = await worker.ready.finally(() => {
      for (const bridge of bridges) bridge.close();
    });
    this.#workers[number - 1] = worker;
    this.#appoint(old);
    return ready;
  }

  /**
   * Passes the listening sockets of a worker to the one that replaces it. Both use them from then on. This process has them for
   * a moment as well, so connections that it accepts meanwhile are passed on.
   */
  async #passSockets(old: WorkerProcess, worker: WorkerProcess): Promise<SocketServer[]> {
    const bridges: SocketServer[] = [];
    await old.sendSockets((socket) => {
      const bridge = createServer({ pauseOnConnect: true }, (connection) =>
        worker.send({ kind: 'connection' }, connection),
      );
      bridges.push(adopt(bridge, socket));
      worker.send({ kind: 'socket' }, bridge);
    });
    return bridges;
  }

  async #replace(old: WorkerProcess): Promise<void> {
    const { stopWithinMs, logger } = this.#options;
    await this.#launch(old.number, old);
    await old.stop('replaced', stopWithinMs);
    logger.info({ worker: old.number }, 'a worker was replaced');
  }

  /** Removes a process that has ended, and starts another one in its place unless it was asked to stop. */
  #onExit(worker: WorkerProcess, exit: Exit): void {
    this.#running.delete(worker);
    this.#onRetired(worker.lastMetrics);
    for (const [tokenId, count] of worker.streams) this.#sendToOthers(worker, { tokenId, change: -count });
    const index = this.#workers.indexOf(worker);
    if (index < 0 || worker.isStopping || this.#isStopping) return;
    this.#workers[index] = undefined;
    this.#appoint();
    this.#options.logger.error(
      { worker: worker.number, pid: worker.pid },
      `a worker died: ${describeExit(exit)}`,
    );
    this.#revive(worker.number);
  }

  /** Starts a worker after a pause. Meanwhile others may be replaced, because this one may be unable to start for a long time. */
  #revive(number: number): void {
    const isOneLeft = this.#workers.some((worker) => worker?.isReady);
    const pauseMs = this.#crashes.pauseAfterDeath(performance.now(), isOneLeft);
    if (pauseMs === undefined) return this.#fail();
    const { signal } = this.#stopping;
    delay(pauseMs, undefined, { signal }).then(
      () => this.#inTurn(() => this.#startOrTryAgain(number)),
      () => undefined,
    );
  }

  async #startOrTryAgain(number: number): Promise<void> {
    if (this.#isStopping || this.#workers[number - 1]) return;
    await this.#launch(number, undefined).catch((error: unknown) => {
      if (!(error instanceof EarlyExit)) throw error;
      this.#options.logger.error({ worker: number }, error.message);
      if (!this.#isStopping) this.#revive(number);
    });
  }

  #inTurn(work: () => Promise<void>): void {
    this.#replacing = this.#replacing.then(work).catch((error: unknown) => {
      if (this.#isStopping) return;
      this.#options.logger.error({ err: error }, 'a worker could not be replaced; the others continue');
    });
  }

  /** Lets one worker lead: the one that leads already, unless it has ended or is about to. */
  #appoint(leaving?: WorkerProcess): void {
    if (this.#lead && this.#lead !== leaving && this.#workers.includes(this.#lead)) return;
    this.#lead = this.#workers.find((worker) => worker?.isReady);
    this.#lead?.send({ kind: 'lead' });
  }

  #receive(from: WorkerProcess, message: ForSupervisor): void {
    const { quotas } = this.#options;
    switch (message.kind) {
      case 'take': {
        const grant = quotas.take(message.caller, message.unused);
        return from.send({ kind: 'granted', id: message.id, grant });
      }
      case 'return':
        return quotas.giveBack(message.caller, message.unused);
      case 'charge':
        return this.#sendDebts(quotas.charge(message.costs));
      case 'streams': {
        const { tokenId, change } = message;
        const count = (from.streams.get(tokenId) ?? 0) + change;
        if (count === 0) from.streams.delete(tokenId);
        else from.streams.set(tokenId, count);
        return this.#sendToOthers(from, { tokenId, change });
      }
      case 'notification':
      case 'gap':
      case 'unknown token':
      case 'wrote':
        for (const other of this.#running) if (other !== from) other.send(message);
    }
  }

  #sendToOthers(from: WorkerProcess, change: { tokenId: string; change: number }): void {
    for (const other of this.#running) if (other !== from) other.send({ kind: 'streams', ...change });
  }

  /** Tells all workers of debts, because each may have streams of the caller. */
  #sendDebts(debts: readonly (readonly [caller: string, level: number])[]): void {
    if (debts.length > 0) for (const worker of this.#running) worker.send({ kind: 'indebted', debts });
  }

  #sendStreamsOfOthers(worker: WorkerProcess): void {
    for (const other of this.#running) {
      if (other === worker) continue;
      for (const [tokenId, count] of other.streams) worker.send({ kind: 'streams', tokenId, change: count });
    }
  }
}
