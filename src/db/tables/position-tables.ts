import { inSql } from './sql-names.ts';
import { cachedTables } from './cached-tables.ts';
import type { TableName } from './tables.ts';
import { globalTables, tenantTables } from './tenant-tables.ts';

/**
 * The tables for which every write that changes what a client may read also changes the data position of the workspace
 * (`selectDataPosition`): by the version of the reference data, whose triggers see all writes, by the log of changes,
 * to which the write appends, or by the mark of a write that is not logged. An answer from any other table is never
 * considered unchanged, so a table is named here only when a test has shown that all its writes change the position.
 * Among those that are not named:
 * - `issueStage`: statistics are computed by resolvers, which may read anything;
 * - `projectLink`, `repository` and `agentInstallation`: directory files, imports and migrations change them;
 * - `agentThread` and `agentThreadMessage`: whether a thread is stale depends on the clock.
 */
const covered: ReadonlySet<string> = new Set<TableName>([
  ...(Object.keys(cachedTables) as (keyof typeof cachedTables)[]),
  'issue',
  'issueAssignee',
  'issueLabel',
  'issueRoleAssignment',
  'issueSubscription',
  'issueText',
  'issueTally',
  'comment',
  'issueLink',
  // Without its bytes, an attachment is not shown.
  'attachment',
  'activity',
  'projectCount',
  'deliveryCount',
  'teamCounter',
]);

/** The names in SQL of the tables whose content the position covers. */
export const coveredTables: readonly string[] = [...covered].map(inSql);

const others = [...Object.keys(tenantTables), ...Object.keys(globalTables)].filter(
  (name) => !covered.has(name),
);
const uncovered = new RegExp(String.raw`\b(?:${others.map(inSql).join('|')})\b`);

/**
 * Whether the position covers everything that a statement reads. The name of another table anywhere in it makes it false.
 */
export function readsCoveredTables(statement: string): boolean {
  return !uncovered.test(statement);
}
