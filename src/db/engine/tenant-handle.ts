import {
  CamelCasePlugin,
  type Dialect,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type Transaction,
} from 'kysely';
import { TenantPlugin } from '../guard/tenant-plugin.ts';
import { type ValueOrSlot, Slot } from '../statements/slots.ts';
import type { Tables } from '../tables/tables.ts';
import type { TenantDb, TenantTables, TenantTrx } from '../tables/tenant-tables.ts';

/** A handle without a workspace. */
export function unscopedHandle(dialect: Dialect): Kysely<Tables> {
  return new Kysely<Tables>({ dialect, plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })] });
}

/** A handle of one workspace that uses the connections of `unscoped`. */
export function tenantHandle(unscoped: Kysely<Tables>, workspace: ValueOrSlot<string>): TenantDb {
  const bound: Kysely<TenantTables> = unscoped.withPlugin(new TenantPlugin(workspace));
  return bound as TenantDb;
}

/** A handle of one workspace within an unscoped transaction: the transaction that creates the workspace. */
export function tenantTransaction(unscoped: Transaction<Tables>, workspaceId: string): TenantTrx {
  const bound: unknown = unscoped.withPlugin(new TenantPlugin(workspaceId));
  return bound as TenantTrx;
}

/** The workspace that a handle, or a transaction of it, is bound to. */
export function workspaceOf(db: TenantDb): string {
  const plugin = db.getExecutor().plugins.find((it) => it instanceof TenantPlugin);
  if (typeof plugin?.workspace !== 'string') throw new Error('The handle is not bound to a workspace.');
  return plugin.workspace;
}

/** The slot for the workspace. Each run of a prepared statement fills it with the workspace of its handle. */
export const workspaceSlot = new Slot('workspaceId');

/** A handle without a connection that compiles prepared statements, once for all workspaces. */
export const anyWorkspace: TenantDb = tenantHandle(
  unscopedHandle({
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  }),
  workspaceSlot,
);
