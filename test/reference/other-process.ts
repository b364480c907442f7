import { sql } from 'kysely';
import type { Database } from '../../src/db/engine/engine.ts';
import type { BorrowedConnection } from '../../src/db/engine/borrowed-connection.ts';
import { WriteSignals } from '../../src/db/statements/write-signals.ts';
import type { TenantDb } from '../../src/db/tables/tenant-tables.ts';
import type { Snapshot } from '../../src/reference/snapshot.ts';
import type { App } from '../support/app.ts';

/** Hooks around the connections and statements of a memory, which wait for them. */
export interface Steps {
  connecting?: (() => Promise<unknown>) | undefined;
  before?: ((statement: string) => Promise<unknown> | undefined) | undefined;
  behind?: ((statement: string) => Promise<unknown> | undefined) | undefined;
}

/** The database as another process sees it: it receives no signals of this process's writes. */
export function asOtherProcess(database: Database, steps: Steps = {}): Database {
  return {
    ...database,
    writeSignals: new WriteSignals(),
    connect: async () => {
      await steps.connecting?.();
      return stepwise(await database.connect(), steps);
    },
  };
}

/** Makes a connection send its statements one after the other, with the hooks around each. */
function stepwise(connection: BorrowedConnection, steps: Steps): BorrowedConnection {
  let last: Promise<unknown> = Promise.resolve();
  const inTurn = <Result>(statement: string, send: () => Promise<Result>): Promise<Result> => {
    const sent = last.then(async () => {
      await steps.before?.(statement);
      const result = await send();
      await steps.behind?.(statement);
      return result;
    });
    last = sent.catch(() => undefined);
    return sent;
  };
  const texts = connection.texts.bind(connection);
  const query = (text: string, parameters: readonly unknown[]) =>
    Object.getPrototypeOf(connection).query.call(connection, text, parameters) as Promise<unknown>;
  return Object.assign(connection, {
    texts: (...[statement, values]: Parameters<BorrowedConnection['texts']>) =>
      inTurn(statement.text, () => texts(statement, values)),
    query: (text: string, parameters: readonly unknown[]) => inTurn(text, () => query(text, parameters)),
  });
}

/** Creates a barrier: callers wait at it until it is released. */
export function hold() {
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  return {
    /** Resolves when a caller waits. */
    reached: reached.promise,
    release: released.resolve,
    pass: () => {
      reached.resolve();
      return released.promise;
    },
  };
}

export const isVersionCheck = (statement: string) => statement.includes('any(');
export const isReadOf = (table: string, statement: string) => statement.includes(`from "${table}" as "r0"`);

export function nameOf(snapshot: Snapshot, code: string): string | null | undefined {
  const teams = snapshot.table('team');
  return teams?.by('code', code)[0]?.[teams.columnIndex('name')];
}

/** Renames a team. */
export function rename(
  { database, workspaceId }: App,
  code: string,
  name: string,
  db: TenantDb = database.of(workspaceId),
): Promise<unknown> {
  return db
    .updateTable('team as t')
    .set({ name, nameFold: name.toLowerCase() })
    .where('t.code', '=', code)
    .execute();
}

/** Renames a team without firing triggers, like a restore. */
export function renameUnseen(app: App, code: string, name: string): Promise<void> {
  return app.database.unscoped.connection().execute(async (connection) => {
    await sql`set session_replication_role = replica`.execute(connection);
    await sql`update team set name = ${name}, name_fold = ${name.toLowerCase()}
      where workspace_id = ${app.workspaceId} and code = ${code}`.execute(connection);
    await sql`set session_replication_role = origin`.execute(connection);
  });
}
