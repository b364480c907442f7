import { sql } from 'kysely';
import { clampedSum } from '../query/aggregates.ts';
import { untyped } from '../query/any-tables.ts';
import { type Predicate, predicateSql } from '../query/predicate.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';
import { groupColumn, type StatsColumn, withGroups } from './issue-groups.ts';

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
  const references = columns.map(groupColumn);
  return withGroups(untyped(db).selectFrom('issue as r0'), columns)
    .select(columns.map((column) => sql<string | number | null>`${sql.ref(groupColumn(column))}`.as(column)))
    .select([sql<number>`count(*)::int`.as('count'), clampedSum('r0.estimateValue').as('estimateSum')])
    .where(predicateSql(where, 'r0'))
    .$if(columns.length > 0, (query) => query.groupBy(references))
    .orderBy('count', 'desc')
    .$if(columns.length > 0, (query) =>
      query.orderBy(sql.join(references.map((reference) => sql.ref(reference)))),
    )
    .limit(limit)
    .execute();
}
