import type { Database } from '../../src/db/engine/engine.ts';

/** The databases that other test files use as well. */
const shared = new WeakSet<Database>();
/** The workspaces that a test file has created in a database. */
const created = new WeakMap<Database, string[]>();

/** Marks a database that other test files use too, so that only the workspaces of this file are checked: other files may break rules on purpose. */
export function markShared(database: Database): void {
  shared.add(database);
}

/** Adds a workspace that this test file has created, so that it is checked even in a shared database. */
export function addOwnWorkspace(database: Database, workspaceId: string): void {
  created.set(database, [...(created.get(database) ?? []), workspaceId]);
}

/** The workspaces that the file has created, where other files use the database too; undefined if it has the database to itself. */
export function ownWorkspaces(database: Database): readonly string[] | undefined {
  return shared.has(database) ? (created.get(database) ?? []) : undefined;
}
