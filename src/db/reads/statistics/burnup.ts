import { sql } from 'kysely';
import { untypedParts } from '../../query/any-tables.ts';
import { anyUuid } from '../../query/any-uuid.ts';
import type { TenantDb } from '../../tables/tenant-tables.ts';
import { boundedStages, endsOf, selectHistoryStart, type Span } from './trend-spans.ts';

export interface BurnupRow {
  historySinceUtc: Date | null;
  /** The delivery or the project. */
  key: string | null;
  /** Null where it is not known; such an issue was not closed. */
  category: number | null;
  /** How many of the days had ended before the change. It counts from the day with this index on. */
  dayIndex: number;
  count: number;
  estimate: number;
}

/**
 * By how much the issues of deliveries or projects changed before and on each of the days, in one statement. Undefined
 * if they have more than `maxStages` stages.
 */
export async function selectBurnup(
  db: TenantDb,
  column: 'deliveryId' | 'projectId',
  keys: readonly string[],
  days: readonly Span[],
  maxStages: number,
): Promise<BurnupRow[] | undefined> {
  const handle = untypedParts(db);
  const ends = endsOf(days);
  const ofKeys = handle.selectFrom('issueStage').where(`issueStage.${column}`, '=', anyUuid(keys));
  const { outer, stageCount, areFew } = boundedStages(db, ofKeys, maxStages);
  const changesOf = (time: 'sinceUtc' | 'untilUtc', sign: 1 | -1) =>
    ofKeys
      .select([`issueStage.${column} as key`, 'issueStage.statusId', 'issueStage.estimateValue'])
      .select(sql`width_bucket(${sql.ref(`issueStage.${time}`)}, ${ends})`.as('dayIndex'))
      .select(sql.lit(sign).as('sign'))
      .where(areFew)
      .where(sql<boolean>`not issue_stage.deleted`)
      .where(`issueStage.${time}`, 'is not', null);
  const changes = handle
    .selectFrom(changesOf('sinceUtc', 1).unionAll(changesOf('untilUtc', -1)).as('moved'))
    .leftJoin('status', 'status.id', 'moved.statusId')
    .select(['moved.key', 'moved.dayIndex', 'status.category'])
    .select(sql<number>`sum(sign)::int`.as('count'))
    .select(sql<number>`sum(sign * coalesce(estimate_value, 0))::float8`.as('estimate'))
    .where('moved.dayIndex', '<', days.length)
    .groupBy(['moved.key', 'moved.dayIndex', 'status.category']);
  const rows = await selectHistoryStart(outer)
    .select(sql<number>`${stageCount}`.as('stages'))
    .leftJoin(changes.as('changes'), (join) => join.onTrue())
    .select(['changes.key', 'changes.category', 'changes.dayIndex', 'changes.count', 'changes.estimate'])
    .execute();
  // The names of some columns are data, so Kysely does not know the type of the rows.
  const found = rows as unknown as (BurnupRow & { stages: number })[];
  return found.some((row) => row.stages > maxStages) ? undefined : found;
}
