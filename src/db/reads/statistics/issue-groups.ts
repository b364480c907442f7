import type { SelectQueryBuilder } from 'kysely';
import type { AnyTables } from '../../query/any-tables.ts';

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

/** The values that the issues of a group share; null for columns by which they were not grouped. */
export interface IssueGroup {
  statusId: string | null;
  statusCategory: number | null;
  teamId: string | null;
  projectId: string | null;
  deliveryId: string | null;
  primaryAssigneeUserAccountId: string | null;
  priority: number | null;
  labelId: string | null;
}

/** The SQL column of a group, for issues with the alias `r0`. */
export function groupColumn(column: StatsColumn): string {
  if (column === 'statusCategory') return 'status.category';
  return column === 'labelId' ? 'issueLabel.labelId' : `r0.${column}`;
}

type Issues = SelectQueryBuilder<AnyTables, 'r0', object>;

/** Joins the tables that the groups need. An issue with several labels becomes several rows. */
export function withGroups(issues: Issues, columns: readonly StatsColumn[]): Issues {
  return issues
    .$if(columns.includes('statusCategory'), (query) => query.innerJoin('status', 'status.id', 'r0.statusId'))
    .$if(columns.includes('labelId'), (query) => query.leftJoin('issueLabel', 'issueLabel.issueId', 'r0.id'));
}
