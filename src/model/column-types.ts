import type { ColumnType, JSONColumnType } from 'kysely';

/**
 * A point in time in UTC, to the millisecond (`timestamptz(3)`) like a `Date`, so that a cursor that contains it
 * matches its row.
 */
export type Timestamp = ColumnType<Date, Date | string, Date | string>;

/** A point in time with a default in the database. */
export type GeneratedTimestamp = ColumnType<Date, Date | string | undefined, Date | string>;

/** The next steps that an agent's message offers. */
export type FollowUpActions = JSONColumnType<
  { name: string; key: string; color: string }[],
  string | undefined,
  string
>;

/** The values that an audited action set. */
export type AuditChanges = JSONColumnType<
  { field: string; before: string | null; after: string | null }[],
  string | undefined,
  string
>;

/** The data of an imported row that has no column of its own: other relations and unknown fields. */
export type ImportRecord = JSONColumnType<Record<string, unknown>, string | undefined, string>;
