import type { Kysely } from 'kysely';
import type { TableName, Tables } from '../../src/db/tables/tables.ts';
import { type AllRows, Things, type Viewer } from './model.ts';
import { agentThings } from './model-agents.ts';
import { directoryThings } from './model-directories.ts';
import { issueThings } from './model-issues.ts';
import { projectThings } from './model-projects.ts';
import { webhookThings } from './model-webhooks.ts';

/** Works out everything that the viewer should see of a workspace, from its rows as they stand now. */
export async function readThings(
  unscoped: Kysely<Tables>,
  workspaceId: string,
  viewer: Viewer,
): Promise<Things> {
  return thingsOf(await readRows(unscoped, workspaceId), viewer);
}

/** Works out everything that the viewer should see of a workspace, from all of its rows. */
export function thingsOf(rows: AllRows, viewer: Viewer): Things {
  const things = new Things(rows, viewer);
  for (const make of [directoryThings, projectThings, issueThings, agentThings, webhookThings])
    things.add(make(things));
  return things;
}

const tables = [
  'workspace',
  'member',
  'team',
  'teamCounter',
  'teamMember',
  'status',
  'label',
  'delivery',
  'deliveryCount',
  'projectStatus',
  'project',
  'projectCount',
  'projectMember',
  'projectLabel',
  'projectLink',
  'repository',
  'accessToken',
  'auditEntry',
  'issue',
  'issueAssignee',
  'issueLabel',
  'issueSubscription',
  'issueRoleAssignment',
  'comment',
  'issueLink',
  'attachment',
  'activity',
  'agentThread',
  'agentThreadMessage',
  'webhook',
  'webhookDelivery',
] as const satisfies readonly TableName[];

/** Every row of a workspace, by nothing but its workspace. */
async function readRows(unscoped: Kysely<Tables>, workspaceId: string): Promise<AllRows> {
  const entries = [];
  for (const table of tables) {
    const query = unscoped.selectFrom(table as 'member').selectAll();
    entries.push([table, await query.where('workspaceId', '=', workspaceId).execute()]);
  }
  return Object.fromEntries(entries) as AllRows;
}
