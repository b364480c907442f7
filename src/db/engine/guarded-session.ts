import type { PostgresQueryResult } from 'kysely';
import type pg from 'pg';
import type { Prepared } from '../statements/prepared.ts';
import type { PostgresWire } from '../wire/postgres-wire.ts';
import type { Session, TextRows } from './borrowed-connection.ts';
import type { Deadline } from './deadline.ts';
import { inOrder } from './in-order.ts';
import { isTransactionControl } from './meter.ts';
import { isConnectionLoss, isReadOnly } from './unavailable.ts';

/** The least time for a statement that begins or ends a transaction, even if the request has less left. */
const minControlMs = 500;
/** Matches a statement that begins a transaction. */
const beginsTransaction = /^(?:begin|start transaction)\b/;
/** How long a statement may continue when its client has disconnected. After that it is canceled. */
const cancelAfterMs = 50;

/** What a session needs from the pool of its connection. */
interface Owner {
  readonly wire: PostgresWire;
  /** How long a statement may take before the connection is considered lost. */
  readonly statementMs: number | undefined;
  /**
   * Statements that set the limits of each transaction, sent with its `begin`; empty where the connection keeps its
   * settings.
   */
  readonly transactionSettings: string;
  /** The name under which the connection keeps the statement; undefined when it does not keep it. */
  readonly nameOf: (statement: Prepared) => string | undefined;
  /** Cancels the statement that runs on the connection. */
  readonly cancel: () => void;
  /** Called when the server has refused a write because it takes none. */
  readonly onReadOnly: () => void;
  /** The error for a caller whose connection was lost. */
  readonly unavailable: (error: unknown) => Error;
}

/** Sends the statements of one borrower of a connection, within the time of its request. */
export class GuardedSession implements Session {
  readonly #client: pg.PoolClient;
  readonly #deadline: Deadline | undefined;
  readonly #owner: Owner;
  readonly #send: <Result>(work: () => Promise<Result>) => Promise<Result>;
  readonly #stopListening: (() => void) | undefined;
  #cancelTimer: NodeJS.Timeout | undefined;
  #isLost = false;

  constructor(client: pg.PoolClient, deadline: Deadline | undefined, owner: Owner) {
    this.#client = client;
    this.#deadline = deadline;
    this.#owner = owner;
    this.#send = owner.wire.isPipelined ? sendAtOnce : inOrder();
    this.#stopListening = deadline?.onDisconnect(() => this.#cancelSoon());
  }

  /** Ends the session. Returns whether the connection was lost, so that it must be closed. */
  end(): boolean {
    clearTimeout(this.#cancelTimer);
    this.#stopListening?.();
    return this.#isLost;
  }

  query<Row>(text: string, values: readonly unknown[]): Promise<PostgresQueryResult<Row>> {
    return this.#send(() =>
      this.#guard(text, async (timeoutMs) => {
        const { transactionSettings } = this.#owner;
        const begins = transactionSettings !== '' && beginsTransaction.test(text);
        const config: pg.QueryConfig & { query_timeout: number | undefined } = {
          ...(begins ? { text: text + transactionSettings } : { text, values: [...values] }),
          query_timeout: timeoutMs,
        };
        const answer = await this.#client.query(config);
        // A `begin` with settings consists of several statements, for each of which pg returns a result.
        const result: unknown = Array.isArray(answer) ? answer[0] : answer;
        return result as PostgresQueryResult<Row>;
      }),
    );
  }

  prepared(statement: Prepared, values: unknown[]): Promise<TextRows> {
    return this.#send(() => {
      const { wire, nameOf } = this.#owner;
      const name = nameOf(statement);
      return this.#guard(statement.text, (timeoutMs) => {
        // Measured only once it is sent: a statement that the deadline refuses has no duration.
        const sentAtMs = performance.now();
        const run = wire.run(this.#client, statement, { name, values, timeoutMs });
        return run.finally(() => statement.recordDuration(performance.now() - sentAtMs));
      });
    });
  }

  /** Sends a statement with the time that is left for it, and explains the loss of the connection. */
  async #guard<Result>(
    text: string,
    send: (timeoutMs: number | undefined) => Promise<Result>,
  ): Promise<Result> {
    const { statementMs, onReadOnly, unavailable } = this.#owner;
    const isControl = isTransactionControl(text);
    if (!isControl) this.#deadline?.check();
    const leftMs = this.#deadline?.leftMs ?? Number.POSITIVE_INFINITY;
    const withinMs = Math.min(statementMs ?? leftMs, isControl ? Math.max(leftMs, minControlMs) : leftMs);
    try {
      return await send(Number.isFinite(withinMs) ? Math.ceil(withinMs) : undefined);
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
      if (isReadOnly(error)) onReadOnly();
      // After a read timeout the connection still waits for its answer, so it is closed.
      else this.#isLost = true;
      throw unavailable(error);
    }
  }

  #cancelSoon(): void {
    this.#cancelTimer = setTimeout(() => {
      // The connection is closed afterwards: a late cancellation must not hit a statement of another request.
      this.#isLost = true;
      this.#owner.cancel();
    }, cancelAfterMs);
  }
}

function sendAtOnce<Result>(work: () => Promise<Result>): Promise<Result> {
  return work();
}
