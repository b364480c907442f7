import { type BurnupRow, selectBurnup } from '../../db/reads/statistics/burnup.ts';
import { statusCategory } from '../../model/codes.ts';
import { maxInt32 } from '../../model/int32.ts';
import { type Context, requireSignedIn } from '../context.ts';
import { refuseStatistics } from '../issues/issue-stats.ts';
import { type Period, type PeriodsInput, periodsInSlice } from './periods.ts';

export interface BurnupDay {
  onDate: string;
  scope: number;
  started: number;
  done: number;
  scopeEstimate: number;
  startedEstimate: number;
  doneEstimate: number;
}

export interface Burnup {
  historySinceUtc: Date | null;
  days: BurnupDay[];
}

/** The column that relates issues to the deliveries or projects of a burnup, and how canceled issues count. */
export interface BurnupSource {
  column: 'deliveryId' | 'projectId';
  /** Whether canceled issues are in the scope, and done. */
  countsCanceled: boolean;
}

type BurnupInput = Omit<PeriodsInput, 'every'>;

/** The burnups of several deliveries or projects, each up to the present day. */
export async function burnups(
  ctx: Context,
  { column, countsCanceled }: BurnupSource,
  input: BurnupInput,
  keys: readonly string[],
): Promise<Burnup[]> {
  const { db, now, bounds } = requireSignedIn(ctx);
  const all = await periodsInSlice({ ...input, every: 'day' });
  const days = all.filter(({ startUtc }) => startUtc <= now);
  const rows =
    (await selectBurnup(db, column, keys, days, bounds.statistics)) ??
    refuseStatistics(
      `The issues of these burnups have changed more than ${bounds.statistics} times. Ask for fewer in one operation.`,
    );
  const byKey = Map.groupBy(rows, ({ key }) => key);
  const historySinceUtc = rows[0]?.historySinceUtc ?? null;
  return keys.map((key) => {
    const changes = (byKey.get(key) ?? []).filter(
      ({ category }) => countsCanceled || category !== statusCategory.canceled,
    );
    return { historySinceUtc, days: daysOf(days, changes) };
  });
}

/** The running sums of the changes at the end of each day. */
function daysOf(days: readonly Period[], changes: readonly BurnupRow[]): BurnupDay[] {
  const byDay = Map.groupBy(changes, ({ dayIndex }) => dayIndex);
  const sums = { scope: 0, started: 0, done: 0, scopeEstimate: 0, startedEstimate: 0, doneEstimate: 0 };
  return days.map(({ startsOn }, index) => {
    for (const { category, count, estimate } of byDay.get(index) ?? []) {
      sums.scope += count;
      sums.scopeEstimate += estimate;
      if (category === statusCategory.active) {
        sums.started += count;
        sums.startedEstimate += estimate;
      } else if (category === statusCategory.completed || category === statusCategory.canceled) {
        sums.done += count;
        sums.doneEstimate += estimate;
      }
    }
    return {
      onDate: startsOn,
      ...sums,
      scopeEstimate: Math.min(sums.scopeEstimate, maxInt32),
      startedEstimate: Math.min(sums.startedEstimate, maxInt32),
      doneEstimate: Math.min(sums.doneEstimate, maxInt32),
    };
  });
}
