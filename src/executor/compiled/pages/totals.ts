import { uuidArray } from '../../../db/statements/uuid-array.ts';
import { countWithinBounds, type Total } from '../../../db/reads/bounded-totals.ts';
import type { DistinctKeys } from '../run/distinct-keys.ts';
import type { Run } from '../run/run.ts';
import type { ParameterizedTotal, WalkStatements } from './walks.ts';

const none: Total = { count: 0, isExact: true };

/** The number of rows on all pages under each parent; a list without parents has one total. */
export async function readTotals(
  statements: WalkStatements,
  total: ParameterizedTotal,
  keys: DistinctKeys | undefined,
  run: Run,
): Promise<readonly Total[]> {
  const { strategy, values } = total;
  const exact = statements.total(total, run);
  if (exact) {
    const { rows } = await run.texts(exact, { ...values, ...(keys && { keys: keys.array }) });
    if (!keys) return [{ count: Number(rows[0]?.[0] ?? 0), isExact: true }];
    const counts = new Map(rows.map(([key, count]) => [key, Number(count)]));
    return keys.texts.map((key) => ({ count: counts.get(key) ?? 0, isExact: true }));
  }
  if (strategy.by !== 'bounds') return [];
  const { planned } = strategy;
  return countWithinBounds(planned.indexUse, run.context.bounds, keys?.count ?? 1, {
    count: async (step, open) => {
      const among = keys && uuidArray(open.map((index) => keys.texts[index] ?? ''));
      const statement = statements.countStep(total, planned, step, run);
      const { rows } = await run.texts(statement, { ...values, ...(among && { keys: among }) });
      const totals = open.map(() => none);
      for (const [count, isBound, ordinal] of keys ? rows : rows.slice(0, 1))
        totals[keys ? Number(ordinal) - 1 : 0] = { count: Number(count), isExact: isBound === null };
      return totals;
    },
    probe: async (probed, sample) => {
      const statement = statements.probe(total.form, planned, probed, sample, run);
      const { rows } = await run.texts(statement, values);
      return probed.map((_, index) => Number(rows[0]?.[index]));
    },
  });
}
