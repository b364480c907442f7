import type { Kysely } from 'kysely';
import type { TableName, Tables } from '../../src/db/tables/tables.ts';
import { type AllRows, Model, type Viewer } from './model.ts';
import { agentObjects } from './model-agents.ts';
import { directoryObjects } from './model-directories.ts';
import { issueObjects } from './model-issues.ts';
import { projectObjects } from './model-projects.ts';
import { webhookObjects } from './model-webhooks.ts';

/** Computes what the viewer should see of a workspace from its current rows. */
export async function readModel(
  unscoped: Kysely<Tables>,
  workspaceId: string,
  viewer: Viewer,
): Promise<Model> {
  return modelOf(await readRows(unscoped, workspaceId), viewer);
}

/** Computes what the viewer should see of a workspace from all of its rows. */
export function modelOf(rows: AllRows, viewer: Viewer): Model {
  const model = new Model(rows, viewer);
  for (const make of [directoryObjects, projectObjects, issueObjects, agentObjects, webhookObjects])
    model.add(make(model));
  return model;
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

/** Reads all rows of a workspace, without any other condition. */
async function readRows(unscoped: Kysely<Tables>, workspaceId: string): Promise<AllRows> {
  const entries = [];
  for (const table of tables) {
    const query = unscoped.selectFrom(table as 'member').selectAll();
    entries.push([table, await query.where('workspaceId', '=', workspaceId).execute()]);
  }
  return Object.fromEntries(entries) as AllRows;
}
