import { keysOf } from '../db/attachments.ts';
import type { Database } from '../db/engine/engine.ts';
import {
  type FileName,
  removeAbandonedAttachment,
  removeIssues,
  removeReferenceChanges,
  selectAbandonedAttachments,
  selectFilesOfIssues,
  selectLongDeletedIssues,
  writeJoinedIds,
} from '../db/housekeeping.ts';
import { analyzeTables } from '../db/writes/import-writes.ts';
import type { FileStore } from '../storage/storage.ts';
import { inTransaction } from '../db/engine/transaction.ts';
import { removeOldKeys } from './writes/idempotency.ts';
import { restorableMs } from './issues/issue-deletion.ts';

/** Something to be put in order; it does a bounded piece at a time and says how much that was. */
export interface Chore {
  readonly name: string;
  readonly doSome: (now: Date) => Promise<number>;
}

const hourMs = 60 * 60_000;

/** What an upload leaves when nobody finishes it: a row after an hour, its bytes, and those of deleted attachments. */
export function abandonedUploads(database: Database, store: FileStore): Chore {
  return {
    name: 'abandoned uploads',
    doSome: async (now) => {
      const before = new Date(now.getTime() - hourMs);
      const abandoned = await selectAbandonedAttachments(database.unscoped, before, 50);
      for (const attachment of abandoned) {
        // The bytes first: a row without bytes is found again, bytes without a row are not.
        await removeBytes(store, attachment);
        await removeAbandonedAttachment(database.of(attachment.workspaceId), attachment);
      }
      return abandoned.length + (await store.sweep(before));
    },
  };
}

/**
 * What the planner believes of the embedded engine's tables. Nothing else tells it: that engine has no autovacuum, and
 * a nested filter over tables thought empty held it for minutes where it takes a tenth of a second.
 */
export function staleStatistics({ unscoped }: Database): Chore {
  return {
    name: 'stale statistics',
    doSome: async () => {
      await analyzeTables(unscoped);
      return 0;
    },
  };
}

/** Labels and assignees that stand in joins alone, as they do of issues from before there were columns for them. */
export function unwrittenSets({ unscoped }: Database): Chore {
  // Looking for them reads the whole table, and there will be no new ones.
  let isDone = false;
  return {
    name: 'unwritten sets',
    doSome: async () => {
      if (isDone) return 0;
      const written = await writeJoinedIds(unscoped, 1_000);
      isDone = written === 0;
      return written;
    },
  };
}

/** Issues that nobody can restore any more, with everything on them. */
export function longDeletedIssues(database: Database, store: FileStore | undefined): Chore {
  return {
    name: 'deleted issues',
    doSome: async (now) => {
      // An hour more, so that a restoration that came in time is done.
      const before = new Date(now.getTime() - restorableMs - hourMs);
      const found = await selectLongDeletedIssues(database.unscoped, before, 20);
      const byWorkspace = Map.groupBy(found, ({ workspaceId }) => workspaceId);
      let removed = 0;
      for (const [workspaceId, issues] of byWorkspace) {
        const db = database.of(workspaceId);
        const ids = issues.map(({ id }) => id);
        if (store) {
          for (const file of await selectFilesOfIssues(db, ids)) await removeBytes(store, file);
        }
        removed += await inTransaction(db, (trx) => removeIssues(trx, ids, before));
      }
      return removed;
    },
  };
}

/** Idempotency keys that a client may use anew. */
export function oldKeys({ unscoped }: Database): Chore {
  return { name: 'old idempotency keys', doSome: (now) => removeOldKeys(unscoped, now) };
}

/** What changed in reference data so long ago that a process that has not read it since reads all of them. */
export function oldReferenceChanges({ unscoped }: Database): Chore {
  return {
    name: 'old changes of reference data',
    doSome: () => removeReferenceChanges(unscoped, 1_000, 5_000),
  };
}

async function removeBytes(store: FileStore, file: FileName): Promise<void> {
  for (const key of keysOf(file)) await store.remove(key);
}
