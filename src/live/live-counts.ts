/** The two parts of a change's delay: from its write until it has a position, and from there until a stream has it. */
export type LagPart = 'numbered' | 'delivered';

/**
 * Why the server ended a stream: the client read nothing, the log no longer goes back to its cursor, its token may no longer
 * read, the service failed, the process stops, or the stream had lasted long enough.
 */
export type CutReason = 'unread' | 'expired' | 'refused' | 'failed' | 'stopping' | 'age';

/** What this process has done for the log of changes and its readers, for the metrics. */
export class LiveCounts {
  /** The streams that are open. */
  readonly streams = { graphql: 0, rest: 0 };
  /** Streams that were ended here, by the reason. */
  readonly cut: Record<CutReason, number> = {
    unread: 0,
    expired: 0,
    refused: 0,
    failed: 0,
    stopping: 0,
    age: 0,
  };
  /** The changes of all workspaces that waited for their positions when this process last looked. */
  inboxRows = 0;
  /** Changes that got their positions here. */
  numbered = 0;
  /** Events that were sent on streams. */
  delivered = 0;
  /** Called with each delay, if delays are measured. */
  onLag: ((part: LagPart, seconds: number) => void) | undefined;
}
