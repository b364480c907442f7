/** The two ways of a change: from its write to its position, and from there to a stream. */
export type LagStage = 'numbered' | 'delivered';

/** What this process has done for the log of changes and its readers, for the metrics. */
export class LiveCounts {
  /** The streams that are open. */
  readonly streams = { graphql: 0, rest: 0 };
  /** Changes that got their positions here. */
  numbered = 0;
  /** Events that streams were given. */
  delivered = 0;
  /** Called with each delay, where somebody measures. */
  onLag: ((stage: LagStage, seconds: number) => void) | undefined;
}
