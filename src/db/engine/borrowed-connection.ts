import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { measure, meter } from './meter.ts';
import type { Prepared, Values } from '../statements/prepared.ts';
import { signalsOf, type WriteSignal, type WriteSignals } from '../statements/write-signals.ts';
import { type TextRow, textsOf } from '../wire/wire-row.ts';

/** Rows as PostgreSQL sent them, with the types of their columns as OIDs. */
export interface TextRows<Row extends TextRow = TextRow> {
  readonly rows: readonly Row[];
  readonly types: readonly number[];
  /** To be called when the rows are no longer needed, so that their buffers can be reused. Calling it is optional. */
  readonly release?: () => void;
}

/** How an engine sends statements on one of its connections. */
export interface Session {
  query<Row>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  /** Sends a statement under its name, so that the connection parses and plans it once. */
  prepared(statement: Prepared, parameters: unknown[]): Promise<TextRows>;
}

/** How the connections of an engine are used at the moment. */
export interface PoolLoad {
  readonly open: number;
  readonly idle: number;
  /** The largest number of connections. */
  readonly size: number;
  /** The number of callers that wait for a connection. */
  readonly waiting: number;
}

/** The connections of an engine. Each is lent to one caller at a time, except for the shared ones. */
export interface Pool extends PostgresPool {
  load(): PoolLoad;
  /** Tells subscribers in this process about writes over these connections. */
  readonly writeSignals: WriteSignals;
  /** Throws when the database does not answer. On PostgreSQL it does not wait for a connection of the pool. */
  ping(): Promise<void>;
  connect(): Promise<BorrowedConnection>;
  /**
   * Lends a connection in addition to those of the pool, to one caller at a time: for a lock that is held while others use
   * the pool.
   */
  connectOutsidePool(): Promise<BorrowedConnection>;
  /** A shared connection for this statement, which must be a read; undefined when none is available for it. */
  shared(statement: Prepared): BorrowedConnection | undefined;
}

/** A connection that is lent until it is released. Every statement of both engines passes through this class. */
export class BorrowedConnection implements PostgresPoolClient {
  readonly #session: Session;
  readonly #giveBack: (destroy?: boolean) => void;
  readonly #writeSignals: Pick<WriteSignals, 'notify'> | undefined;
  readonly #written = new Map<WriteSignal, Set<string | undefined>>();

  constructor(
    session: Session,
    giveBack: (destroy?: boolean) => void,
    writeSignals?: Pick<WriteSignals, 'notify'>,
  ) {
    this.#session = session;
    this.#giveBack = giveBack;
    this.#writeSignals = writeSignals;
  }

  /**
   * The connection for another borrower, whose release does not return it to the pool. Its writes are reported by the
   * release of this one.
   */
  withoutRelease(): BorrowedConnection {
    return new BorrowedConnection(this.#session, () => undefined, {
      notify: (signal, workspaceId) => this.#note([signal], workspaceId),
    });
  }

  /** Gives the connection back, or closes it if `destroy` is true. Its transaction must have ended. */
  release(destroy?: boolean): void {
    this.#giveBack(destroy);
    for (const [signal, workspaceIds] of this.#written) {
      for (const workspaceId of workspaceIds) this.#writeSignals?.notify(signal, workspaceId);
    }
  }

  query<Row>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  query<Row>(
    sql: string | PostgresCursor<Row>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<Row>> | PostgresCursor<Row> {
    if (typeof sql !== 'string') throw new Error('Streaming is not supported; read pages by key.');
    this.#note(signalsOf(sql), undefined);
    return measure(sql, async () => {
      const result = await this.#session.query<Row>(sql, parameters);
      meter()?.allowance?.spendRows(result.rows);
      return result;
    });
  }

  /**
   * Runs a prepared statement. On PostgreSQL, statements that are sent in one turn of the event loop share a round
   * trip.
   */
  rows(statement: Prepared, values: Values): Promise<TextRows> {
    if (statement.signals.length > 0) this.#note(statement.signals, workspaceIn(values));
    return measure(statement.text, () => this.#session.prepared(statement, statement.bind(values)));
  }

  /**
   * Repeats a read that was sent over a shared connection. The meter does not count it again, because it still counts
   * the first run.
   */
  repeat(statement: Prepared, parameters: unknown[]): Promise<TextRows> {
    return this.#session.prepared(statement, parameters);
  }

  /** Runs a prepared statement and returns all cells as text, for rows that must outlive the buffers. */
  async texts(statement: Prepared, values: Values): Promise<TextRows<readonly (string | null)[]>> {
    const { rows, types, release } = await this.rows(statement, values);
    const texts = rows.map(textsOf);
    release?.();
    return { rows: texts, types };
  }

  #note(signals: readonly WriteSignal[], workspaceId: string | undefined): void {
    for (const signal of signals) {
      const workspaceIds = this.#written.get(signal) ?? new Set();
      this.#written.set(signal, workspaceIds.add(workspaceId));
    }
  }
}

function workspaceIn({ workspaceId }: Values): string | undefined {
  return typeof workspaceId === 'string' ? workspaceId : undefined;
}
