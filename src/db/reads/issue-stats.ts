import { sql, type SqlBool } from 'kysely';
import { clampedSum } from '../query/aggregates.ts';
import { untyped } from '../query/any-tables.ts';
import { type Predicate, predicateSql } from '../query/predicate.ts';
import { type TallyChoice, talliedRows, tallyFor } from '../query/tallies.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';
import { groupColumn, type StatsColumn, withGroups } from './issue-groups.ts';

export interface IssueStatsRow extends Partial<Record<StatsColumn, string | number | null>> {
  count: number;
  estimateSum: number;
}

/**
 * Counts issues and sums their estimates, grouped by any of the columns, in one statement: from tallies where they have
 * the columns of the filter and of the groups, otherwise from all matching issues. The largest groups come first.
 */
export async function selectIssueStats(
  db: TenantDb,
  { where, filter }: { where: Predicate; filter: Predicate },
  columns: readonly StatsColumn[],
  limit: number,
): Promise<IssueStatsRow[]> {
  const tallied = tallyFor({ table: 'issue', where }, filter, columns.map(talliedColumn));
  const counted = tallied
    ? talliedGroups(db, tallied, columns)
    : issueGroups(db, { all: [where, filter] }, columns);
  const references = columns.map(tallied ? talliedReference : groupColumn);
  return counted
    .select(
      columns.map((column, place) =>
        sql<string | number | null>`${sql.ref(references[place] ?? column)}`.as(column),
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

function issueGroups(db: TenantDb, filter: Predicate, columns: readonly StatsColumn[]) {
  return withGroups(untyped(db).selectFrom('issue as r0'), columns)
    .select([sql<number>`count(*)::int`.as('count'), clampedSum('r0.estimateValue').as('estimateSum')])
    .where(predicateSql(filter, 'r0'));
}

function talliedGroups(db: TenantDb, tallied: TallyChoice, columns: readonly StatsColumn[]) {
  // An issue has a row for each of its labels already.
  const others = columns.filter((column) => column !== 'labelId');
  return withGroups(talliedRows(db, tallied), others)
    .select([clampedSum('r0.issueCount').as('count'), clampedSum('r0.estimateSum').as('estimateSum')])
    .$if(columns.length > 0, (query) => query.having(sql<SqlBool>`sum(r0.issue_count) > 0`));
}

/** The column of tallies that a group follows from. */
function talliedColumn(column: StatsColumn): string {
  return column === 'statusCategory' ? 'statusId' : column;
}

function talliedReference(column: StatsColumn): string {
  return column === 'labelId' ? 'r0.labelId' : groupColumn(column);
}
