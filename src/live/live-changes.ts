import type { Logger } from 'pino';
import type { Database } from '../db/engine/engine.ts';
import { ChangeWatch } from './change-watch.ts';
import { LiveCounts } from './live-counts.ts';
import { Sequencer } from './sequencer.ts';
import { defaultStreams, type StreamLimits } from './stream-limits.ts';
import { OpenStreams } from './open-streams.ts';

/** What a process does for the log of changes: it numbers changes, and notifies the subscribers that wait for them. */
export class LiveChanges {
  readonly watch: ChangeWatch;
  readonly openStreams: OpenStreams;
  readonly limits: StreamLimits;
  readonly counts = new LiveCounts();
  readonly #sequencer: Sequencer;

  constructor(database: Database, logger: Logger, limits: StreamLimits = defaultStreams) {
    this.limits = limits;
    this.watch = new ChangeWatch(database, logger);
    this.openStreams = new OpenStreams(limits);
    this.#sequencer = new Sequencer({
      database,
      onNumbered: (workspaceId, position, { count, lagSeconds }) => {
        this.counts.numbered += count;
        if (lagSeconds !== null) this.counts.onLag?.('numbered', lagSeconds);
        this.watch.note(workspaceId, position);
      },
      onSearched: (rows) => {
        this.counts.inboxRows = rows;
      },
      logger,
    });
  }

  /** Ends after what this process has written is numbered. */
  async close(): Promise<void> {
    this.watch.close();
    await this.#sequencer.close();
  }
}
