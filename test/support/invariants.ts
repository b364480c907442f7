import type { Database } from '../../src/db/engine/engine.ts';
import { verifyDatabase } from '../../src/portability/verify.ts';
import { ownWorkspaces } from './own-workspaces.ts';

/**
 * Returns the consistency rules that the database breaks, each with the offending rows. In a database of several test files, only
 * the workspaces of this file are checked: another file may be in the middle of a change by SQL.
 */
export async function brokenInvariants(database: Database): Promise<Record<string, string[]>> {
  const workspaceIds = ownWorkspaces(database) ?? [undefined];
  const broken: Record<string, string[]> = {};
  for (const workspaceId of workspaceIds) {
    const { findings } = await verifyDatabase(database, { limit: 5, workspaceId });
    for (const { rule, rows } of findings)
      broken[rule] = [...(broken[rule] ?? []), ...rows.map(({ key, detail }) => `${key}: ${detail}`)];
  }
  return broken;
}
