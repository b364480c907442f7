import { sql } from 'kysely';
import { inSql } from '../tables/sql-names.ts';
import { untyped } from '../query/any-tables.ts';
import type { Database } from '../engine/engine.ts';
import { type CachedTableName, cachedTables } from '../tables/cached-tables.ts';
import type { BorrowedConnection, TextRows } from '../engine/borrowed-connection.ts';
import { Prepared } from '../statements/prepared.ts';
import { Slot } from '../statements/slots.ts';
import { uuidArray } from '../statements/uuid-array.ts';
import { anyWorkspace } from '../engine/tenant-handle.ts';

/** The version of a workspace's reference data. Two equal versions have the same data. */
export interface ReferenceVersion {
  /** How often the reference data was written. */
  readonly ref: number;
  /** Distinguishes histories that came to the same number, as in a database that was restored from a backup. */
  readonly tag: number;
  /** Changes whenever the permissions of any token of the workspace change. */
  readonly auth: number;
}

export const noVersion: ReferenceVersion = { ref: 0, tag: 0, auth: 0 };

/** The rows of a table: all of them, or those of the changed groups. */
export interface ReferenceRows extends TextRows<readonly (string | null)[]> {
  readonly table: CachedTableName;
  /** The groups whose cached rows are replaced by these; undefined if all rows are. */
  readonly changed?: ReadonlySet<string>;
}

const names = Object.keys(cachedTables) as CachedTableName[];
const since = new Slot('since');

interface Statements {
  versions: Prepared;
  version: Prepared;
  /** The groups that changed since a version. The row of that version itself proves that the log still contains it. */
  log: Prepared;
  whole: ReadonlyMap<CachedTableName, Prepared>;
  changed: ReadonlyMap<CachedTableName, Prepared>;
}

/**
 * Reads reference data and its versions. All statements of a read use one database snapshot, so that it never sees half
 * of a write.
 */
export class ReferenceReads {
  readonly #database: Pick<Database, 'connect' | 'unscoped'>;
  #statements: Statements | undefined;

  constructor(database: Pick<Database, 'connect' | 'unscoped'>) {
    this.#database = database;
  }

  /** The versions of workspaces by their ids. A workspace without reference data has no version. */
  async versions(workspaceIds: readonly string[]): Promise<Map<string, ReferenceVersion>> {
    const connection = await this.#database.connect();
    try {
      const { rows } = await connection.texts(this.#prepared().versions, {
        workspaceIds: uuidArray(workspaceIds),
      });
      return new Map(rows.map(([id, ...version]) => [id ?? '', toVersion(version)]));
    } finally {
      connection.release();
    }
  }

  /** The version and all rows. Of a table with more than `maxRows` rows, one row more than that is returned. */
  whole(
    workspaceId: string,
    maxRows: number,
  ): Promise<{ version: ReferenceVersion; tables: ReferenceRows[] }> {
    const { version, whole } = this.#prepared();
    return this.#inSnapshot(async (connection) => {
      const [counted, ...tables] = await Promise.all([
        connection.texts(version, { workspaceId }),
        ...names.map(async (table) => {
          const statement = whole.get(table) as Prepared;
          return { table, ...(await connection.texts(statement, { workspaceId, maxRows: maxRows + 1 })) };
        }),
      ]);
      return { version: toVersion(counted.rows[0] ?? []), tables };
    });
  }

  /** The version and the groups that changed since `base`; undefined if the log no longer contains `base`. */
  changes(
    workspaceId: string,
    base: ReferenceVersion,
  ): Promise<{ version: ReferenceVersion; tables: ReferenceRows[] } | undefined> {
    const { version, log, changed } = this.#prepared();
    const values = { workspaceId, since: base.ref };
    return this.#inSnapshot(async (connection) => {
      const [counted, logged, ...read] = await Promise.all([
        connection.texts(version, { workspaceId }),
        connection.texts(log, values),
        ...names.map(async (table) => ({
          table,
          ...(await connection.texts(changed.get(table) as Prepared, values)),
        })),
      ]);
      const isKnown = logged.rows.some(([at, tag]) => Number(at) === base.ref && Number(tag) === base.tag);
      if (!isKnown) return undefined;
      const tables = read.map((rows) => {
        const groups = logged.rows.filter(
          ([at, , table]) => Number(at) > base.ref && table === inSql(rows.table),
        );
        return { ...rows, changed: new Set(groups.map(([, , , group]) => group ?? '')) };
      });
      return {
        version: toVersion(counted.rows[0] ?? []),
        tables: tables.filter((rows) => rows.changed.size > 0),
      };
    });
  }

  /** Reads in one snapshot, in one round trip if the engine can pipeline. */
  async #inSnapshot<Result>(read: (connection: BorrowedConnection) => Promise<Result>): Promise<Result> {
    const connection = await this.#database.connect();
    let isComplete = false;
    try {
      const begun = connection.query('begin isolation level repeatable read read only', []);
      const reading = read(connection);
      const ended = connection.query('commit', []);
      const [, result] = await Promise.all([begun, reading, ended]);
      isComplete = true;
      return result;
    } finally {
      // If one of them failed, the transaction may still be open, so the connection is closed.
      connection.release(!isComplete);
    }
  }

  #prepared(): Statements {
    const { unscoped } = this.#database;
    this.#statements ??= {
      versions: new Prepared(
        unscoped
          .selectFrom('workspaceVersion')
          .select(['workspaceId', 'ref', 'tag', 'auth'])
          .where(sql<boolean>`workspace_id = any(${new Slot('workspaceIds')}::uuid[])`),
      ),
      version: new Prepared(anyWorkspace.selectFrom('workspaceVersion').select(['ref', 'tag', 'auth'])),
      log: new Prepared(
        anyWorkspace
          .selectFrom('referenceChange')
          .select(['version', 'tag', 'keptTable', 'groupId'])
          .where('version', '>=', sql<number>`${since}`),
      ),
      whole: new Map(names.map((table) => [table, wholeStatement(table)])),
      changed: new Map(names.map((table) => [table, changedStatement(table)])),
    };
    return this.#statements;
  }
}

function rowsOf(table: CachedTableName) {
  return untyped(anyWorkspace)
    .selectFrom(`${table} as r0`)
    .select(cachedTables[table].columns.map((column) => `r0.${column}`));
}

function wholeStatement(table: CachedTableName): Prepared {
  return new Prepared(rowsOf(table).limit(sql<number>`${new Slot('maxRows')}`));
}

function changedStatement(table: CachedTableName): Prepared {
  const groups = untyped(anyWorkspace)
    .selectFrom('referenceChange as c')
    .select('c.groupId')
    .where('c.version', '>', since)
    .where('c.keptTable', '=', inSql(table));
  return new Prepared(rowsOf(table).where(`r0.${cachedTables[table].group}`, 'in', groups));
}

function toVersion([ref, tag, auth]: readonly (string | null)[]): ReferenceVersion {
  return ref === undefined ? noVersion : { ref: Number(ref), tag: Number(tag), auth: Number(auth) };
}
