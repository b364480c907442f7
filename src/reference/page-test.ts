import type { ChangeRow } from '../db/reads/change-pages.ts';
import type { Snapshot } from './snapshot.ts';

/** Tests cheaply whether a shared page of the log may concern a stream, which saves a read that finds no events. */
export interface PageTest {
  /** Whether the test needs the issues of the page, which are then read for it. */
  readonly readsIssues: boolean;
  /** False only if none of the changes causes an event of the stream. */
  readonly mayConcern: (changes: readonly ChangeRow[], issues: Snapshot | undefined) => boolean;
}
