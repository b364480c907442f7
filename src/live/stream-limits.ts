/** How many streams and waiting requests there may be at once, in a process and of one token, and how long they wait. */
export interface StreamLimits {
  readonly streams: number;
  readonly perToken: number;
  /** The longest time for which a request waits for changes. */
  readonly waitMs: number;
}

export const defaultStreams: StreamLimits = { streams: 10_000, perToken: 20, waitMs: 25_000 };
