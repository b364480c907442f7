import type pg from 'pg';
import { Lease, type TextRows } from './lease.ts';
import { meter } from './meter.ts';
import type { Deadline } from './deadline.ts';
import type { Prepared } from '../query/prepared.ts';
import type { PostgresWire } from '../wire/postgres-wire.ts';
import { isConnectionLoss } from './unavailable.ts';

/** Statements under way at most: the last of them waits for all others. */
const mostUnderway = 8;
/** A statement that has had a connection for longer is not followed by others. */
const slowMs = 20;
/** Nor are others sent behind one that was sent so long ago: those before it were slow. */
const oldMs = 100;
/** Who has waited for others for so long is answered over a connection of its own. */
const waitMs = 100;
/** How often it is looked whether somebody has waited for too long. */
const lookMs = 50;
/** An unused connection may have been cut on the way without a word. */
const idleMs = 30_000;

/** What a shared connection needs of the pool that it comes from. */
export interface Lender {
  readonly wire: PostgresWire;
  lend(): Promise<pg.PoolClient>;
  giveBack(client: pg.PoolClient, how: 'whole' | 'lost'): void;
  /** The name under which a connection keeps the statement; undefined where it does not yet. */
  nameOn(client: pg.PoolClient, statement: Prepared): string | undefined;
  /** Has the connection learned as many names as it may. */
  isFull(client: pg.PoolClient): boolean;
  /** What a lost connection is to who waits for an answer. */
  unavailable(error: unknown): Error;
  /** Ends what runs on the connection, which nobody is given again. */
  cancel(client: pg.PoolClient): void;
  /** Runs a statement on a connection of its own. */
  alone(statement: Prepared, parameters: unknown[]): Promise<TextRows>;
  /** How long a statement may take before the server, or the way to it, is taken for lost. */
  readonly lostMs: number;
}

/** The rows, or that those before it took too long: a read does no harm when it is run a second time. */
type Answered = TextRows | 'waited';

/** A statement that has been sent. */
interface Sent {
  readonly atMs: number;
  readonly deadline: Deadline | undefined;
  /** Undefined once nobody waits for the answer any more, which comes nevertheless. */
  settle: ((error: Error | null, rows?: Answered) => void) | undefined;
}

/**
 * A connection over which quick reads of several requests go out one behind the other, without waiting for answers.
 * The server finds the next statement when it has answered one, and answers of several come together: under load that
 * takes a quarter off what a small read costs here, and more there. Each is a transaction of its own, and fails alone.
 */
export class SharedConnection {
  /** For prepared statements alone; there is nothing to release. */
  readonly lease: Lease;
  readonly #lender: Lender;
  /** In the order of their answers. */
  readonly #underway: Sent[] = [];
  #client: pg.PoolClient | undefined;
  /** Since when the first statement has had the connection, or since when there has been none. */
  #sinceMs = 0;
  #looking: NodeJS.Timeout | undefined;
  #isOpening = false;
  #isHeld = false;
  #closed: (() => void) | undefined;
  readonly #lose = () => this.#giveBack('lost');

  constructor(lender: Lender) {
    this.#lender = lender;
    this.lease = new Lease(
      {
        query: () => Promise.reject(new Error('A shared connection takes prepared statements alone.')),
        prepared: async (statement, parameters) => {
          const rows = await this.#send(statement, parameters);
          return rows === 'waited' ? this.#lender.alone(statement, parameters) : rows;
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

  /** May another statement go over it; a connection that is not there is opened for those to come. */
  takesMore(): boolean {
    const client = this.#client;
    if (!client) {
      void this.#open();
      return false;
    }
    const [oldest] = this.#underway;
    if (this.#lender.isFull(client)) {
      if (!oldest) this.#giveBack('whole');
      return false;
    }
    if (!oldest) return true;
    const nowMs = performance.now();
    return (
      this.#underway.length < mostUnderway && nowMs - this.#sinceMs < slowMs && nowMs - oldest.atMs < oldMs
    );
  }

  /** Gives the connection back when all has been answered, and takes no other. */
  close(): Promise<void> {
    return new Promise((resolve) => {
      this.#closed = resolve;
      if (this.#isOpening) return;
      if (this.#underway.length === 0) this.#giveBack('whole');
    });
  }

  async #open(): Promise<void> {
    if (this.#isOpening || this.#closed) return;
    this.#isOpening = true;
    try {
      const client = await this.#lender.lend();
      this.#client = client;
      this.#sinceMs = performance.now();
      this.#looking = setInterval(() => this.#look(), lookMs).unref();
      client.once('error', this.#lose);
      client.once('end', this.#lose);
    } catch {
      // Why there is none is told to who asks for a connection of its own.
    }
    this.#isOpening = false;
    if (this.#closed) this.#giveBack('whole');
  }

  #giveBack(how: 'whole' | 'lost'): void {
    const client = this.#client;
    clearInterval(this.#looking);
    client?.off('error', this.#lose);
    client?.off('end', this.#lose);
    this.#client = undefined;
    for (const sent of this.#underway.splice(0)) this.#settle(sent, connectionLost());
    if (client) this.#lender.giveBack(client, how);
    this.#closed?.();
  }

  #send(statement: Prepared, values: unknown[]): Promise<Answered> {
    const deadline = meter()?.deadline;
    deadline?.check();
    return new Promise((resolve, reject) => {
      const client = this.#client;
      if (!client) return reject(this.#lender.unavailable(connectionLost()));
      const sent: Sent = {
        atMs: performance.now(),
        deadline,
        settle: (error, rows) => (rows ? resolve(rows) : reject(error)),
      };
      if (this.#underway.length === 0) this.#sinceMs = sent.atMs;
      this.#underway.push(sent);
      const name = this.#lender.nameOn(client, statement);
      const answered = (error: Error | null, rows?: TextRows) => {
        const tookMs = this.#answered(sent);
        if (tookMs !== undefined) statement.took(tookMs);
        if (sent.settle) this.#settle(sent, error, rows);
        else rows?.release?.();
      };
      this.#hold(client);
      this.#lender.wire
        .run(client, statement, { name, values, timeoutMs: undefined })
        .then((rows) => answered(null, rows), answered);
    });
  }

  /**
   * Has what is sent by all that goes on now go out together. Waiting for what else comes in this turn of the event loop
   * would spare more writes, but in an overload, whose turns are long, the server would have nothing to do meanwhile.
   */
  #hold(client: pg.PoolClient): void {
    if (this.#isHeld) return;
    this.#isHeld = true;
    const uncork = this.#lender.wire.cork(client);
    process.nextTick(() => {
      this.#isHeld = false;
      uncork();
    });
  }

  /** Takes a statement off those that are under way; says how long it had the connection, unless that was lost. */
  #answered(sent: Sent): number | undefined {
    const place = this.#underway.indexOf(sent);
    if (place < 0) return undefined;
    this.#underway.splice(place, 1);
    const nowMs = performance.now();
    const tookMs = nowMs - this.#sinceMs;
    this.#sinceMs = nowMs;
    if (this.#underway.length === 0 && this.#closed) this.#giveBack('whole');
    return tookMs;
  }

  #settle(sent: Sent, error: Error | null, rows?: Answered): void {
    const { settle } = sent;
    sent.settle = undefined;
    settle?.(error && isConnectionLoss(error) ? this.#lender.unavailable(error) : error, rows);
  }

  #look(): void {
    const nowMs = performance.now();
    const client = this.#client as pg.PoolClient;
    const hasMs = nowMs - this.#sinceMs;
    if (this.#underway.length === 0) {
      if (hasMs > idleMs) this.#giveBack('whole');
      return;
    }
    for (const [place, sent] of this.#underway.entries()) {
      if ((sent.deadline?.leftMs ?? 1) <= 0) this.#settle(sent, new Error('Query read timeout'));
      else if (place > 0 && nowMs - sent.atMs > waitMs) this.#settle(sent, null, 'waited');
    }
    if (hasMs < this.#lender.lostMs) return;
    this.#lender.cancel(client);
    this.#giveBack('lost');
  }
}

/** As pg says it. */
const connectionLost = () => new Error('Connection terminated');

/** The connections of a pool that are shared. */
export class SharedConnections {
  readonly #all: readonly SharedConnection[];

  constructor(count: number, lender: Lender) {
    this.#all = Array.from({ length: count }, () => new SharedConnection(lender));
  }

  get idle(): number {
    return this.#all.filter(({ isIdle }) => isIdle).length;
  }

  /** The one with the least to do, for a statement that is known to be quick; undefined where none takes more. */
  for(statement: Prepared): Lease | undefined {
    if (!statement.isQuick) return undefined;
    let least: SharedConnection | undefined;
    for (const each of this.#all)
      if (each.takesMore() && (least === undefined || each.underway < least.underway)) least = each;
    return least?.lease;
  }

  async close(): Promise<void> {
    await Promise.all(this.#all.map((each) => each.close()));
  }
}
