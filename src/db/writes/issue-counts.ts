import { type Expression, type SqlBool, sql } from 'kysely';
import { ranksPerCategory, statusCategory } from '../../model/codes.ts';
import type { SettableColumn } from '../../model/issue-columns.ts';
import { clampedSum } from '../query/totals/aggregates.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';
import type { FollowUp, IssueWrite } from './follow-ups.ts';
import { columnsOf, type Part, type Parts, partsOf } from './write-parts.ts';

/** The counts of a delivery. */
interface DeliveryCounts {
  issueCount: number;
  closedIssueCount: number;
  estimatedScope: number;
  closedEstimate: number;
}

export const deliveryCounters = [
  'issueCount',
  'closedIssueCount',
  'estimatedScope',
  'closedEstimate',
] as const satisfies readonly (keyof DeliveryCounts)[];

/**
 * The columns that decide how an issue counts in its delivery and its project. A change of one of them also begins
 * another stage: trends add stages up to what the counts were in the past.
 */
export const countedColumns: readonly SettableColumn[] = [
  'statusId',
  'projectId',
  'deliveryId',
  'estimateValue',
  'deletedUtc',
];

/** Whether a write may change the counts of a delivery or a project. */
function writeMayChangeCounts(write: IssueWrite): boolean {
  return write.kind === 'insert' ? write.inDeliveryOrProject : mayChangeCounts(write.columns);
}

/** Whether a change of these columns may change the counts of a delivery or a project. */
export function mayChangeCounts(columns: readonly SettableColumn[]): boolean {
  return columns.some((column) => countedColumns.includes(column));
}

/**
 * Subtracts issues as they were from the counts of their deliveries and projects, and adds them as they are now. Every
 * write locks the counts of deliveries before those of projects, each in the order of their ids, which prevents
 * deadlocks.
 */
export const countParts: FollowUp = (db, write) => {
  if (!writeMayChangeCounts(write)) return [];
  const parts = partsOf(db);
  const now = countDeltas(parts, 'changed', 1);
  return [
    ['counted', write.kind === 'insert' ? now : countDeltas(parts, 'locked', -1).unionAll(now)],
    ['inDeliveries', deliveries(db)],
    ['inProjects', projects(db)],
  ] as const satisfies readonly Part[];
};

/** Whether a status of this rank is in one of the categories. */
export function inCategories(
  statusRank: Expression<number>,
  ...names: readonly ('active' | 'completed' | 'canceled')[]
): Expression<SqlBool> {
  const codes = sql.join(names.map((name) => sql.lit(statusCategory[name])));
  return sql<SqlBool>`(${statusRank} / ${sql.lit(ranksPerCategory)} in (${codes}))`;
}

/** What issues that are not deleted subtract from the counts, or add to them. */
function countDeltas(parts: Parts, issues: 'changed' | 'locked', sign: 1 | -1) {
  const are = (...names: ('completed' | 'canceled')[]) =>
    sql<number>`${inCategories(sql.ref('statusRank'), ...names)}::int`;
  return parts
    .selectFrom(issues)
    .select(['deliveryId', 'projectId', sql.lit(sign).as('sign')])
    .select([are('completed', 'canceled').as('closed'), are('completed').as('completed')])
    .select([are('canceled').as('canceled'), sql<number>`coalesce(estimate_value, 0)`.as('estimate')])
    .where('deletedUtc', 'is', null);
}

/**
 * Each connection of PostgreSQL adds to a slot of its own, so that writers of one delivery do not wait for each other.
 * Tallies take a slot that is free instead (`ownSlot`), because a write changes many of them: there, two transactions
 * that share a slot might deadlock.
 */
const counterSlot = sql<number>`(abs(pg_backend_pid()) % 32)::smallint`;

function deliveries(db: TenantDb) {
  const sums = {
    issueCount: sql`sum(sign)`,
    closedIssueCount: sql`sum(sign * closed)`,
    estimatedScope: sql`sum(sign * estimate)`,
    closedEstimate: sql`sum(sign * closed * estimate)`,
  };
  const { columns, selections } = columnsOf<'deliveryCount'>({
    deliveryId: sql.ref('deliveryId'),
    slot: counterSlot,
    ...sums,
  });
  const rows = partsOf(db)
    .selectFrom('counted')
    .select(selections)
    .where('deliveryId', 'is not', null)
    .groupBy(['deliveryId'])
    .having(anyNonZero(Object.values(sums)))
    .orderBy('deliveryId');
  return partsOf(db)
    .insertInto('deliveryCount')
    .columns(columns)
    .expression(rows)
    .onConflict((conflict) =>
      conflict.columns(['deliveryId', 'slot']).doUpdateSet((eb) => ({
        issueCount: eb('deliveryCount.issueCount', '+', eb.ref('excluded.issueCount')),
        closedIssueCount: eb('deliveryCount.closedIssueCount', '+', eb.ref('excluded.closedIssueCount')),
        estimatedScope: eb('deliveryCount.estimatedScope', '+', eb.ref('excluded.estimatedScope')),
        closedEstimate: eb('deliveryCount.closedEstimate', '+', eb.ref('excluded.closedEstimate')),
      })),
    );
}

/** The part for projects, whose counts leave canceled issues out. */
function projects(db: TenantDb) {
  const sums = {
    issueCount: sql`sum(sign * (1 - canceled))`,
    completedIssueCount: sql`sum(sign * completed)`,
  };
  const { columns, selections } = columnsOf<'projectCount'>({
    projectId: sql.ref('projectId'),
    slot: counterSlot,
    ...sums,
  });
  const rows = partsOf(db)
    .selectFrom('counted')
    .select(selections)
    .where('projectId', 'is not', null)
    .groupBy(['projectId'])
    .having(anyNonZero(Object.values(sums)))
    .orderBy('projectId');
  return partsOf(db)
    .insertInto('projectCount')
    .columns(columns)
    .expression(rows)
    .onConflict((conflict) =>
      conflict.columns(['projectId', 'slot']).doUpdateSet((eb) => ({
        issueCount: eb('projectCount.issueCount', '+', eb.ref('excluded.issueCount')),
        completedIssueCount: eb(
          'projectCount.completedIssueCount',
          '+',
          eb.ref('excluded.completedIssueCount'),
        ),
      })),
    );
}

/** The counts of a changed issue's delivery after the write, as an array in the order of `deliveryCounters`. */
export function deliveryCountsAfter(parts: Parts, write: IssueWrite) {
  const before = parts
    .selectFrom('deliveryCount')
    .select(deliveryCounters)
    .where('deliveryId', '=', sql.ref<string>('changed.deliveryId'));
  // A statement does not see its own writes.
  const own = parts
    .selectFrom('counted')
    .select([
      sql<number>`sign`.as('issueCount'),
      sql<number>`sign * closed`.as('closedIssueCount'),
      sql<number>`sign * estimate`.as('estimatedScope'),
      sql<number>`sign * closed * estimate`.as('closedEstimate'),
    ])
    .where('counted.deliveryId', '=', sql.ref<string>('changed.deliveryId'));
  const sums = sql.join(deliveryCounters.map((counter) => clampedSum(`counts.${counter}`)));
  return sql`(${parts
    .selectFrom((writeMayChangeCounts(write) ? before.unionAll(own) : before).as('counts'))
    .select(sql`array[${sums}]`.as('sums'))})`;
}

function anyNonZero(sums: readonly Expression<unknown>[]): Expression<SqlBool> {
  return sql<SqlBool>`(${sql.join(
    sums.map((sum) => sql`${sum} <> 0`),
    sql` or `,
  )})`;
}
