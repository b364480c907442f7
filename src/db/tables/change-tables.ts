import type { ColumnType, Generated, GeneratedAlways } from 'kysely';
import type { Timestamp } from '../../model/column-types.ts';

// The tables of the log of changes, as migration 0032 defines them.

/** The values that a change replaced, by the names of their fields. */
export type PreviousValues = ColumnType<
  Readonly<Record<string, unknown>> | null,
  string | null | undefined,
  string | null
>;

interface LoggedColumns {
  workspaceId: string;
  eventType: string;
  occurredUtc: Timestamp;
  /** Null if the service itself made the change. */
  actorUserAccountId: string | null;
  issueId: string | null;
  teamId: string | null;
  subjectId: string;
  previous: PreviousValues;
  /** A code of `changeOrigin`. */
  origin: number;
  requestId: string | null;
}

/** Changes that have no position yet. They stay here for some milliseconds. */
export interface ChangeInboxTable extends LoggedColumns {
  id: GeneratedAlways<number>;
  changeId: string;
  sortOrder: Generated<number>;
  fields: Generated<string[]>;
}

/** Changes with a position. Only the sequencer inserts them. */
export interface ChangeTable extends LoggedColumns {
  position: number;
  /**
   * A random number of the run of the sequencer that assigned the position. It distinguishes histories with the same
   * positions.
   */
  tag: number;
  id: string;
  sortOrder: number;
  fields: string[];
}

/** Where the log of a workspace begins and ends. A workspace in which nothing was logged yet has no row. */
export interface ChangeHeadTable {
  workspaceId: string;
  position: number;
  oldest: Generated<number>;
  /** The tag of the newest change. */
  tag: number;
  /** A random number of the newest write that is not logged; 0 if there was none. */
  unloggedTag: Generated<number>;
}
