import { inSql } from './sql-names.ts';
import { cachedTables } from './cached-tables.ts';
import type { TableName } from './tables.ts';

/**
 * Whether each write of a client that changes what may be read from a table moves the position of its workspace
 * (`selectDataPosition`): by the version of the reference data, whose triggers see all writes, by the log of changes, to which
 * the write appends, or by the mark of a write that is not logged. A table that is missing here is a compile error.
 */
const movesPosition: Readonly<Record<TableName, boolean>> = {
  ...(Object.fromEntries(Object.keys(cachedTables).map((name) => [name, true])) as Record<
    keyof typeof cachedTables,
    true
  >),
  issue: true,
  issueAssignee: true,
  issueLabel: true,
  issueRoleAssignment: true,
  issueSubscription: true,
  issueText: true,
  issueTally: true,
  comment: true,
  issueLink: true,
  // Without its bytes, an attachment is not shown.
  attachment: true,
  activity: true,
  projectCount: true,
  deliveryCount: true,
  teamCounter: true,
  // Statistics are computed by resolvers, which may read anything.
  issueStage: false,
  // Directory files and imports change these, and so do migrations.
  projectLink: false,
  repository: false,
  agentInstallation: false,
  // Whether a thread is stale depends on the clock.
  agentThread: false,
  agentThreadMessage: false,
  workspace: false,
  userAccount: false,
  accessToken: false,
  tokenRoute: false,
  auditEntry: false,
  idempotencyKey: false,
  importSource: false,
  workspaceVersion: false,
  referenceChange: false,
  changeInbox: false,
  change: false,
  changeHead: false,
  webhook: false,
  webhookDelivery: false,
};

/** The names in SQL of the tables whose content the position covers. */
export const coveredTables: readonly string[] = namesOf(true);

const uncovered = new RegExp(String.raw`\b(?:${namesOf(false).join('|')})\b`);

/** Whether the position covers everything that a statement reads. The name of another table at any place makes it false. */
export function readsCoveredTables(statement: string): boolean {
  return !uncovered.test(statement);
}

function namesOf(isCovered: boolean): string[] {
  return Object.entries(movesPosition).flatMap(([name, covered]) =>
    covered === isCovered ? [inSql(name)] : [],
  );
}
