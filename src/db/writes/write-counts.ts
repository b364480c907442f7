import { type Expression, type SqlBool, sql } from 'kysely';
import { clampedSum } from '../query/aggregates.ts';
import { counterSlot, intoDeliveryCounts, intoProjectCounts } from './issue-counts.ts';
import { columnsOf, inCategories, type Part, type Parts, partsOf } from './write-parts.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';

/** Moves the counts of the deliveries and projects of a changed issue, or counts a new one: deliveries first, as all do. */
export function movedCounts(db: TenantDb, was: 'new' | 'changed'): Part[] {
  const parts = partsOf(db);
  const now = side(parts, 'changed', 1);
  const counted = was === 'new' ? now : side(parts, 'locked', -1).unionAll(now);
  return [
    ['counted', counted],
    ['inDeliveries', deliveries(db)],
    ['inProjects', projects(db)],
  ];
}

/** What an issue adds to the counts, or takes from them. */
function side(parts: Parts, issue: 'changed' | 'locked', sign: 1 | -1) {
  const are = (...names: ('completed' | 'canceled')[]) =>
    sql<number>`${inCategories(sql.ref('statusRank'), ...names)}::int`;
  return parts
    .selectFrom(issue)
    .select(['deliveryId', 'projectId', sql.lit(sign).as('sign')])
    .select([are('completed', 'canceled').as('closed'), are('completed').as('completed')])
    .select([are('canceled').as('canceled'), sql<number>`coalesce(estimate_value, 0)`.as('estimate')]);
}

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
    .having(anyMoved(Object.values(sums)))
    .orderBy('deliveryId');
  return intoDeliveryCounts(db.withoutPlugins()).columns(columns).expression(rows);
}

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
    .having(anyMoved(Object.values(sums)))
    .orderBy('projectId');
  return intoProjectCounts(db.withoutPlugins()).columns(columns).expression(rows);
}

export const deliveryCounters = [
  'issueCount',
  'closedIssueCount',
  'estimatedScope',
  'closedEstimate',
] as const;

/** What the delivery of a changed issue counts, as an array in the order of its counters. */
export function deliveryCountsAfter(parts: Parts, counts: boolean) {
  const before = parts
    .selectFrom('deliveryCount')
    .select(deliveryCounters)
    .where('deliveryId', '=', sql.ref<string>('changed.delivery_id'));
  // What this statement writes is not seen by it.
  const own = parts
    .selectFrom('counted')
    .select([
      sql<number>`sign`.as('issueCount'),
      sql<number>`sign * closed`.as('closedIssueCount'),
      sql<number>`sign * estimate`.as('estimatedScope'),
      sql<number>`sign * closed * estimate`.as('closedEstimate'),
    ])
    .where('counted.deliveryId', '=', sql.ref<string>('changed.delivery_id'));
  const sums = sql.join(deliveryCounters.map((counter) => clampedSum(`counts.${counter}`)));
  return sql`(${parts
    .selectFrom((counts ? before.unionAll(own) : before).as('counts'))
    .select(sql`array[${sums}]`.as('sums'))})`;
}

function anyMoved(sums: readonly Expression<unknown>[]): Expression<SqlBool> {
  return sql<SqlBool>`(${sql.join(
    sums.map((sum) => sql`${sum} <> 0`),
    sql` or `,
  )})`;
}
