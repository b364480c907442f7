import { sql } from 'kysely';
import { untyped } from '../query/any-tables.ts';
import type { TenantDb } from '../tables/tenant-tables.ts';

/** A period of a trend. */
export interface Span {
  readonly startUtc: Date;
  readonly endUtc: Date;
}

/** Times as the values of an array, which both engines read alike. */
export function timesOf(times: readonly Date[]): string[] {
  return times.map((time) => time.toISOString());
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
