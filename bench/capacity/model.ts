/** What one request or one part of the service costs, as measured. `docs/capacity.md` names the command of each figure. */
export interface Costs {
  /** Time of a core for one request of the mix W9, in ms: of the process, and of all processes of PostgreSQL. */
  readonly processMs: number;
  readonly databaseMs: number;
  /** The share of the requests of the mix that write, and what one write adds to the write-ahead log, in bytes. */
  readonly writeShare: number;
  readonly logBytes: number;
  /** Bytes of one issue on disk, with its indexes, stages, texts and tallies, and of one comment or entry of a feed. */
  readonly issueBytes: number;
  readonly commentBytes: number;
  /** Memory of a process without reference data, in MB, and of a thousand rows of reference data. */
  readonly processMb: number;
  readonly referenceMb: number;
  /** Memory of an idle stream, in KB. */
  readonly streamKb: number;
  /** Numbering the changes of one workspace: time of one run, in ms. A process numbers one workspace after the other. */
  readonly numberingMs: number;
}

/** The size and the load of an assumed service. */
export interface Size {
  readonly issues: number;
  readonly commentsPerIssue: number;
  readonly workspaces: number;
  /** Rows of reference data of all workspaces: teams, people, labels, statuses, projects. */
  readonly referenceRows: number;
  readonly processes: number;
  /** Cores of the primary, and what its disk writes in a second, in MB. */
  readonly databaseCores: number;
  readonly diskMb: number;
  readonly streams: number;
  /** The maximum number of rows of reference data in one process: `REFERENCE_ROWS`. */
  readonly keptRows: number;
  /** The connections of one process: `POOL_SIZE`, one for probes and one that listens. */
  readonly connections: number;
  /** Workspaces in which something is written within one second, at the busiest. */
  readonly writtenWorkspaces: number;
}

export interface Capacity {
  /** Requests a second at which each part is full; the smallest one is what the service can do. */
  readonly processes: number;
  readonly database: number;
  readonly log: number;
  readonly processMemoryMb: number;
  readonly diskGb: number;
  readonly connections: number;
  /** How long a change waits until it is numbered, when all these workspaces are written to, in ms. */
  readonly numberedAfterMs: number;
}

/** A core is full at this share of its time: beyond it, waiting grows faster than work. */
const usable = 0.8;

/** At which load each part of a service of this size is full. */
export function capacityOf(costs: Costs, size: Size): Capacity {
  const { processes, databaseCores } = size;
  const mb = 1_048_576;
  const rowsKept = Math.min(size.referenceRows, size.keptRows);
  const workspacesPerProcess = Math.ceil(size.writtenWorkspaces / processes);
  const numberingMs = workspacesPerProcess * costs.numberingMs;
  return {
    processes: (processes * usable * 1_000) / costs.processMs,
    database: (databaseCores * usable * 1_000) / costs.databaseMs,
    log: (size.diskMb * mb) / (costs.writeShare * costs.logBytes),
    processMemoryMb:
      costs.processMb +
      (rowsKept / 1_000) * costs.referenceMb +
      ((size.streams / processes) * costs.streamKb) / 1_024,
    diskGb: (size.issues * (costs.issueBytes + size.commentsPerIssue * costs.commentBytes)) / 1_000 ** 3,
    connections: processes * size.connections,
    // The sequencer gathers and rests between two runs (20 to 80 ms), and a change may come right after a run has begun.
    numberedAfterMs: 2 * numberingMs + Math.min(Math.max(4 * numberingMs, 20), 80),
  };
}
