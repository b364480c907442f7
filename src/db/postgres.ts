import type { PostgresQueryResult } from 'kysely';
import pg from 'pg';
import { decodedTypes } from './decoded-types.ts';
import { Lease, type Pool, type PoolLoad } from './lease.ts';
import type { Prepared } from './prepared.ts';
import { ReferenceWrites } from './reference-writes.ts';
import { TextQuery } from './text-query.ts';
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
  /** Do connections keep statements by name; not behind a pooler that lends another one for each transaction. */
  readonly prepared?: boolean | undefined;
}

/** How much later than the server the client gives up: only a frozen server lets it come to that. */
const FROZEN_AFTER_MS = 5_000;
/** Statements that one connection keeps by name at most, each some tens of kilobytes in the server. */
const MAX_NAMES = 1_000;
const IDLE_CONNECTION_MS = 30_000;
const IDLE_TRANSACTION_MS = 60_000;

/** A pool whose lost connections are errors of the statements on them and never of the process. */
export class ServerPool implements Pool {
  readonly options = {};
  readonly referenceWrites = new ReferenceWrites();
  readonly #pool: pg.Pool;
  readonly #address: string;
  readonly #prepared: boolean;
  /** The statements of each connection, and how often it ran them. */
  readonly #named = new WeakMap<pg.PoolClient, Map<string, number>>();
  #ended: Promise<void> | undefined;

  constructor(location: PostgresLocation) {
    const { poolSize = 10, statementTimeoutMs = 30_000, connectTimeoutMs = 5_000 } = location;
    this.#address = addressOf(location.url);
    this.#prepared = location.prepared ?? true;
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
      // Statements that do not wait for each other share a round trip.
      pipeline: true,
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
    const guarded = async <Result>(send: () => Promise<Result>): Promise<Result> => {
      try {
        return await send();
      } catch (error) {
        if (!isConnectionLoss(error)) throw error;
        // After a read timeout the connection still waits for its answer: nobody may be given it again.
        lost = true;
        throw unavailable(this.#address, error);
      }
    };
    return new Lease(
      {
        query: <Row>(text: string, values: readonly unknown[]) =>
          guarded(
            async () =>
              (await client.query({ text, values: [...values] })) as unknown as PostgresQueryResult<Row>,
          ),
        prepared: async (statement, values) => {
          const name = this.#mayName(client, statement) ? statement.name : undefined;
          const query = new TextQuery({ text: statement.text, name, values }, statement.types);
          const answer = await guarded(() => query.run(client));
          statement.types = answer.types;
          return answer;
        },
      },
      (destroy = false) => client.release(destroy || lost || this.#isFull(client)),
      this.referenceWrites,
    );
  }

  /** Named from its second use on: what is asked once would only fill the server's memory. */
  #mayName(client: pg.PoolClient, { name }: Prepared): boolean {
    if (!this.#prepared) return false;
    const named = this.#named.get(client) ?? new Map<string, number>();
    this.#named.set(client, named);
    const uses = (named.get(name) ?? 0) + 1;
    named.set(name, uses);
    return uses > 1;
  }

  /** A connection never forgets a name, so one that has learned many is exchanged for a new one. */
  #isFull(client: pg.PoolClient): boolean {
    return (this.#named.get(client)?.size ?? 0) > MAX_NAMES;
  }

  load(): PoolLoad {
    const { totalCount, idleCount, waitingCount, options } = this.#pool;
    return { open: totalCount, idle: idleCount, size: options.max, waiting: waitingCount };
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
