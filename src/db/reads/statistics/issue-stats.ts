import { sql, type SqlBool } from 'kysely';
import { clampedSum } from '../../query/totals/aggregates.ts';
import { type TallyChoice, talliedRows, tallyFor } from '../../query/totals/tallies.ts';
import type { TenantDb } from '../../tables/tenant-tables.ts';
import {
  type CountedIssues,
  findIssues,
  hasMoreIssues,
  type IssueChoice,
  issuesOfSmallWorkspace,
  selectCountedIssues,
} from './counted-issues.ts';
import { groupColumn, type StatsColumn, withGroups } from './issue-groups.ts';

export interface IssueStatsRow extends Partial<Record<StatsColumn, string | number | null>> {
  count: number;
  estimateSum: number;
}

/**
 * Counts issues and sums their estimates, grouped by any of the columns: from tallies where they have the columns of
 * the filter and of the groups, otherwise from the issues. The largest groups come first. One statement is enough,
 * except in a workspace with more than `maxIssues` issues. Undefined if more of them would have to be read.
 */
export async function selectIssueStats(
  db: TenantDb,
  choice: IssueChoice,
  columns: readonly StatsColumn[],
  { limit, maxIssues }: { limit: number; maxIssues: number },
): Promise<IssueStatsRow[] | undefined> {
  const tallied = tallyFor(
    { table: 'issue', where: choice.where },
    choice.filter,
    columns.map(talliedColumn),
  );
  if (tallied) {
    const groups = talliedGroups(db, tallied, columns);
    return readGroups(groups, columns, columns.map(talliedReference), limit);
  }
  const count = (issues: CountedIssues) =>
    readGroups(issueGroups(issues, columns), columns, columns.map(groupColumn), limit);
  const found = await count(issuesOfSmallWorkspace(db, choice, maxIssues));
  if (found.some((row) => row.count > 0) || !(await hasMoreIssues(db, maxIssues))) return found;
  const few = await findIssues(db, choice, maxIssues);
  return few && count(few);
}

function readGroups(
  counted: ReturnType<typeof issueGroups>,
  columns: readonly StatsColumn[],
  references: readonly string[],
  limit: number,
): Promise<IssueStatsRow[]> {
  return counted
    .select(
      columns.map((column, index) =>
        sql<string | number | null>`${sql.ref(references[index] ?? column)}`.as(column),
      ),
    )
    .$if(columns.length > 0, (query) => query.groupBy(references))
    .orderBy('count', 'desc')
    .$if(columns.length > 0, (query) =>
      query.orderBy(sql.join(references.map((reference) => sql.ref(reference)))),
    )
    .limit(limit)
    .execute();
}

function issueGroups(issues: CountedIssues, columns: readonly StatsColumn[]) {
  return withGroups(selectCountedIssues(issues.outer, issues), columns).select([
    sql<number>`count(*)::int`.as('count'),
    clampedSum('r0.estimateValue').as('estimateSum'),
  ]);
}

function talliedGroups(db: TenantDb, tallied: TallyChoice, columns: readonly StatsColumn[]) {
  // An issue has a row for each of its labels already.
  const others = columns.filter((column) => column !== 'labelId');
  return withGroups(talliedRows(db, tallied), others)
    .select([clampedSum('r0.issueCount').as('count'), clampedSum('r0.estimateSum').as('estimateSum')])
    .$if(columns.length > 0, (query) => query.having(sql<SqlBool>`sum(r0.issue_count) > 0`));
}

/** The column of tallies from which the column of a group follows. */
function talliedColumn(column: StatsColumn): string {
  return column === 'statusCategory' ? 'statusId' : column;
}

function talliedReference(column: StatsColumn): string {
  return column === 'labelId' ? 'r0.labelId' : groupColumn(column);
}
