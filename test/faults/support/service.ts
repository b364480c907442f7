import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from './client.ts';
import { type Counts, readCounts } from './histogram.ts';
import { freePort } from '../../support/ports.ts';
import { onAllCores } from './tools.ts';

/** This checkout, which is the default; a fault can run the server of another one to compare them. */
const repository = join(import.meta.dirname, '../../..');
const readyWithinMs = 180_000;

export interface ServiceOptions {
  /** The folder of its data directory and its log. */
  readonly folder: string;
  /** PostgreSQL; without it, the embedded engine in the folder. */
  readonly databaseUrl?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The checkout whose server is run; by default this one. */
  readonly product?: string | undefined;
  /** Flags of `serve`; without them it starts no demo workspace. */
  readonly flags?: readonly string[] | undefined;
}

/** So high that no request is refused for its quota, unless the fault sets another one. */
const generous = { REQUESTS_PER_MINUTE: '1000000000', COST_PER_HOUR: '1000000000' };

/** `workgraph serve` as a child process, on a port that stays the same across restarts. */
export class Service {
  readonly url: string;
  readonly dataDir: string;
  readonly logFile: string;
  readonly #options: ServiceOptions;
  readonly #port: number;
  readonly #metricsPort: number;
  #child: ChildProcess | undefined;

  private constructor(options: ServiceOptions, port: number, metricsPort: number) {
    this.#options = options;
    this.#port = port;
    this.#metricsPort = metricsPort;
    this.url = `http://127.0.0.1:${port}`;
    this.dataDir = join(options.folder, 'service');
    this.logFile = join(options.folder, `service-${port}.log`);
  }

  /** Returns a service that is not started. */
  static async prepare(options: ServiceOptions): Promise<Service> {
    return new Service(options, await freePort(), await freePort());
  }

  /** Starts the process, and returns the time until it answered `/health`. */
  async start(env: Readonly<Record<string, string>> = {}): Promise<number> {
    const began = performance.now();
    this.launch(env);
    await this.untilAnswers();
    return performance.now() - began;
  }

  /** Starts the process without waiting for it. */
  launch(env: Readonly<Record<string, string>> = {}): void {
    const log = openSync(this.logFile, 'a');
    const { databaseUrl, product = repository, flags = ['--no-demo'] } = this.#options;
    const script = join(product, 'bin/workgraph.js');
    const [program, args] = onAllCores(process.execPath, [script, 'serve', ...flags]);
    const { PATH = '', HOME = '' } = process.env;
    this.#child = spawn(program, args, {
      env: {
        PATH,
        HOME,
        NO_COLOR: '1',
        NODE_ENV: 'production',
        LOG_LEVEL: 'warn',
        PORT: String(this.#port),
        METRICS_ADDRESS: `127.0.0.1:${this.#metricsPort}`,
        DATA_DIR: this.dataDir,
        ...generous,
        ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
        ...this.#options.env,
        ...env,
      },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
  }

  async untilAnswers(): Promise<void> {
    const until = performance.now() + readyWithinMs;
    const client = new Client(this.url);
    try {
      for (;;) {
        const answer = await client.send({ path: '/health', withinMs: 1_000 }).catch(() => undefined);
        if (answer?.status === 200) return;
        if (!this.isRunning) throw new Error(`The server ended at its start: ${this.logTail()}`);
        if (performance.now() > until) throw new Error(`The server does not answer: ${this.logTail()}`);
        await delay(10);
      }
    } finally {
      client.close();
    }
  }

  get isRunning(): boolean {
    const child = this.#child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Its metrics as text. */
  async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.#metricsPort}/metrics`)).text();
  }

  /** The current counts of its histogram. */
  counts(): Promise<Counts> {
    return readCounts(this.metricsUrl);
  }

  get metricsUrl(): string {
    return `http://127.0.0.1:${this.#metricsPort}/metrics`;
  }

  /** The end of its log and output. */
  logTail(): string {
    return readFileSync(this.logFile, 'utf8').slice(-4_000);
  }

  /** Sends the signal, and returns the exit code once the process has ended: null if the signal ended it. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const child = this.#child;
    if (!child || !this.isRunning) return child?.exitCode ?? null;
    const exit = once(child, 'exit') as Promise<[number | null]>;
    child.kill(signal);
    const [code] = await exit;
    return code;
  }
}
