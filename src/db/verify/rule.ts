import type { UnscopedTrx } from '../engine/transaction.ts';

/** What must hold of the rows, and the statement that selects those of which it does not. */
export interface Rule {
  /** A sentence of what holds when all is well; it names the rule. */
  readonly name: string;
  /** Stored counters and copies, as `table.column`, that this rule compares with what they stand for. */
  readonly covers?: readonly string[];
  /**
   * Gives for each row in fault `workspace_id`, `key` (as people name it) and `detail`. A function makes the statement
   * after it has read something in the same snapshot.
   */
  readonly statement: string | ((trx: UnscopedTrx) => Promise<string>);
}

/** Numbers of the code tables that rules use. */
export interface RuleCodes {
  readonly activeMember: number;
  readonly activeProject: number;
  readonly completed: number;
  readonly canceled: number;
}

/** Selects issues, as `i`, by their keys; `rest` are joins and the condition of those in fault. */
export function faultyIssues(detail: string, rest: string): string {
  return `
    select i.workspace_id, t.code || '-' || i.number as key, ${detail} as detail
    from issue i join team t on t.workspace_id = i.workspace_id and t.id = i.team_id
    ${rest}`;
}

/** Counts the rows of a table by the issue that they belong to. */
export function countedByIssue(table: string, condition: string, more = ''): string {
  return `(select workspace_id, issue_id, count(*) as counted ${more} from ${table} where ${condition} group by 1, 2)`;
}

/** The condition that joins what is grouped by issue to `i`. */
export function onIssue(alias: string): string {
  return `${alias}.workspace_id = i.workspace_id and ${alias}.issue_id = i.id`;
}
