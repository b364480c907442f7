import type { ColumnType, Insertable, Kysely, Transaction } from 'kysely';
import type { Row, TableName, Tables } from './tables.ts';

/** The tables whose rows do not belong to a workspace, with the reason. */
export const globalTables = {
  userAccount: 'a person has the same account in all workspaces',
} as const satisfies Partial<Record<TableName, string>>;

export type GlobalTable = keyof typeof globalTables;
export type TenantTable = Exclude<TableName, GlobalTable>;

/** The tables whose rows belong to a workspace. A table that is missing here is a compile error. */
export const tenantTables: Readonly<Record<TenantTable, true>> = {
  workspace: true,
  member: true,
  team: true,
  teamCounter: true,
  teamMember: true,
  status: true,
  label: true,
  delivery: true,
  deliveryCount: true,
  projectStatus: true,
  project: true,
  projectCount: true,
  projectMember: true,
  projectLabel: true,
  projectLink: true,
  repository: true,
  accessToken: true,
  tokenRoute: true,
  auditEntry: true,
  idempotencyKey: true,
  importSource: true,
  workspaceVersion: true,
  referenceChange: true,
  issue: true,
  issueAssignee: true,
  issueLabel: true,
  issueSubscription: true,
  issueRoleAssignment: true,
  comment: true,
  issueLink: true,
  attachment: true,
  activity: true,
  issueStage: true,
  issueText: true,
  issueTally: true,
  agentInstallation: true,
  agentThread: true,
  agentThreadMessage: true,
  changeInbox: true,
  change: true,
  changeHead: true,
  webhook: true,
  webhookDelivery: true,
};

/** A table whose column `workspaceId` can be read but not written. */
type Tenant<Table> = Omit<Table, 'workspaceId'> & { workspaceId: ColumnType<string, never, never> };

/** The tables as a tenant handle sees them. Writing `workspaceId` is a compile error, because the handle adds it. */
export type TenantTables = {
  [Name in TableName]: Name extends GlobalTable ? Tables[Name] : Tenant<Tables[Name]>;
};

/** A row to insert. Its workspace comes from the handle. */
export type NewRow<Name extends TableName> = Insertable<TenantTables[Name]>;

/** A row without its workspace, which is that of the handle. */
export type LocalRow<Name extends TableName> = Omit<Row<Name>, 'workspaceId'>;

declare const bound: unique symbol;

/** Marks a handle that is bound to a workspace, because Kysely's own types would also accept an unscoped one. */
interface BoundHandle {
  readonly [bound]: true;
}

/** A database handle that binds every statement to one workspace. */
export type TenantDb = Kysely<TenantTables> & BoundHandle;

/** A transaction of such a handle. */
export type TenantTrx = Transaction<TenantTables> & BoundHandle;
