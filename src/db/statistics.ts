import { type Kysely, sql } from 'kysely';
import { inSql } from './tables/sql-names.ts';
import type { TableName, Tables } from './tables/tables.ts';

/**
 * Updates the planner's statistics. Without them, PostgreSQL checks foreign keys by an index on the workspace alone,
 * and so reads all rows of the workspace. The embedded engine never updates statistics by itself.
 */
export async function analyzeTables(unscoped: Kysely<Tables>): Promise<void> {
  await sql`analyze ${sql.join(plannedTables.map((table) => sql.ref(table)))}`.execute(unscoped);
}

/** The number of issues in the database when the statistics were last updated; 0 if they never were. */
export async function estimatedIssues(unscoped: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ issues: number }>`
    select greatest(0, reltuples)::float8 as issues from pg_class where oid = 'issue'::regclass`.execute(
    unscoped,
  );
  return rows[0]?.issues ?? 0;
}

/** The tables whose statistics matter for plans. */
const plannedTables: readonly TableName[] = [
  'issue',
  'issueStage',
  'issueText',
  'issueTally',
  'activity',
  'comment',
  'issueLabel',
  'issueAssignee',
  'issueSubscription',
  'issueLink',
  'importSource',
  'member',
  'label',
  'team',
  'teamMember',
  'status',
  'delivery',
  'project',
  'projectMember',
  'attachment',
  'agentThread',
  'agentThreadMessage',
];

/**
 * Updates the statistics of one table that has grown or shrunk by a tenth since the last time. Returns whether there
 * was such a table. Only one table is analyzed per call, because the embedded engine does nothing else meanwhile, for
 * more than a second at 100,000 issues.
 */
export async function analyzeStaleTable(unscoped: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ name: string }>`
    select relname::text as name from pg_class
    where relnamespace = current_schema()::regnamespace and relname = any(${plannedTables.map(inSql)}::text[])
      and abs(pg_relation_size(oid) / 8192 - relpages) > relpages / 10 + 10
    limit 1`.execute(unscoped);
  const [stale] = rows;
  if (stale) await sql`analyze ${sql.ref(stale.name)}`.execute(unscoped);
  return stale !== undefined;
}
