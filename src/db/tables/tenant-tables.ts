import type { ColumnType, Insertable, Kysely, Transaction } from 'kysely';
import type { Row, TableName, Tables } from './tables.ts';

/** The tables without a workspace, each with its reason. */
export const globalTables = {
  userAccount: 'a person is the same account in every workspace',
} as const satisfies Partial<Record<TableName, string>>;

export type GlobalTable = keyof typeof globalTables;
export type TenantTable = Exclude<TableName, GlobalTable>;

/** The tables whose rows belong to a workspace each. A table that is missing here does not compile. */
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
  agentInstallation: true,
  agentThread: true,
  agentThreadMessage: true,
};

/** A table whose workspace can be read and not written. */
type Tenant<Table> = Omit<Table, 'workspaceId'> & { workspaceId: ColumnType<string, never, never> };

/** The tables as the code of one workspace sees them: a workspace that is written by hand does not compile. */
export type TenantTables = {
  [Name in TableName]: Name extends GlobalTable ? Tables[Name] : Tenant<Tables[Name]>;
};

/** A row to insert. Its workspace comes from the handle. */
export type NewRow<Name extends TableName> = Insertable<TenantTables[Name]>;

/** A row without its workspace, which is that of the handle. */
export type LocalRow<Name extends TableName> = Omit<Row<Name>, 'workspaceId'>;

declare const bound: unique symbol;

/** Marks a handle that is bound to a workspace. Kysely's own types would accept an unscoped one in its place. */
interface Bound {
  readonly [bound]: true;
}

/** A database handle that binds every statement to one workspace. */
export type TenantDb = Kysely<TenantTables> & Bound;

/** The same inside a transaction. */
export type TenantTrx = Transaction<TenantTables> & Bound;
