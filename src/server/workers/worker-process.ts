import { type ChildProcess, fork } from 'node:child_process';
import { type Server as SocketServer, Socket } from 'node:net';
import { type Beat, Heartbeat } from '../heartbeat.ts';
import type { FromWorker, MetricsSnapshot, ToWorker, WorkerStart } from './messages.ts';

/** How the process of a worker ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why there never was a process. */
  readonly failure?: Error | undefined;
}

/** How long a worker may take to send its metrics. After that, the last ones that it sent are used. */
const metricsMs = 2_000;

/**
 * A worker that is silent for this long is considered hung: it is far longer than a garbage collection or a large request takes
 * on a slow machine.
 */
const defaultBeat: Beat = { everyMs: 1_000, unanswered: 10 };

/** The maximum number of messages that may wait for a worker. One that does not read them hangs, too. */
const maxUnsent = 50_000;

/** The program of each worker. */
export interface WorkerProgram {
  readonly script: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

type MessageOf<Kind extends FromWorker['kind']> = Extract<FromWorker, { kind: Kind }>;

/** The messages of a worker that the supervisor handles. */
export type ForSupervisor = Exclude<
  FromWorker,
  { kind: 'prepared' | 'ready' | 'socket' | 'sockets sent' | 'metrics' | 'pong' }
>;

interface WorkerOptions {
  readonly program: WorkerProgram;
  readonly start: WorkerStart;
  readonly beat?: Beat | undefined;
  /** Receives the messages that this class does not handle itself. */
  readonly onMessage: (worker: WorkerProcess, message: ForSupervisor) => void;
  /** The worker hangs. A worker that is not ready yet, and may wait for a database, hangs only if it does not read its messages. */
  readonly onHang: (worker: WorkerProcess) => void;
}

/** The process of one worker, as its supervisor sees it. */
export class WorkerProcess {
  readonly number: number;
  /** Resolves when the worker has a database and could listen; rejects when it ends before. */
  readonly prepared: Promise<void>;
  /** Resolves when it accepts connections; rejects when it ends before. */
  readonly ready: Promise<MessageOf<'ready'>>;
  /** Resolves when the process has ended, or when the system did not start it. Never rejects. */
  readonly exited: Promise<Exit>;
  /** The last metrics that it sent. */
  lastMetrics: MetricsSnapshot = [];
  /** How many streams each token has at this worker. */
  readonly streams = new Map<string, number>();
  isReady = false;
  /** Whether it was asked to stop, so that its exit is not a crash. */
  isStopping = false;
  readonly #child: ChildProcess;
  readonly #beat: Beat;
  readonly #onMessage: WorkerOptions['onMessage'];
  readonly #onHang: WorkerOptions['onHang'];
  readonly #prepared = Promise.withResolvers<void>();
  readonly #ready = Promise.withResolvers<MessageOf<'ready'>>();
  readonly #metrics = new Map<number, (snapshot: MetricsSnapshot) => void>();
  #onSocket: (socket: SocketServer) => void = () => undefined;
  #onSocketsSent: () => void = () => undefined;
  #lastId = 0;
  #unsent = 0;
  #heartbeat: Heartbeat | undefined;

  /** Starts the process. Throws EarlyExit when the system refuses at once; `exited` reports a later refusal. */
  constructor({ program, start, beat = defaultBeat, onMessage, onHang }: WorkerOptions) {
    this.number = start.number;
    this.#beat = beat;
    this.#onMessage = onMessage;
    this.#onHang = onHang;
    this.#child = forkWorker(program);
    this.prepared = this.#prepared.promise;
    this.ready = this.#ready.promise;
    this.exited = endOf(this.#child).then((exit) => {
      const early = new EarlyExit(exit);
      this.#prepared.reject(early);
      this.#ready.reject(early);
      this.#onSocketsSent();
      this.#heartbeat?.stop();
      for (const answer of this.#metrics.values()) answer(this.lastMetrics);
      return exit;
    });
    // Prevents unhandled rejections: `exited` reports the exit as well.
    this.prepared.catch(() => undefined);
    this.ready.catch(() => undefined);
    this.#child.on('message', (message: FromWorker, handle: unknown) => this.#receive(message, handle));
    this.send({ kind: 'start', ...start });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Sends the worker a message, unless it has ended or hangs. A connection that it therefore does not get is closed. */
  send(message: ToWorker, handle?: SocketServer | Socket): void {
    if (!this.isRunning || !this.#child.connected || this.#unsent === maxUnsent) {
      if (handle instanceof Socket) handle.destroy();
      return;
    }
    this.#unsent += 1;
    this.#child.send(message, handle, {}, () => {
      this.#unsent -= 1;
    });
    if (this.#unsent === maxUnsent) this.#onHang(this);
  }

  /** Asks for the listening sockets, and resolves when all have come or the worker has ended. */
  sendSockets(onSocket: (socket: SocketServer) => void): Promise<void> {
    this.#onSocket = onSocket;
    return new Promise((resolve) => {
      this.#onSocketsSent = resolve;
      if (!this.isRunning) resolve();
      this.send({ kind: 'send sockets' });
    });
  }

  /** Its metrics now, or the last ones if it does not answer. */
  readMetrics(): Promise<MetricsSnapshot> {
    if (!this.isReady || !this.#child.connected) return Promise.resolve(this.lastMetrics);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      const timer = setTimeout(() => answer(this.lastMetrics), metricsMs);
      const answer = (snapshot: MetricsSnapshot) => {
        clearTimeout(timer);
        this.#metrics.delete(id);
        resolve(snapshot);
      };
      this.#metrics.set(id, answer);
      this.send({ kind: 'read metrics', id });
    });
  }

  /** Tells the worker to stop, and kills it if it has not ended within the time. */
  async stop(why: 'stopping' | 'replaced', withinMs: number): Promise<void> {
    this.isStopping = true;
    this.send({ kind: 'stop', why });
    const timer = setTimeout(() => this.kill(), withinMs);
    await this.exited;
    clearTimeout(timer);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #watch(): void {
    const ask = () => this.send({ kind: 'ping' });
    this.#heartbeat = new Heartbeat({ ...this.#beat, ask, onSilence: () => this.#onHang(this) });
  }

  #receive(message: FromWorker, handle: unknown): void {
    switch (message.kind) {
      case 'prepared':
        return this.#prepared.resolve();
      case 'ready':
        this.isReady = true;
        this.#watch();
        return this.#ready.resolve(message);
      case 'pong':
        return this.#heartbeat?.answered();
      case 'socket':
        return this.#onSocket(handle as SocketServer);
      case 'sockets sent':
        return this.#onSocketsSent();
      case 'metrics':
        this.lastMetrics = message.snapshot;
        if (message.id !== undefined) this.#metrics.get(message.id)?.(message.snapshot);
        return;
      default:
        this.#onMessage(this, message);
    }
  }
}

function forkWorker({ script, args, env }: WorkerProgram): ChildProcess {
  try {
    return fork(script, [...args], { env });
  } catch (error) {
    throw new EarlyExit({ code: null, signal: null, failure: error as Error });
  }
}

/** Resolves when the process ends. One that was never started emits `error` and no `exit`. */
function endOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    // Messages that could not be sent are errors, too.
    child.on('error', (failure) => {
      if (child.pid === undefined) resolve({ code: null, signal: null, failure });
    });
  });
}

/** A worker ended before it accepted connections. */
export class EarlyExit extends Error {
  override readonly name = 'EarlyExit';
  readonly exit: Exit;

  constructor(exit: Exit) {
    super(`A worker ended at its start (${describeExit(exit)}).`);
    this.exit = exit;
  }
}

export function describeExit({ code, signal, failure }: Exit): string {
  if (failure) return failure.message;
  return signal ? `signal ${signal}` : `exit code ${code}`;
}
