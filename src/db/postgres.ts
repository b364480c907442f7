import type { PostgresPool, PostgresQueryResult } from 'kysely';
import pg from 'pg';
import { decodedTypes } from './decoded-types.ts';
import { Lease } from './lease.ts';
import { DatabaseUnavailableError, isConnectionLoss, unavailable } from './unavailable.ts';

/** Where PostgreSQL is and how much of it to use. */
export interface PostgresLocation {
  readonly url: string;
  /** Connections at most; 10 by default. */
  readonly poolSize?: number | undefined;
  /** After which the server ends a statement; 30,000 by default, 0 for migrations: never. */
  readonly statementTimeoutMs?: number | undefined;
  /** For a new connection, or a free one of a full pool; 5,000 by default. */
  readonly connectTimeoutMs?: number | undefined;
}

/** How much later than the server the client gives up: only a frozen server lets it come to that. */
const FROZEN_AFTER_MS = 5_000;
const IDLE_CONNECTION_MS = 30_000;
const IDLE_TRANSACTION_MS = 60_000;

/** A pool whose lost connections are errors of the statements on them and never of the process. */
export class ServerPool implements PostgresPool {
  readonly options = {};
  readonly #pool: pg.Pool;
  readonly #address: string;
  #ended: Promise<void> | undefined;

  constructor(location: PostgresLocation) {
    const { poolSize = 10, statementTimeoutMs = 30_000, connectTimeoutMs = 5_000 } = location;
    this.#address = addressOf(location.url);
    this.#pool = new pg.Pool({
      connectionString: location.url,
      application_name: 'workgraph',
      max: poolSize,
      connectionTimeoutMillis: connectTimeoutMs,
      idleTimeoutMillis: IDLE_CONNECTION_MS,
      idle_in_transaction_session_timeout: IDLE_TRANSACTION_MS,
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs === 0 ? 0 : statementTimeoutMs + FROZEN_AFTER_MS,
      keepAlive: true,
      types: decodedTypes,
    });
    this.#pool.on('error', ignore);
    // The pool takes its own listener off while a connection is lent, and an unheard 'error' ends the process.
    this.#pool.on('connect', (client) => client.on('error', ignore));
  }

  async connect(): Promise<Lease> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw unavailable(this.#address, error);
    });
    let lost = false;
    const send = async <Row>(
      sql: string,
      parameters: readonly unknown[],
    ): Promise<PostgresQueryResult<Row>> => {
      try {
        return (await client.query(sql, [...parameters])) as unknown as PostgresQueryResult<Row>;
      } catch (error) {
        if (!isConnectionLoss(error)) throw error;
        // After a read timeout the connection still waits for its answer: nobody may be given it again.
        lost = true;
        throw unavailable(this.#address, error);
      }
    };
    return new Lease(send, (destroy = false) => client.release(destroy || lost));
  }

  end(): Promise<void> {
    this.#ended ??= this.#pool.end();
    return this.#ended;
  }
}

/** Host and port, as pg understands the URL; its own complaint about a bad one would print the password. */
function addressOf(url: string): string {
  try {
    if (!/^postgres(?:ql)?:\/\//.test(url)) throw new Error('another scheme');
    const { host, port } = new pg.Client({ connectionString: url });
    return `${host}:${port}`;
  } catch {
    throw new DatabaseUnavailableError(
      'The database URL is not one of PostgreSQL (postgres://user@host/name).',
    );
  }
}

function ignore(): void {}
