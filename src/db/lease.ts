import type { PostgresCursor, PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { measure } from './meter.ts';
import type { Prepared, Values } from './prepared.ts';

/** Rows as PostgreSQL writes them: text by the place of the column, and the types of the columns as OIDs. */
export interface TextRows {
  readonly rows: readonly (readonly (string | null)[])[];
  readonly types: readonly number[];
}

/** How an engine sends statements on one of its connections. */
export interface Wire {
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
  connect(): Promise<Lease>;
}

/** A connection lent until it is released: the one place that every statement of both engines passes. */
export class Lease implements PostgresPoolClient {
  readonly release: (destroy?: boolean) => void;
  readonly #wire: Wire;

  constructor(wire: Wire, release: (destroy?: boolean) => void) {
    this.#wire = wire;
    this.release = release;
  }

  query<Row>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  query<Row>(
    sql: string | PostgresCursor<Row>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<Row>> | PostgresCursor<Row> {
    if (typeof sql !== 'string') throw new Error('Streaming is not supported; read pages by key.');
    return measure(sql, () => this.#wire.query<Row>(sql, parameters));
  }

  /** Runs a prepared statement; those that are asked for together go out together where the engine can. */
  rows(statement: Prepared, values: Values): Promise<TextRows> {
    return measure(statement.text, () => this.#wire.prepared(statement, statement.bind(values)));
  }
}
