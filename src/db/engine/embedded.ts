import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import type { PostgresQueryResult } from 'kysely';
import pg from 'pg';
import { decodedTypes } from '../wire/decoded-types.ts';
import { runPlainly } from '../wire/plain-wire.ts';
import { inOrder } from './in-order.ts';
import { lockDirectory } from './directory-lock.ts';
import type { DirectoryLock } from './directory-lock.ts';
import { Lease, type Pool, type PoolLoad, type Session, type TextRows } from './lease.ts';
import { meter } from './meter.ts';
import type { Prepared } from '../query/prepared.ts';
import { ReferenceWrites } from '../writes/reference-writes.ts';
import { Semaphore } from './semaphore.ts';
import { DatabaseUnavailableError } from './unavailable.ts';

/** A data directory, and its lock where it is held already: it is given back with the database. */
export interface EmbeddedLocation {
  readonly dataDir: string;
  readonly lock?: DirectoryLock | undefined;
}

/** How long a caller waits for the session: a transaction that used `db` inside itself would otherwise wait for ever. */
const WAIT_MS = 30_000;

/**
 * Opens PGlite in `<dataDir>/database` under the directory's lock, which is taken unless the caller has it; the first
 * time, which makes it, takes seconds.
 */
export async function openEmbedded({ dataDir, lock: held }: EmbeddedLocation): Promise<EmbeddedPool> {
  const lock = held ?? lockDirectory(dataDir);
  try {
    const directory = join(dataDir, 'database');
    if (!existsSync(directory)) await createDatabase(directory);
    const pglite = await PGlite.create(directory, { extensions: { pg_trgm } });
    const client = new pg.Client(Object.assign(createPgConfig(pglite), { types: decodedTypes }));
    client.on('error', ignore);
    await client.connect();
    return new EmbeddedPool(pglite, client, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/**
 * PGlite's one session, lent to one at a time in the order of asking.
 *
 * A commit is safe from the end of the process, kill -9 included, but not from that of the machine: PGlite
 * leaves it to the operating system when to write to the disk.
 */
export class EmbeddedPool implements Pool {
  readonly options = {};
  readonly referenceWrites = new ReferenceWrites();
  readonly #pglite: PGlite;
  readonly #client: pg.Client;
  readonly #lock: DirectoryLock;
  /** PGlite has one session, which one caller has at a time. */
  readonly #permit = new Semaphore(1);
  /** The statements that the session keeps by name: it cannot be exchanged for a new one. */
  readonly #names = new Set<string>();
  /** The session runs one statement at a time. */
  readonly #inOrder = inOrder();
  readonly #session: Session = {
    query: (sql, parameters) => this.#inOrder(() => this.#query(sql, parameters)),
    prepared: (statement, parameters) => this.#inOrder(() => this.#prepared(statement, parameters)),
  };
  #ended: Promise<void> | undefined;

  constructor(pglite: PGlite, client: pg.Client, lock: DirectoryLock) {
    this.#pglite = pglite;
    this.#client = client;
    this.#lock = lock;
  }

  async connect(): Promise<Lease> {
    if (this.#ended) throw new Error('The embedded database is closed.');
    const deadline = meter()?.deadline;
    deadline?.check();
    const waitMs = Math.min(WAIT_MS, deadline?.leftMs ?? WAIT_MS);
    if (!(await this.#permit.acquire({ withinMs: waitMs, deadline }))) {
      const seconds = (waitMs / 1000).toFixed(1);
      throw new DatabaseUnavailableError(`The embedded database was busy for ${seconds} s. ${HINT}`);
    }
    return new Lease(this.#session, (destroy) => void this.#release(destroy), this.referenceWrites);
  }

  async ping(): Promise<void> {
    const lease = await this.connect();
    await lease.query('select 1', []).finally(() => lease.release());
  }

  /** There is but one, which answers one after the other. */
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
    // PGlite computes on this thread and resolves in microtasks: without this, no socket is served between statements.
    await nextTurn();
    return (await this.#client.query(sql, [...parameters])) as unknown as PostgresQueryResult<Row>;
  }

  async #prepared({ text, name }: Prepared, values: unknown[]): Promise<TextRows> {
    await nextTurn();
    const isNamed = this.#names.has(name) || this.#names.size < MAX_NAMES;
    if (isNamed) this.#names.add(name);
    return runPlainly(this.#client, text, {
      name: isNamed ? name : undefined,
      values,
      timeoutMs: undefined,
    });
  }

  async #release(destroy = false): Promise<void> {
    // Kysely gives up a connection whose rollback failed; there is no other, so its transaction must not stay.
    if (destroy) await this.#client.query('rollback').catch(ignore);
    this.#permit.release();
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

const MAX_NAMES = 1_000;

const HINT = 'Inside a transaction, use the transaction and not the database.';

/** PGlite takes a directory it was killed in at the wrong moment for a whole one, so a new one gets its name last. */
async function createDatabase(directory: string): Promise<void> {
  const partial = `${directory}.partial`;
  rmSync(partial, { recursive: true, force: true });
  await (await PGlite.create(partial)).close();
  renameSync(partial, directory);
}

function ignore(): void {}
