import type { PostgresCursor, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { measure } from './meter.ts';

type Send = <Row>(sql: string, parameters: readonly unknown[]) => Promise<PostgresQueryResult<Row>>;

/** A connection lent to Kysely until it is released: the one place that every statement of both engines passes. */
export class Lease implements PostgresPoolClient {
  readonly release: (destroy?: boolean) => void;
  readonly #send: Send;
  #last: Promise<unknown> = Promise.resolve();

  constructor(send: Send, release: (destroy?: boolean) => void) {
    this.#send = send;
    this.release = release;
  }

  query<Row>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>>;
  query<Row>(cursor: PostgresCursor<Row>): PostgresCursor<Row>;
  query<Row>(
    sql: string | PostgresCursor<Row>,
    parameters: readonly unknown[] = [],
  ): Promise<PostgresQueryResult<Row>> | PostgresCursor<Row> {
    if (typeof sql !== 'string') throw new Error('Streaming is not supported; read pages by key.');
    return measure(sql, () => this.#inLine<Row>(sql, parameters));
  }

  /** After those before it: in a transaction the fields of an answer are read side by side, and pg keeps no queue. */
  #inLine<Row>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>> {
    const sent = this.#last.then(() => this.#send<Row>(sql, parameters));
    this.#last = sent.catch(ignore);
    return sent;
  }
}

function ignore(): void {}
