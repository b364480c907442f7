import { existsSync, renameSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { PGlite } from '@electric-sql/pglite';
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import type { PostgresQueryResult } from 'kysely';
import pg from 'pg';
import { decodedTypes } from '../wire/decoded-types.ts';
import { EmbeddedSocket } from '../wire/embedded-socket.ts';
import { type PostgresWire, type WireName, wires } from '../wire/postgres-wire.ts';
import { RowClient } from '../wire/row-client.ts';
import { inOrder } from './in-order.ts';
import { lockDataDirectory } from './directory-lock.ts';
import type { DataDirectoryLock } from './directory-lock.ts';
import {
  BorrowedConnection,
  type Pool,
  type PoolLoad,
  type Session,
  type TextRows,
} from './borrowed-connection.ts';
import { meter } from './meter.ts';
import { maxPreparedNames, type Prepared } from '../statements/prepared.ts';
import { WriteSignals } from '../statements/write-signals.ts';
import { Semaphore } from './semaphore.ts';
import { DatabaseUnavailableError } from './unavailable.ts';

/** A data directory, and its lock if the caller holds it already. Closing the database releases the lock. */
export interface EmbeddedLocation {
  readonly dataDir: string;
  readonly lock?: DataDirectoryLock | undefined;
  /** How statements are sent and rows are read; `fast` by default. */
  readonly wire?: WireName | undefined;
}

/**
 * How long a caller waits for the session. Without a limit, a transaction that used `db` inside itself would wait
 * forever.
 */
const maxWaitMs = 30_000;

// V8 soon recompiles much of the engine with its optimizing compiler, on other threads. A command ends before that pays
// off, and has to wait for those threads. With 15 times the default budget, V8 first optimizes only what a server runs
// often, which makes a server as fast after a short time.
setFlagsFromString('--wasm-tiering-budget=200000000');

/**
 * Opens PGlite in `<dataDir>/database`. Takes the lock of the directory unless the caller holds it. The first time
 * takes seconds, because it creates the database.
 */
export async function openEmbedded({
  dataDir,
  lock: held,
  wire = 'fast',
}: EmbeddedLocation): Promise<EmbeddedPool> {
  const lock = held ?? lockDataDirectory(dataDir);
  try {
    const directory = join(dataDir, 'database');
    if (!existsSync(directory)) await createDatabase(directory);
    const startParams = [...PGlite.defaultStartParams, '-c', `shared_buffers=${bufferSize}`];
    const pglite = await PGlite.create(directory, { extensions: { btree_gin, pg_trgm }, startParams });
    const client =
      wire === 'fast'
        ? new RowClient(owner, (_, take) => new EmbeddedSocket(pglite, take))
        : new pg.Client({ ...owner, stream: () => new EmbeddedSocket(pglite) });
    client.on('error', () => undefined);
    await client.connect();
    return new EmbeddedPool(pglite, client, { lock, wire: wires[wire] });
  } catch (error) {
    lock.release();
    throw openingError(dataDir, error);
  }
}

/** What must be free on the disk so that the engine can create a database, or begin another file of its log. */
const neededBytes = 100 * 1024 * 1024;

const mebibytes = (bytes: number) => Math.floor(bytes / 1024 / 1024);

/** Undefined where the system does not say. */
function freeBytesOf(directory: string): number | undefined {
  try {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  } catch {
    return undefined;
  }
}

/** The error of a database that could not be opened. The error of the engine does not mention that the disk is full. */
function openingError(dataDir: string, error: unknown): unknown {
  const freeBytes = freeBytesOf(dataDir);
  if (freeBytes === undefined || freeBytes >= neededBytes) return error;
  const reason = error instanceof Error ? ` (${error.message})` : '';
  return new DatabaseUnavailableError(
    `The embedded database in ${dataDir} cannot be opened${reason}. The disk may be full: ${mebibytes(freeBytes)} MiB are free, and ${mebibytes(neededBytes)} may be needed.`,
    { cause: error },
  );
}

/**
 * The single session of PGlite, lent to one caller at a time, first come first served.
 *
 * A commit survives the end of the process, even by kill -9. It may not survive a crash of the machine, because PGlite
 * lets the operating system decide when to write to the disk.
 */
export class EmbeddedPool implements Pool {
  readonly options = {};
  readonly writeSignals = new WriteSignals();
  readonly #pglite: PGlite;
  readonly #client: pg.Client;
  readonly #lock: DataDirectoryLock;
  readonly #wire: PostgresWire;
  /** One permit, because there is one session. */
  readonly #permit = new Semaphore(1);
  /** The names of the statements that the session has prepared. The session cannot be replaced by one without them. */
  readonly #names = new Set<string>();
  /** The session runs one statement at a time. */
  readonly #inOrder = inOrder();
  readonly #session: Session = {
    query: (sql, parameters) => this.#inOrder(() => this.#query(sql, parameters)),
    prepared: (statement, parameters) => this.#inOrder(() => this.#prepared(statement, parameters)),
  };
  #ended: Promise<void> | undefined;

  constructor(
    pglite: PGlite,
    client: pg.Client,
    { lock, wire }: { lock: DataDirectoryLock; wire: PostgresWire },
  ) {
    this.#pglite = pglite;
    this.#client = client;
    this.#lock = lock;
    this.#wire = wire;
  }

  async connect(): Promise<BorrowedConnection> {
    if (this.#ended) throw new Error('The embedded database is closed.');
    const deadline = meter()?.deadline;
    deadline?.check();
    const waitMs = Math.min(maxWaitMs, deadline?.leftMs ?? maxWaitMs);
    if (!(await this.#permit.acquire({ withinMs: waitMs, deadline, holder: deadline }))) {
      const seconds = (waitMs / 1000).toFixed(1);
      throw new DatabaseUnavailableError(
        `The embedded database was busy for ${seconds} s. ${transactionHint}`,
      );
    }
    return new BorrowedConnection(
      this.#session,
      (destroy) => void this.#release(deadline, destroy),
      this.writeSignals,
    );
  }

  connectOutsidePool(): never {
    throw new Error('The embedded database cannot open a second connection.');
  }

  async ping(): Promise<void> {
    const connection = await this.connect();
    await connection.query('select 1', []).finally(() => connection.release());
  }

  /** There is only one connection, and it runs one statement at a time. */
  shared(): undefined {
    return undefined;
  }

  load(): PoolLoad {
    return { open: 1, idle: this.#permit.free, size: 1, waiting: this.#permit.waiting };
  }

  end(): Promise<void> {
    this.#ended ??= this.#close();
    return this.#ended;
  }

  async #query<Row>(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<Row>> {
    // PGlite computes on this thread and resolves in microtasks, so without this pause no socket would be served
    // between statements.
    await nextTurn();
    return (await this.#client.query(sql, [...parameters])) as unknown as PostgresQueryResult<Row>;
  }

  async #prepared(statement: Prepared, values: unknown[]): Promise<TextRows> {
    await nextTurn();
    const { name } = statement;
    const isNamed = this.#names.has(name) || this.#names.size < maxPreparedNames;
    if (isNamed) this.#names.add(name);
    return this.#wire.run(this.#client, statement, {
      name: isNamed ? name : undefined,
      values,
      timeoutMs: undefined,
    });
  }

  async #release(holder: object | undefined, destroy = false): Promise<void> {
    // Kysely discards a connection whose rollback failed. There is no other connection, so the transaction must be
    // ended here.
    if (destroy) await this.#client.query('rollback').catch(() => undefined);
    this.#permit.release(holder);
  }

  async #close(): Promise<void> {
    await this.#permit.acquire();
    try {
      await this.#client.end();
      await this.#pglite.close();
    } finally {
      this.#lock.release();
    }
  }
}

/** The engine's cache of tables. A larger one would only hold what the operating system caches already. */
const bufferSize = '32MB';

/**
 * The only user of the engine, who needs no password. All fields are set, because pg would read missing ones from the
 * environment.
 */
const owner = {
  user: 'postgres',
  database: 'postgres',
  host: 'localhost',
  port: 5432,
  ssl: false,
  types: decodedTypes,
};

const transactionHint = 'Inside a transaction, use the transaction and not the database.';

/** The directory gets its final name last: PGlite does not notice that it was killed while it created a directory. */
async function createDatabase(directory: string): Promise<void> {
  const partial = `${directory}.partial`;
  rmSync(partial, { recursive: true, force: true });
  await (await PGlite.create(partial)).close();
  renameSync(partial, directory);
}
