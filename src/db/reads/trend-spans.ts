import { type RawBuilder, sql } from 'kysely';
import { untyped } from '../query/any-tables.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';

/** A period of a trend. */
export interface Span {
  readonly startUtc: Date;
  readonly endUtc: Date;
}

/** Times as texts, which both engines read alike. */
function timesOf(times: readonly Date[]): string[] {
  return times.map((time) => time.toISOString());
}

/** When the spans end, as an array. The sub-select is read once, where the array alone would be read for each row. */
export function endsOf(spans: readonly Span[]): RawBuilder<Date[]> {
  return sql`(select ${timesOf(spans.map(({ endUtc }) => endUtc))}::text[]::timestamptz[])`;
}

export function spanTimes(spans: readonly Span[]): { starts: string[]; ends: string[] } {
  return {
    starts: timesOf(spans.map(({ startUtc }) => startUtc)),
    ends: timesOf(spans.map(({ endUtc }) => endUtc)),
  };
}

/** The row of the workspace, which says since when its history is complete. Trends are joined to it. */
export function history(db: TenantDb) {
  return untyped(db)
    .selectFrom('workspace')
    .select(sql<Date | null>`workspace.history_since_utc`.as('historySinceUtc'));
}
