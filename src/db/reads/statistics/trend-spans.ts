import {
  type Expression,
  type Kysely,
  type RawBuilder,
  type SelectQueryBuilder,
  sql,
  type SqlBool,
} from 'kysely';
import { type AnyTables, untypedParts, withPart } from '../../query/any-tables.ts';
import type { TenantDb } from '../../tables/tenant-tables.ts';

/** A period of a trend. */
export interface Span {
  readonly startUtc: Date;
  readonly endUtc: Date;
}

/** Times as texts, which both engines parse alike. */
function timesOf(times: readonly Date[]): string[] {
  return times.map((time) => time.toISOString());
}

/**
 * The ends of the spans, as an array. The sub-select is evaluated once; the cast alone would be evaluated for each row.
 */
export function endsOf(spans: readonly Span[]): RawBuilder<Date[]> {
  return sql`(select ${timesOf(spans.map(({ endUtc }) => endUtc))}::text[]::timestamptz[])`;
}

export function spanTimes(spans: readonly Span[]): { starts: string[]; ends: string[] } {
  return {
    starts: timesOf(spans.map(({ startUtc }) => startUtc)),
    ends: timesOf(spans.map(({ endUtc }) => endUtc)),
  };
}

/** Selects the time since which the history of the workspace is complete. Trends are joined to this row. */
export function selectHistoryStart(db: Kysely<AnyTables>) {
  return db
    .selectFrom('workspace')
    .select(sql<Date | null>`workspace.history_since_utc`.as('historySinceUtc'));
}

/**
 * Counts the stages that a statement is about to read, up to one more than `maxStages`, in a part of the statement. `outer`
 * is the handle for that statement, and `areFew` is true if there are at most `maxStages` stages.
 */
export function boundedStages(
  db: TenantDb,
  stages: SelectQueryBuilder<AnyTables, 'issueStage', object>,
  maxStages: number,
): { outer: Kysely<AnyTables>; stageCount: Expression<unknown>; areFew: RawBuilder<SqlBool> } {
  const some = stages.select(sql.lit(1).as('found')).limit(sql.lit(maxStages + 1));
  const parts = untypedParts(db);
  const count = parts.selectFrom(some.as('some')).select(sql<number>`count(*)::int`.as('count'));
  const stageCount = parts.selectFrom('stages').select('stages.count');
  return {
    outer: withPart(db, 'stages', count),
    stageCount,
    areFew: sql<SqlBool>`(${stageCount} <= ${sql.lit(maxStages)})`,
  };
}
