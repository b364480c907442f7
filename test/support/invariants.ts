import type { Database } from '../../src/db/engine/engine.ts';
import { verifyDatabase } from '../../src/portability/verify.ts';

/** The workspaces that a test file has created in the database of all files. */
const created = new WeakMap<Database, string[]>();

/** Has the workspace checked also where other test files use the same database. */
export function noteCreated(database: Database, workspaceId: string): void {
  created.set(database, [...(created.get(database) ?? []), workspaceId]);
}

/** The workspaces that the file has created, where all files use one database; undefined if it has the database to itself. */
export function ownWorkspaces(database: Database): readonly string[] | undefined {
  return process.env.TEST_SHARED_DATABASE ? (created.get(database) ?? []) : undefined;
}

/**
 * Returns the consistency rules that the database breaks, each with the offending rows. In a database of all test files, only
 * the workspaces of this file are checked: another file may be in the middle of a change by SQL.
 */
export async function brokenInvariants(database: Database): Promise<Record<string, string[]>> {
  const checked = ownWorkspaces(database) ?? [undefined];
  const broken: Record<string, string[]> = {};
  for (const workspaceId of checked) {
    const { findings } = await verifyDatabase(database, { limit: 5, workspaceId });
    for (const { rule, rows } of findings)
      broken[rule] = [...(broken[rule] ?? []), ...rows.map(({ key, detail }) => `${key}: ${detail}`)];
  }
  return broken;
}
