import type { Database } from '../../src/db/engine/engine.ts';

/** The databases that other test files use as well. */
const shared = new WeakSet<Database>();
/** The workspaces that a test file has created in a database. */
const created = new WeakMap<Database, string[]>();

/** Has only the workspaces of the file checked in this database, since those of other files may break rules on purpose. */
export function noteShared(database: Database): void {
  shared.add(database);
}

/** Has the workspace checked also where other test files use the same database. */
export function noteCreated(database: Database, workspaceId: string): void {
  created.set(database, [...(created.get(database) ?? []), workspaceId]);
}

/** The workspaces that the file has created, where other files use the database too; undefined if it has the database to itself. */
export function ownWorkspaces(database: Database): readonly string[] | undefined {
  return shared.has(database) ? (created.get(database) ?? []) : undefined;
}
