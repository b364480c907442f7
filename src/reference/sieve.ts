import type { ChangeRow } from '../db/reads/change-pages.ts';
import type { Snapshot } from './snapshot.ts';

/** A cheap test whether a shared page of the log may have events for a stream, which saves producing an answer without any. */
export interface Sieve {
  /** Whether the test needs the issues of the page, which are then read for it. */
  readonly readsIssues: boolean;
  /** False only if none of the changes causes an event of the stream. */
  readonly lets: (changes: readonly ChangeRow[], issues: Snapshot | undefined) => boolean;
}
