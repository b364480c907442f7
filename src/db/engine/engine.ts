import { setTimeout as delay } from 'node:timers/promises';
import { type Kysely, PostgresDialect, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { EmbeddedLocation } from './embedded.ts';
import type { Generations } from './generations.ts';
import type { BorrowedConnection, Pool, PoolLoad } from './borrowed-connection.ts';
import { ServerPool } from './postgres.ts';
import { Replicas } from './replicas.ts';
import type { Prepared } from '../statements/prepared.ts';
import type { PostgresLocation } from './postgres.ts';
import type { WriteSignals } from '../statements/write-signals.ts';
import type { Tables } from '../tables/tables.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';
import { tenantHandle, unscopedHandle } from './tenant-handle.ts';
import { DatabaseUnavailableError } from './unavailable.ts';

/** An open database. It is used in the same way on both engines. */
export interface Database {
  readonly engine: 'embedded' | 'postgres';
  /**
   * The handle for all work on one workspace: it restricts every statement to the workspace. A workspace gets the same
   * handle again, unless too many others were used since.
   */
  of(workspaceId: string): TenantDb;
  /**
   * The handle for work outside of workspaces: finding a token by its hash, listing workspaces, migrations,
   * housekeeping.
   */
  readonly unscoped: Kysely<Tables>;
  /** Lends a connection for prepared statements. The caller must release it. */
  connect(): Promise<BorrowedConnection>;
  /**
   * Lends a connection in addition to those of the pool, to one caller at a time, for a lock. Not on the embedded engine.
   */
  connectOutsidePool(): Promise<BorrowedConnection>;
  /** A shared connection for this statement, which must be a read; undefined when none is available for it. */
  shared(statement: Prepared): BorrowedConnection | undefined;
  /** Undefined without replicas. */
  readonly replicas?: Replicas | undefined;
  /** Undefined on the embedded engine. */
  readonly generations?: Generations | undefined;
  /** How many connections are in use. */
  load(): PoolLoad;
  /** Notifies subscribers in this process of its writes. */
  readonly writeSignals: WriteSignals;
  /** Throws when the database does not answer within `timeoutMs`. */
  ping(timeoutMs: number): Promise<void>;
  /** Waits for running statements, then closes the connections and releases the data directory. */
  close(): Promise<void>;
}

/**
 * The channel on which a process tells the others, after the commit, that it has written reference data or tokens. A
 * statement within the transaction could not notify where the transaction spans several nodes.
 */
export const referenceChannel = 'workgraph_reference';

/** The embedded database of a data directory, or a PostgreSQL server. */
export type DatabaseLocation = EmbeddedLocation | PostgresLocation;

/**
 * Opens a database and checks that it answers; its replicas need not answer yet. Throws DataDirectoryHeldError or
 * DatabaseUnavailableError.
 */
export async function openDatabase(
  location: DatabaseLocation,
  replicaUrls: readonly string[] = [],
): Promise<Database> {
  if ('dataDir' in location) {
    // A server on PostgreSQL does not load the embedded engine, whose code takes megabytes.
    const { openEmbedded } = await import('./embedded.ts');
    return databaseOver('embedded', await openEmbedded(location));
  }
  const pool = new ServerPool(location);
  pool.writeSignals.subscribe('reference', () => pool.notify(referenceChannel, 'written'));
  const replicas = replicaUrls.length > 0 ? new Replicas(location, pool, replicaUrls) : undefined;
  const database = { ...databaseOver('postgres', pool, replicas), generations: pool.generations };
  try {
    await sql`select 1`.execute(database.unscoped);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

function databaseOver(engine: Database['engine'], pool: Pool, replicas?: Replicas): Database {
  const unscoped = unscopedHandle(new PostgresDialect({ pool }));
  return {
    engine,
    of: cachedHandles(unscoped),
    unscoped,
    connect: () => pool.connect(),
    connectOutsidePool: () => pool.connectOutsidePool(),
    shared: (statement) => pool.shared(statement),
    replicas,
    load: () => pool.load(),
    writeSignals: pool.writeSignals,
    ping: singlePing(pool),
    close: async () => {
      await Promise.all([pool.end(), replicas?.close()]);
    },
  };
}

/** How many handles are cached. Only writes of the same handle are batched. */
const maxHandles = 1_000;

function cachedHandles(unscoped: Kysely<Tables>): Database['of'] {
  const handles = new LRUCache<string, TenantDb>({ max: maxHandles });
  return (workspaceId) => {
    let handle = handles.get(workspaceId);
    if (!handle) {
      handle = tenantHandle(unscoped, workspaceId);
      handles.set(workspaceId, handle);
    }
    return handle;
  };
}

/** Sends one statement at a time, which all concurrent probes share. Probes of a frozen server must not fill the pool. */
function singlePing(pool: Pool): Database['ping'] {
  let running: Promise<unknown> | undefined;
  return async (timeoutMs) => {
    running ??= pool.ping().finally(() => {
      running = undefined;
    });
    // A failure after the timeout would otherwise be an unhandled rejection.
    running.catch(() => undefined);
    const deadline = new AbortController();
    const late = delay(timeoutMs, 'late', { signal: deadline.signal }).catch(() => undefined);
    const first = await Promise.race([running, late]).finally(() => deadline.abort());
    if (first === 'late')
      throw new DatabaseUnavailableError(`The database did not answer in ${timeoutMs} ms.`);
  };
}
