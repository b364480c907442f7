import type pg from 'pg';
import { BorrowedConnection, type TextRows } from './borrowed-connection.ts';
import { meter } from './meter.ts';
import type { Deadline } from './deadline.ts';
import type { Prepared } from '../statements/prepared.ts';
import type { PostgresWire } from '../wire/postgres-wire.ts';
import { connectionTerminated, isConnectionLoss, readTimeout } from './unavailable.ts';

/** The maximum number of statements that are underway on one connection. The last of them waits for all others. */
const maxUnderway = 8;
/** No statement is sent behind one that has had the connection for longer than this. */
const slowMs = 20;
/** No statement is sent behind one that was sent longer ago than this, because the statements before it are slow. */
const oldMs = 100;
/** A statement that has waited for others for this long is sent again over a connection of its own. */
const waitMs = 100;
/** The interval at which waiting times are checked. */
const checkMs = 50;
/** An idle connection is given back after this time, because it may have been lost without notice. */
const idleMs = 30_000;

/** What a shared connection needs from its pool. */
export interface Lender {
  readonly wire: PostgresWire;
  lend(): Promise<pg.PoolClient>;
  giveBack(client: pg.PoolClient, state: 'usable' | 'lost'): void;
  /** The name under which a connection keeps the statement; undefined while it does not keep it. */
  nameOn(client: pg.PoolClient, statement: Prepared): string | undefined;
  /** Whether the connection takes no more statements, and is replaced when those that it has have been answered. */
  isSpent(client: pg.PoolClient): boolean;
  /** The error for a caller whose connection was lost. */
  unavailable(error: unknown): Error;
  /** Cancels the statement that runs on the connection, which is closed afterwards. */
  cancel(client: pg.PoolClient): void;
  /** Runs a statement on a connection of its own. */
  runSeparately(statement: Prepared, parameters: unknown[]): Promise<TextRows>;
  /** How long a statement may take before the connection is considered lost. */
  readonly lostMs: number;
}

/** The rows, or 'waited' when the statements before it took too long. A read can safely be run a second time. */
type StatementResult = TextRows | 'waited';

/** A statement that has been sent. */
interface PendingStatement {
  readonly sentAtMs: number;
  readonly deadline: Deadline | undefined;
  /** Undefined when the caller no longer waits. The answer arrives nevertheless. */
  settle: ((error: Error | null, rows?: StatementResult) => void) | undefined;
}

/**
 * A connection over which quick reads of several requests are sent without waiting for answers. The server finds the
 * next statement as soon as it has answered one, and several answers arrive together. Under load this saves a quarter
 * of the CPU time of a small read in this process, and more in the server. Each statement is its own transaction and
 * fails alone.
 */
export class SharedConnection {
  /** Takes prepared statements only. Releasing it does nothing. */
  readonly connection: BorrowedConnection;
  readonly #lender: Lender;
  /** The statements without an answer, in the order in which they were sent. */
  readonly #underway: PendingStatement[] = [];
  #client: pg.PoolClient | undefined;
  /** The time since which the first statement has had the connection, or since which the connection is idle. */
  #sinceMs = 0;
  #checkTimer: NodeJS.Timeout | undefined;
  #isOpening = false;
  #isCorked = false;
  #closed: (() => void) | undefined;
  readonly #lose = () => this.#giveBack('lost');

  constructor(lender: Lender) {
    this.#lender = lender;
    this.connection = new BorrowedConnection(
      {
        query: () =>
          Promise.reject(new Error('The shared connection was given a statement that is not prepared.')),
        prepared: async (statement, parameters) => {
          const rows = await this.#send(statement, parameters);
          return rows === 'waited' ? this.#lender.runSeparately(statement, parameters) : rows;
        },
      },
      () => undefined,
    );
  }

  get isIdle(): boolean {
    return this.#client !== undefined && this.#underway.length === 0;
  }

  get underway(): number {
    return this.#underway.length;
  }

  /**
   * Whether another statement may be sent. Without a connection, this opens one for later statements and returns false.
   */
  takesMore(): boolean {
    const client = this.#client;
    if (!client) {
      void this.#open();
      return false;
    }
    const [oldest] = this.#underway;
    if (this.#lender.isSpent(client)) {
      if (!oldest) this.#giveBack('usable');
      return false;
    }
    if (!oldest) return true;
    const nowMs = performance.now();
    return (
      this.#underway.length < maxUnderway && nowMs - this.#sinceMs < slowMs && nowMs - oldest.sentAtMs < oldMs
    );
  }

  /** Gives the connection back when all statements have been answered, and does not open another. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#closed = resolve;
      if (this.#isOpening) return;
      if (this.#underway.length === 0) this.#giveBack('usable');
    });
  }

  async #open(): Promise<void> {
    if (this.#isOpening || this.#closed) return;
    this.#isOpening = true;
    try {
      const client = await this.#lender.lend();
      this.#client = client;
      this.#sinceMs = performance.now();
      this.#checkTimer = setInterval(() => this.#check(), checkMs).unref();
      client.once('error', this.#lose);
      client.once('end', this.#lose);
    } catch {
      // A caller that then asks for a connection of its own gets the error.
    }
    this.#isOpening = false;
    if (this.#closed) this.#giveBack('usable');
  }

  #giveBack(state: 'usable' | 'lost'): void {
    const client = this.#client;
    clearInterval(this.#checkTimer);
    client?.off('error', this.#lose);
    client?.off('end', this.#lose);
    this.#client = undefined;
    for (const sent of this.#underway.splice(0)) this.#settle(sent, connectionLost());
    if (client) this.#lender.giveBack(client, state);
    this.#closed?.();
  }

  #send(statement: Prepared, values: unknown[]): Promise<StatementResult> {
    const deadline = meter()?.deadline;
    deadline?.check();
    return new Promise((resolve, reject) => {
      const client = this.#client;
      if (!client) return reject(this.#lender.unavailable(connectionLost()));
      const sent: PendingStatement = {
        sentAtMs: performance.now(),
        deadline,
        settle: (error, rows) => (rows ? resolve(rows) : reject(error)),
      };
      if (this.#underway.length === 0) this.#sinceMs = sent.sentAtMs;
      this.#underway.push(sent);
      const name = this.#lender.nameOn(client, statement);
      const answered = (error: Error | null, rows?: TextRows) => {
        const tookMs = this.#removeAnswered(sent);
        if (tookMs !== undefined) statement.recordDuration(tookMs);
        if (sent.settle) this.#settle(sent, error, rows);
        else rows?.release?.();
      };
      this.#corkUntilNextTick(client);
      this.#lender.wire
        .run(client, statement, { name, values, timeoutMs: undefined })
        .then((rows) => answered(null, rows), answered);
    });
  }

  /**
   * Collects what is written before the next tick into one write. Waiting for the end of this turn of the event loop would
   * save more writes, but turns are long in an overload, and the server would be idle meanwhile.
   */
  #corkUntilNextTick(client: pg.PoolClient): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    const uncork = this.#lender.wire.cork(client);
    process.nextTick(() => {
      this.#isCorked = false;
      uncork();
    });
  }

  /** Removes an answered statement. Returns how long it had the connection; undefined when the connection was lost. */
  #removeAnswered(sent: PendingStatement): number | undefined {
    const index = this.#underway.indexOf(sent);
    if (index < 0) return undefined;
    this.#underway.splice(index, 1);
    const nowMs = performance.now();
    const tookMs = nowMs - this.#sinceMs;
    this.#sinceMs = nowMs;
    if (this.#underway.length === 0 && this.#closed) this.#giveBack('usable');
    return tookMs;
  }

  #settle(sent: PendingStatement, error: Error | null, rows?: StatementResult): void {
    const { settle } = sent;
    sent.settle = undefined;
    settle?.(error && isConnectionLoss(error) ? this.#lender.unavailable(error) : error, rows);
  }

  #check(): void {
    const nowMs = performance.now();
    const client = this.#client as pg.PoolClient;
    const elapsedMs = nowMs - this.#sinceMs;
    if (this.#underway.length === 0) {
      if (elapsedMs > idleMs) this.#giveBack('usable');
      return;
    }
    for (const [index, sent] of this.#underway.entries()) {
      if ((sent.deadline?.leftMs ?? 1) <= 0) this.#settle(sent, new Error(readTimeout));
      else if (index > 0 && nowMs - sent.sentAtMs > waitMs) this.#settle(sent, null, 'waited');
    }
    if (elapsedMs < this.#lender.lostMs) return;
    this.#lender.cancel(client);
    this.#giveBack('lost');
  }
}

/** With the message of pg, by which `isConnectionLoss` recognizes it. */
const connectionLost = () => new Error(connectionTerminated);

/** The shared connections of a pool. */
export class SharedConnections {
  readonly #all: readonly SharedConnection[];

  constructor(count: number, lender: Lender) {
    this.#all = Array.from({ length: count }, () => new SharedConnection(lender));
  }

  get idle(): number {
    return this.#all.filter(({ isIdle }) => isIdle).length;
  }

  /**
   * The connection with the fewest statements underway; undefined when none takes more or the statement is not quick.
   */
  for(statement: Prepared): BorrowedConnection | undefined {
    if (!statement.isQuick) return undefined;
    let least: SharedConnection | undefined;
    for (const each of this.#all)
      if (each.takesMore() && (least === undefined || each.underway < least.underway)) least = each;
    return least?.connection;
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((each) => each.close()));
  }
}
