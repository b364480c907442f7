import { type QueryCreator, sql } from 'kysely';
import type { Trx } from '../engine/transaction.ts';
import type { TenantTables } from '../tables/tenant-tables.ts';

/** What issues add to the counts of a delivery. */
export interface DeliveryCounts {
  issueCount: number;
  closedIssueCount: number;
  estimatedScope: number;
  closedEstimate: number;
}

/** What issues add to the counts of a project; canceled issues are in none of them. */
export interface ProjectCounts {
  issueCount: number;
  completedIssueCount: number;
}

// Each backend adds to a slot of its own, so that writers of one delivery do not wait for each other.
export const counterSlot = sql<number>`(abs(pg_backend_pid()) % 32)::smallint`;

/** Adds what is inserted to the counts of deliveries. */
export function intoDeliveryCounts(db: QueryCreator<TenantTables>) {
  return db.insertInto('deliveryCount').onConflict((conflict) =>
    conflict.columns(['deliveryId', 'slot']).doUpdateSet((eb) => ({
      issueCount: eb('deliveryCount.issueCount', '+', eb.ref('excluded.issueCount')),
      closedIssueCount: eb('deliveryCount.closedIssueCount', '+', eb.ref('excluded.closedIssueCount')),
      estimatedScope: eb('deliveryCount.estimatedScope', '+', eb.ref('excluded.estimatedScope')),
      closedEstimate: eb('deliveryCount.closedEstimate', '+', eb.ref('excluded.closedEstimate')),
    })),
  );
}

/** Adds what is inserted to the counts of projects. */
export function intoProjectCounts(db: QueryCreator<TenantTables>) {
  return db.insertInto('projectCount').onConflict((conflict) =>
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

/** Adds to the counts of deliveries, in the order of their ids. */
export async function addToDeliveryCounts(
  trx: Trx,
  changes: ReadonlyMap<string, DeliveryCounts>,
): Promise<void> {
  const rows = inOrder(changes).map(([deliveryId, counts]) => ({
    deliveryId,
    slot: counterSlot,
    ...counts,
  }));
  if (rows.length === 0) return;
  await intoDeliveryCounts(trx).values(rows).execute();
}

/** Adds to the counts of projects, in the order of their ids; after those of deliveries. */
export async function addToProjectCounts(
  trx: Trx,
  changes: ReadonlyMap<string, ProjectCounts>,
): Promise<void> {
  const rows = inOrder(changes).map(([projectId, counts]) => ({
    projectId,
    slot: counterSlot,
    ...counts,
  }));
  if (rows.length === 0) return;
  await intoProjectCounts(trx).values(rows).execute();
}

function inOrder<Counts extends object>(changes: ReadonlyMap<string, Counts>): [string, Counts][] {
  return [...changes]
    .filter(([, counts]) => Object.values(counts).some((difference) => difference !== 0))
    .sort(([left], [right]) => (left < right ? -1 : 1));
}
