import type { Compilable } from 'kysely';
import type { Lease } from '../../src/db/engine/lease.ts';

/** A node of a plan, as EXPLAIN prints it after the statement has run. */
interface Plan {
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Relation Name'?: string;
  Plans?: Plan[];
}

/** Runs a statement, and returns its plan. */
export async function planOf(lease: Lease, query: Compilable): Promise<Plan | undefined> {
  const { sql, parameters } = query.compile();
  const { rows } = await lease.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
    `explain (analyze, format json) ${sql}`,
    [...parameters],
  );
  return rows[0]?.['QUERY PLAN'][0]?.Plan;
}

/** The number of rows that the scans of a plan, or of one table in it, have read, including those that a filter dropped. */
export function readBy(plan: Plan | undefined, relation?: string): number {
  if (!plan) return Number.NaN;
  const below = (plan.Plans ?? []).reduce((sum, each) => sum + readBy(each, relation), 0);
  const { 'Relation Name': read } = plan;
  if (read === undefined || (relation !== undefined && read !== relation)) return below;
  return below + (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'];
}
