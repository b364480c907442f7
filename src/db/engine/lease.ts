import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { measure, meter } from './meter.ts';
import type { Prepared, Values } from '../query/prepared.ts';
import { type ReferenceWrites, writesReference } from '../writes/reference-writes.ts';
import { type TextRow, textsOf } from '../wire/wire-row.ts';

/** Rows as PostgreSQL writes them: text by the place of the column, and the types of the columns as OIDs. */
export interface TextRows<Row extends TextRow = TextRow> {
  readonly rows: readonly Row[];
  readonly types: readonly number[];
  /** Said once nothing reads the rows any more: what they stand in is used again. Nothing is lost where nobody says it. */
  readonly release?: () => void;
}

/** How an engine sends statements on one of its connections. */
export interface Session {
  query<Row>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  /** Sent under its name, so that the connection parses and plans it once. */
  prepared(statement: Prepared, parameters: unknown[]): Promise<TextRows>;
}

/** How an engine's connections are used now. */
export interface PoolLoad {
  readonly open: number;
  readonly idle: number;
  /** At most. */
  readonly size: number;
  /** Who asked for a connection and has none yet. */
  readonly waiting: number;
}

/** An engine's connections, each lent to one at a time. */
export interface Pool extends PostgresPool {
  load(): PoolLoad;
  /** Hears of writes to reference data that were made over these connections. */
  readonly referenceWrites: ReferenceWrites;
  /** Asks whether the database answers, past all who wait for a connection where the engine can. */
  ping(): Promise<void>;
  connect(): Promise<Lease>;
  /** A connection that others use at the same time, where there is one for this statement, which reads. */
  shared(statement: Prepared): Lease | undefined;
}

/** A connection lent until it is released: the one place that every statement of both engines passes. */
export class Lease implements PostgresPoolClient {
  readonly #session: Session;
  readonly #giveBack: (destroy?: boolean) => void;
  readonly #referenceWrites: ReferenceWrites | undefined;
  #wroteReference = false;

  constructor(session: Session, giveBack: (destroy?: boolean) => void, referenceWrites?: ReferenceWrites) {
    this.#session = session;
    this.#giveBack = giveBack;
    this.#referenceWrites = referenceWrites;
  }

  /** The same connection for somebody who gives it back to who lends it here. */
  lent(): Lease {
    return new Lease(this.#session, () => undefined, this.#referenceWrites);
  }

  /** Gives the connection back, or away; by then its transaction has ended. */
  release(destroy?: boolean): void {
    this.#giveBack(destroy);
    if (this.#wroteReference) this.#referenceWrites?.ended();
  }

  query<Row>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  query<Row>(
    sql: string | PostgresCursor<Row>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<Row>> | PostgresCursor<Row> {
    if (typeof sql !== 'string') throw new Error('Streaming is not supported; read pages by key.');
    this.#wroteReference ||= writesReference(sql);
    return measure(sql, async () => {
      const result = await this.#session.query<Row>(sql, parameters);
      meter()?.allowance?.spendRows(result.rows);
      return result;
    });
  }

  /** Runs a prepared statement; those that are asked for together go out together where the engine can. */
  rows(statement: Prepared, values: Values): Promise<TextRows> {
    this.#wroteReference ||= statement.writesReference;
    return measure(statement.text, () => this.#session.prepared(statement, statement.bind(values)));
  }

  /** Runs a read once more that another connection was asked for, where it is measured until it is answered. */
  again(statement: Prepared, parameters: unknown[]): Promise<TextRows> {
    return this.#session.prepared(statement, parameters);
  }

  /** The same with every cell as a text, for rows that stay. */
  async texts(statement: Prepared, values: Values): Promise<TextRows<readonly (string | null)[]>> {
    const { rows, types, release } = await this.rows(statement, values);
    const texts = rows.map(textsOf);
    release?.();
    return { rows: texts, types };
  }
}
