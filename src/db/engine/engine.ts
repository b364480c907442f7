import { setTimeout as delay } from 'node:timers/promises';
import { type Kysely, PostgresDialect, sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import { type EmbeddedLocation, openEmbedded } from './embedded.ts';
import type { Lease, Pool, PoolLoad } from './lease.ts';
import { ServerPool } from './postgres.ts';
import type { Prepared } from '../query/prepared.ts';
import type { PostgresLocation } from './postgres.ts';
import type { ReferenceWrites } from '../writes/reference-writes.ts';
import type { Tables } from '../tables/tables.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';
import { tenantHandle, unscopedHandle } from './tenant-handle.ts';
import { DatabaseUnavailableError } from './unavailable.ts';

/** An open database, the same to its users on either engine. */
export interface Database {
  readonly engine: 'embedded' | 'postgres';
  /**
   * The handle for everything that is done for one workspace: it binds every statement to it. The same workspace gets
   * the same handle, as long as few are in use.
   */
  of(workspaceId: string): TenantDb;
  /** For what belongs to no workspace: finding a token by its hash, listing workspaces, migrations, housekeeping. */
  readonly unscoped: Kysely<Tables>;
  /** A connection for prepared statements, to be released by whoever borrows it. */
  connect(): Promise<Lease>;
  /** A connection that others use at the same time, where there is one for this statement, which reads. */
  shared(statement: Prepared): Lease | undefined;
  /** How the connections are used now. */
  load(): PoolLoad;
  /** Hears of writes to reference data that this process makes. */
  readonly referenceWrites: ReferenceWrites;
  /** Throws when the database does not answer within the time. */
  ping(timeoutMs: number): Promise<void>;
  /** Waits for what is running, then gives back connections and the data directory. */
  close(): Promise<void>;
}

/** The embedded database of a data directory, or a PostgreSQL server. */
export type DatabaseLocation = EmbeddedLocation | PostgresLocation;

/** Opens a database that has answered once: throws DirectoryHeldError or DatabaseUnavailableError. */
export async function openDatabase(location: DatabaseLocation): Promise<Database> {
  if ('dataDir' in location) return over('embedded', await openEmbedded(location));
  const database = over('postgres', new ServerPool(location));
  try {
    await sql`select 1`.execute(database.unscoped);
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}

function over(engine: Database['engine'], pool: Pool): Database {
  const unscoped = unscopedHandle(new PostgresDialect({ pool }));
  return {
    engine,
    of: cachedHandles(unscoped),
    unscoped,
    connect: () => pool.connect(),
    shared: (statement) => pool.shared(statement),
    load: () => pool.load(),
    referenceWrites: pool.referenceWrites,
    ping: pinging(pool),
    close: () => pool.end(),
  };
}

/** How many handles are cached. Only writes of the same handle are batched. */
const mostHandles = 1_000;

function cachedHandles(unscoped: Kysely<Tables>): Database['of'] {
  const handles = new LRUCache<string, TenantDb>({ max: mostHandles });
  return (workspaceId) => {
    let handle = handles.get(workspaceId);
    if (!handle) {
      handle = tenantHandle(unscoped, workspaceId);
      handles.set(workspaceId, handle);
    }
    return handle;
  };
}

/** Keeps one statement under way however many probes ask: those of a frozen server must not fill the pool. */
function pinging(pool: Pool): Database['ping'] {
  let underway: Promise<unknown> | undefined;
  return async (timeoutMs) => {
    underway ??= pool.ping().finally(() => {
      underway = undefined;
    });
    // Its failure after the deadline is heard by nobody.
    underway.catch(() => undefined);
    const deadline = new AbortController();
    const late = delay(timeoutMs, 'late', { signal: deadline.signal }).catch(() => undefined);
    const first = await Promise.race([underway, late]).finally(() => deadline.abort());
    if (first === 'late')
      throw new DatabaseUnavailableError(`The database did not answer in ${timeoutMs} ms.`);
  };
}
