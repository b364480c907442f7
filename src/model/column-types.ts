import type { ColumnType, JSONColumnType } from 'kysely';

/** A point in time, UTC, to the millisecond (`timestamptz(3)`), so that a cursor made of it finds its row again. */
export type Timestamp = ColumnType<Date, Date | string, Date | string>;

/** A point in time that the database says itself when nothing is said. */
export type GeneratedTimestamp = ColumnType<Date, Date | string | undefined, Date | string>;

/** What an agent offers as next steps under a message. */
export type FollowUpActions = JSONColumnType<
  { name: string; key: string; color: string }[],
  string | undefined,
  string
>;

/** The values that an act set. */
export type AuditChanges = JSONColumnType<
  { field: string; before: string | null; after: string | null }[],
  string | undefined,
  string
>;

/** What an import keeps of a row that has no column of ours: other relations and unknown fields. */
export type ImportRecord = JSONColumnType<Record<string, unknown>, string | undefined, string>;
