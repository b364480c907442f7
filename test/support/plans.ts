import type { Compilable } from 'kysely';
import type { BorrowedConnection } from '../../src/db/engine/borrowed-connection.ts';

/** A node of a plan, as EXPLAIN prints it. It has numbers of rows only if the statement was run. */
export interface Plan {
  'Node Type': string;
  'Actual Rows'?: number;
  'Actual Loops'?: number;
  'Rows Removed by Filter'?: number;
  'Relation Name'?: string;
  'Index Name'?: string;
  'CTE Name'?: string;
  Plans?: Plan[];
}

/** Runs a statement, and returns its plan. */
export async function planOf(connection: BorrowedConnection, query: Compilable): Promise<Plan | undefined> {
  const { sql, parameters } = query.compile();
  return planOfExplain(connection, `explain (analyze, format json) ${sql}`, parameters);
}

/** The plan that an EXPLAIN statement prints as JSON. */
export async function planOfExplain(
  connection: Pick<BorrowedConnection, 'query'>,
  explain: string,
  parameters: readonly unknown[] = [],
): Promise<Plan | undefined> {
  const { rows } = await connection.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(explain, [...parameters]);
  return rows[0]?.['QUERY PLAN'][0]?.Plan;
}

/** The number of rows that the scans of a plan, or of one table in it, have read, including those that a filter dropped. */
export function rowsReadBy(plan: Plan | undefined, relation?: string): number {
  if (!plan) return Number.NaN;
  const below = (plan.Plans ?? []).reduce((sum, each) => sum + rowsReadBy(each, relation), 0);
  const { 'Relation Name': read } = plan;
  if (read === undefined || (relation !== undefined && read !== relation)) return below;
  const { 'Actual Rows': rows = 0, 'Rows Removed by Filter': removed = 0, 'Actual Loops': loops = 0 } = plan;
  return below + (rows + removed) * loops;
}
