/** A position in the write-ahead log of PostgreSQL. Positions of different timelines cannot be compared. */
export interface WalPosition {
  /** Increases when a standby is promoted. */
  readonly timeline: number;
  /** The bytes of the log before it. */
  readonly bytes: number;
}

/** Used where the position is not known: no replica has reached it, so only the primary answers. */
export const unknownPosition: WalPosition = { timeline: 0, bytes: 0 };

/** Reads what PostgreSQL prints as `16/B374D848`. */
export function lsnBytes(lsn: string): number {
  const [high = '', low = ''] = lsn.split('/');
  return Number.parseInt(high, 16) * 2 ** 32 + Number.parseInt(low, 16);
}

/** The position of a primary: the name of a log file begins with the timeline. */
export const primaryPositionSql =
  'select pg_walfile_name(lsn) as file, lsn::text as lsn from pg_current_wal_lsn() as lsn';

/** Identifies a database: by the number of its cluster, which standbys have too, and its own number in the cluster. */
export const databaseIdentitySql = `(select system_identifier from pg_control_system())
  || '/' || (select oid from pg_database where datname = current_database())`;

export function positionOf({ file, lsn }: { file: string; lsn: string }): WalPosition {
  return { timeline: Number.parseInt(file.slice(0, 8), 16), bytes: lsnBytes(lsn) };
}
