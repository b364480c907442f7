import type { UnscopedTrx } from '../engine/transaction.ts';
import { inSql } from '../tables/sql-names.ts';
import { tenantTables } from '../tables/tenant-tables.ts';

/** A condition that stored rows must satisfy, and the statement that selects the rows that violate it. */
export interface Rule {
  /** The name of the rule: a sentence that is true if no row violates it. */
  readonly name: string;
  /** The stored counters and copies, as `table.column`, that this rule compares with the rows from which they follow. */
  readonly covers?: readonly string[];
  /**
   * Selects `workspace_id`, `key` (a human-readable name) and `detail` of each row that violates the rule. A function makes
   * the statement from what it has read in the same database snapshot. Both see either all rows or those of one workspace.
   */
  readonly statement:
    | string
    | ((trx: UnscopedTrx, within: Restriction, limit: number) => Promise<RuleStatement>);
  /** Whether the rule is about rows whose workspace may not exist. It then always sees all rows. */
  readonly checksAllWorkspaces?: boolean;
}

/** A statement that selects rows that violate a rule: at least the first ones, up to the limit. */
export interface RuleStatement {
  readonly sql: string;
  /** How many more rows violate the rule than the statement selects. */
  readonly unlisted: number;
}

/** Restricts a statement to a workspace, or returns it as it is. */
export type Restriction = (statement: string) => string;

export const unrestricted: Restriction = (statement) => statement;

/**
 * Restricts a statement to the rows of one workspace, by CTEs with the names of the tables: the rules need not mention it.
 */
export function withinWorkspace(workspaceId: string): Restriction {
  return (statement) => {
    const named = tenants.filter(({ word }) => word.test(statement));
    const ctes = named.map(
      ({ table }) =>
        `"${table}" as not materialized (select * from "${table}" where workspace_id = '${workspaceId}')`,
    );
    return `with ${ctes.join(', ')} select * from (${statement}) within`;
  };
}

const tenants = Object.keys(tenantTables)
  .map(inSql)
  .map((table) => ({ table, word: new RegExp(`\\b${table}\\b`) }));

/** The codes that rules need. */
export interface RuleCodes {
  readonly activeMember: number;
  readonly activeProject: number;
  readonly completed: number;
  readonly canceled: number;
}

/** No row of a deleted issue is purged before this time has passed since its deletion. */
export const minTimeBeforePurge = `interval '30 days'`;

/** The creation time that the id of an issue contains, a UUIDv7. */
export const createdUtc = `to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)`;

/**
 * Selects issues, as `i`, with their keys. `rest` consists of joins and the condition of a violation. Issues that may be purged
 * are left out, because their related rows are removed in several transactions.
 */
export function faultyIssues(detail: string, rest: string): string {
  return `
    select i.workspace_id, t.code || '-' || i.number as key, ${detail} as detail
    from (select * from issue where deleted_utc is null or deleted_utc > now() - ${minTimeBeforePurge}
      or ${createdUtc} > now() - ${minTimeBeforePurge}) i join team t on t.workspace_id = i.workspace_id and t.id = i.team_id
    ${rest}`;
}

/** Counts the rows of a table by the issue that they belong to. */
export function countedByIssue(table: string, condition: string, more = ''): string {
  return `(select workspace_id, issue_id, count(*) as counted ${more} from ${table} where ${condition} group by 1, 2)`;
}

/** The condition that joins rows that are grouped by issue to `i`. */
export function onIssue(alias: string): string {
  return `${alias}.workspace_id = i.workspace_id and ${alias}.issue_id = i.id`;
}
