import { sql } from 'kysely';
import { clampedSum } from '../query/aggregates.ts';
import { untyped } from '../query/any-tables.ts';
import { type Predicate, predicateSql } from '../query/predicate.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';

/** The columns that issues can be grouped by. Each is a column of the returned rows. */
export type StatsColumn =
  | 'statusId'
  | 'statusCategory'
  | 'teamId'
  | 'projectId'
  | 'deliveryId'
  | 'primaryAssigneeUserAccountId'
  | 'priority'
  | 'labelId';

export interface IssueStatsRow extends Partial<Record<StatsColumn, string | number | null>> {
  count: number;
  estimateSum: number;
}

/**
 * Counts issues and sums their estimates, grouped by any of the columns, in one statement. The largest groups come
 * first.
 */
export async function selectIssueStats(
  db: TenantDb,
  where: Predicate,
  columns: readonly StatsColumn[],
  limit: number,
): Promise<IssueStatsRow[]> {
  const reference = (column: StatsColumn) =>
    column === 'statusCategory'
      ? 'status.category'
      : column === 'labelId'
        ? 'issueLabel.labelId'
        : `r0.${column}`;
  return untyped(db)
    .selectFrom('issue as r0')
    .$if(columns.includes('statusCategory'), (query) => query.innerJoin('status', 'status.id', 'r0.statusId'))
    .$if(columns.includes('labelId'), (query) => query.leftJoin('issueLabel', 'issueLabel.issueId', 'r0.id'))
    .select(columns.map((column) => sql<string | number | null>`${sql.ref(reference(column))}`.as(column)))
    .select([sql<number>`count(*)::int`.as('count'), clampedSum('r0.estimateValue').as('estimateSum')])
    .where(predicateSql(where, 'r0'))
    .$if(columns.length > 0, (query) => query.groupBy(columns.map(reference)))
    .orderBy('count', 'desc')
    .$if(columns.length > 0, (query) =>
      query.orderBy(sql.join(columns.map((column) => sql.ref(reference(column))))),
    )
    .limit(limit)
    .execute();
}
