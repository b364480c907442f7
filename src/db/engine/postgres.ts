import pg from 'pg';
import { decodedTypes } from '../wire/decoded-types.ts';
import { BorrowedConnection, type Pool, type PoolLoad } from './borrowed-connection.ts';
import { meter } from './meter.ts';
import type { Deadline } from './deadline.ts';
import { RequestPermits } from './request-permits.ts';
import { GuardedSession } from './guarded-session.ts';
import { Semaphore } from './semaphore.ts';
import { maxPreparedNames, type Prepared } from '../statements/prepared.ts';
import { WriteSignals } from '../statements/write-signals.ts';
import { type PostgresWire, type WireName, wires } from '../wire/postgres-wire.ts';
import { Generations } from './generations.ts';
import { Probe, ignoreConnectionLoss } from './database-probe.ts';
import { SharedConnections } from './shared-connection.ts';
import { DatabaseUnavailableError, unavailable } from './unavailable.ts';

/** How to connect to PostgreSQL, and the limits of its use. */
export interface PostgresLocation {
  readonly url: string;
  /**
   * The largest number of connections; 10 by default. A process has one more for probes, and another for the lock of the janitor
   * while that works in it. The one for LISTEN is opened by `listener.ts`.
   */
  readonly poolSize?: number | undefined;
  /** The time after which the server ends a statement; 30,000 by default. 0, for migrations, means no limit. */
  readonly statementTimeoutMs?: number | undefined;
  /**
   * The time after which the server ends a statement that waits for a lock; by default `statementTimeoutMs` applies.
   */
  readonly lockTimeoutMs?: number | undefined;
  /** How long opening a connection may take; 5,000 by default. */
  readonly connectTimeoutMs?: number | undefined;
  /** How long to wait for a free connection outside of requests; `connectTimeoutMs` by default. */
  readonly waitMs?: number | undefined;
  /** The time after which the server ends a transaction in which nothing happens; 60,000 by default. */
  readonly idleTransactionMs?: number | undefined;
  /** Whether a connection keeps its settings and prepared statements. It does not behind a transaction pooler. */
  readonly prepared?: boolean | undefined;
  /** How statements are sent and rows are read; `fast` by default. */
  readonly wire?: WireName | undefined;
}

/**
 * The settings of the planner, which the benchmarks in `bench` use, too. PostgreSQL's default of 4 is for spinning
 * disks: with it, the planner may scan and sort 200,000 rows for a page that could examine 20,000 along an index.
 * `PGOPTIONS` and `options` in the URL override them.
 */
// oxlint-disable-next-line node/no-process-env -- pg reads it only where it gets no options.
const plannerOptions = () => ['-c random_page_cost=1.1', process.env.PGOPTIONS ?? ''].join(' ').trim();

/** How much longer than `statementTimeoutMs` this process waits for an answer. It gives up only if the server is frozen. */
const clientTimeoutMarginMs = 500;
const idleConnectionMs = 30_000;

/** The connections to a PostgreSQL server. A lost connection fails the statements on it and never ends the process. */
export class ServerPool implements Pool {
  readonly options = {};
  readonly writeSignals = new WriteSignals();
  readonly generations = new Generations();
  readonly #pool: pg.Pool;
  readonly #probe: Probe;
  readonly #permits: Semaphore;
  readonly #requestPermits: RequestPermits;
  /** The permit for the one connection in addition to those of the pool. */
  readonly #outsidePool = new Semaphore(1);
  readonly #poolSize: number;
  /** The connections of the pool that are shared. */
  readonly #shared: SharedConnections;
  readonly #waitMs: number;
  readonly #statementMs: number | undefined;
  readonly #address: string;
  readonly #prepared: boolean;
  readonly #wire: PostgresWire;
  /** Statements that set the limits of each transaction, where a connection does not keep its settings. */
  readonly #transactionSettings: string;
  /** How often each connection has run each statement, by the name of the statement. */
  readonly #named = new WeakMap<pg.PoolClient, Map<string, number>>();
  /** The connections of the pool, lent or not. */
  readonly #open = new Set<pg.PoolClient>();
  /** The notifications that are being sent. */
  readonly #notifying = new Set<Promise<unknown>>();
  #ended: Promise<void> | undefined;

  constructor(location: PostgresLocation) {
    const { poolSize = 10, statementTimeoutMs = 30_000, lockTimeoutMs = 0 } = location;
    const { idleTransactionMs = 60_000 } = location;
    const { connectTimeoutMs = 5_000, waitMs = connectTimeoutMs, prepared = true } = location;
    const wire = wires[location.wire ?? 'fast'];
    this.#address = addressOf(location.url);
    this.#prepared = prepared;
    this.#poolSize = poolSize;
    this.#wire = wire;
    this.#waitMs = waitMs;
    this.#statementMs = statementTimeoutMs === 0 ? undefined : statementTimeoutMs + clientTimeoutMarginMs;
    const shared = prepared && wire.isPipelined ? sharedCount(poolSize) : 0;
    this.#permits = new Semaphore(poolSize - shared);
    this.#requestPermits = new RequestPermits(poolSize);
    this.#shared = new SharedConnections(shared, {
      wire,
      lend: () => this.generations.lend(this.#pool),
      giveBack: (client, state) => client.release(state === 'lost' || this.#isSpent(client)),
      nameOn: (client, statement) => this.#nameOn(client, statement),
      isSpent: (client) => this.#isSpent(client),
      unavailable: (error) => unavailable(this.#address, error),
      cancel: (client) => this.#cancel(client),
      runSeparately: async (statement, parameters) => {
        const connection = await this.connect();
        return connection.repeat(statement, parameters).finally(() => connection.release());
      },
      lostMs: this.#statementMs ?? Number.POSITIVE_INFINITY,
    });
    const limits = {
      statement_timeout: statementTimeoutMs,
      lock_timeout: lockTimeoutMs,
      idle_in_transaction_session_timeout: idleTransactionMs,
    };
    this.#transactionSettings = prepared ? '' : setLocalStatements(limits);
    const common = {
      connectionString: location.url,
      application_name: 'workgraph',
      keepAlive: true,
      types: decodedTypes,
    };
    this.#pool = new pg.Pool({
      ...common,
      ...wire.poolOptions,
      // A pooler refuses a connection that starts with parameters it does not know.
      ...(prepared && { ...limits, options: plannerOptions() }),
      max: poolSize + 1,
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: idleConnectionMs,
    });
    ignoreConnectionLoss(this.#pool);
    this.#probe = new Probe(common, this.generations);
    this.#pool.on('connect', (client) => {
      this.#open.add(client);
      client.once('end', () => this.#open.delete(client));
    });
  }

  async connect(): Promise<BorrowedConnection> {
    const deadline = meter()?.deadline;
    const permit = deadline && this.#requestPermits.acquire(deadline);
    const release = permit instanceof Promise ? await permit : permit;
    try {
      return await this.#connect(this.#permits, release);
    } catch (error) {
      release?.();
      throw error;
    }
  }

  async connectOutsidePool(): Promise<BorrowedConnection> {
    return this.#connect(this.#outsidePool);
  }

  async #connect(permits: Semaphore, onRelease?: () => void): Promise<BorrowedConnection> {
    const deadline = meter()?.deadline;
    deadline?.check();
    const waitMs = deadline?.waitMs ?? this.#waitMs;
    const sinceMs = performance.now();
    const isAcquired = await permits.acquire({ withinMs: waitMs, deadline, holder: deadline });
    deadline?.waited(performance.now() - sinceMs);
    if (!isAcquired) {
      throw new DatabaseUnavailableError(
        `PostgreSQL at ${this.#address} is unavailable: all connections were busy for ${Math.round(waitMs)} ms.`,
      );
    }
    try {
      const client = await this.generations.lend(this.#pool);
      const giveBack = () => {
        permits.release(deadline);
        onRelease?.();
      };
      return this.#lend(client, giveBack, deadline);
    } catch (error) {
      permits.release(deadline);
      throw unavailable(this.#address, error);
    }
  }

  #lend(client: pg.PoolClient, giveBack: () => void, deadline: Deadline | undefined): BorrowedConnection {
    const session = new GuardedSession(client, deadline, {
      wire: this.#wire,
      statementMs: this.#statementMs,
      transactionSettings: this.#transactionSettings,
      nameOf: (statement) => this.#nameOn(client, statement),
      cancel: () => this.#cancel(client),
      onReadOnly: () => this.generations.reportRefusedWrite(client),
      unavailable: (error) => unavailable(this.#address, error),
    });
    const release = (destroy = false) => {
      const isLost = session.end();
      client.release(destroy || isLost || this.#isSpent(client));
      giveBack();
    };
    return new BorrowedConnection(session, release, this.writeSignals);
  }

  /** Asks the server to cancel the statement that runs on a connection. It may have ended already. */
  #cancel(client: pg.PoolClient): void {
    const { processID } = client as pg.PoolClient & { processID: number | null };
    // The process ids of a pooler are its own, and those of an old primary belong to others on the new one. The time
    // limit of the statement ends it there.
    if (processID === null || !this.#prepared || this.generations.isOld(client)) return;
    this.#probe.send('select pg_cancel_backend($1)', [processID]).catch(() => undefined);
  }

  shared(statement: Prepared): BorrowedConnection | undefined {
    return this.#shared.for(statement);
  }

  async ping(): Promise<void> {
    await this.#probe.send('select 1').catch((error: unknown) => {
      throw unavailable(this.#address, error);
    });
  }

  /**
   * Notifies all processes that listen on a channel, in the background and over the connection for probes. A
   * notification that fails is lost, so nothing may depend on it.
   */
  notify(channel: string, payload: string): void {
    const sending = this.#probe
      .send('select pg_notify($1, $2)', [channel, payload])
      .catch(() => undefined)
      .finally(() => this.#notifying.delete(sending));
    this.#notifying.add(sending);
  }

  /** A statement gets a name from its second use on, because each name takes memory in the server. */
  #nameOn(client: pg.PoolClient, { name }: Prepared): string | undefined {
    if (!this.#prepared) return undefined;
    const named = this.#named.get(client) ?? new Map<string, number>();
    this.#named.set(client, named);
    const uses = (named.get(name) ?? 0) + 1;
    named.set(name, uses);
    return uses > 1 ? name : undefined;
  }

  /**
   * A connection keeps its prepared statements until it is closed, so one with too many of them is replaced, like one
   * of an old generation.
   */
  #isSpent(client: pg.PoolClient): boolean {
    return this.generations.isOld(client) || (this.#named.get(client)?.size ?? 0) > maxPreparedNames;
  }

  /** Destroys all connections, which fails the statements on them. */
  destroyConnections(): void {
    // The types of pg do not declare the connection of a client.
    for (const client of this.#open)
      (client as unknown as { connection: pg.Connection }).connection.stream.destroy();
  }

  load(): PoolLoad {
    const { totalCount, idleCount } = this.#pool;
    const idle = idleCount + this.#shared.idle;
    return { open: totalCount, idle, size: this.#poolSize, waiting: this.#permits.waiting };
  }

  end(): Promise<void> {
    this.#ended ??= Promise.all([
      this.#shared.close().then(() => this.#pool.end()),
      Promise.all(this.#notifying).then(() => this.#probe.end()),
    ]).then(() => undefined);
    return this.#ended;
  }
}

/**
 * How many of the connections are shared. Most are not, because writes and slow reads need a connection of their own.
 */
function sharedCount(poolSize: number): number {
  return Math.min(2, Math.floor(poolSize / 3));
}

/** Host and port of the URL, as pg reads it. The error that pg throws for an invalid URL would contain the password. */
function addressOf(url: string): string {
  try {
    if (!/^postgres(?:ql)?:\/\//.test(url)) throw new Error('another scheme');
    const { host, port } = new pg.Client({ connectionString: url });
    return `${host}:${port}`;
  } catch (error) {
    // The certificates that the parameters of a URL name are read at once.
    const { code, path } = error as NodeJS.ErrnoException;
    if (code && path)
      throw new DatabaseUnavailableError(`The database URL names ${path}, which cannot be read.`);
    throw new DatabaseUnavailableError(
      'The database URL is not one of PostgreSQL (postgres://user@host/name).',
    );
  }
}

function setLocalStatements(limits: Readonly<Record<string, number>>): string {
  return Object.entries(limits)
    .map(([name, value]) => `; set local ${name} = ${value}`)
    .join('');
}
