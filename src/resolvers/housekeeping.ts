import { keysOf } from '../db/attachments.ts';
import type { Database } from '../db/engine/engine.ts';
import {
  copyMissedTexts,
  fillMissedStages,
  type FileName,
  removeAbandonedAttachment,
  removeIssues,
  removeReferenceChanges,
  selectAbandonedAttachments,
  selectFilesOfIssues,
  selectLongDeletedIssues,
  selectMissedSince,
  writeJoinedIds,
} from '../db/housekeeping.ts';
import { recountTallies } from '../db/issue-tallies.ts';
import { markUnlogged, removeOldChanges, selectLongLogs } from '../db/changes.ts';
import { removeOldDeliveries, selectOldDeliveries } from '../db/webhooks.ts';
import type { FileStore } from '../storage/storage.ts';
import { inTransaction } from '../db/engine/transaction.ts';
import { selectWorkspaces } from '../db/workspaces.ts';
import { removeOldKeys } from './writes/idempotency.ts';
import { restorableMs } from './issues/issue-deletion.ts';

/** A task of the janitor. `doSome` does a limited amount of work and returns how many rows or files it handled. */
export interface Chore {
  readonly name: string;
  readonly doSome: (now: Date) => Promise<number>;
}

const hourMs = 60 * 60_000;

/** Removes uploads that were not finished within an hour and deleted attachments, both rows and bytes. */
export function abandonedUploads(database: Database, store: FileStore): Chore {
  return {
    name: 'abandoned uploads',
    doSome: async (now) => {
      const before = new Date(now.getTime() - hourMs);
      const abandoned = await selectAbandonedAttachments(database.unscoped, before, 50);
      for (const attachment of abandoned) {
        // The bytes are removed first: a row without bytes would be found again, but not bytes without a row.
        await removeBytes(store, attachment);
        await removeAbandonedAttachment(database.of(attachment.workspaceId), attachment);
      }
      return abandoned.length + (await store.sweep(before));
    },
  };
}

/** Fills the array columns of labels and assignees of issues that are older than these columns. */
export function unwrittenSets({ unscoped }: Database): Chore {
  // Searching for such issues reads the whole table, so it ends for good when none are left: new issues have the arrays.
  let isDone = false;
  return {
    name: 'unwritten sets',
    doSome: async () => {
      if (isDone) return 0;
      const written = await inEachWorkspace(unscoped, (id) => writeJoinedIds(unscoped, id, 1_000));
      isDone = written === 0;
      return written;
    },
  };
}

/** Adds rows that servers of an earlier version do not write, while both versions run during an update. */
export function missedByEarlierVersions({ unscoped }: Database): Chore {
  const missed = [
    { migration: '0028_fill_issue_text', fill: copyMissedTexts },
    { migration: '0035_fill_stages_before', fill: fillMissedStages },
  ];
  return {
    name: 'what earlier versions left out',
    doSome: async () => {
      let filled = 0;
      for (const { migration, fill } of missed) {
        const since = await selectMissedSince(unscoped, migration);
        if (since) filled += await inEachWorkspace(unscoped, (id) => fill(unscoped, id, since, 1_000));
      }
      return filled;
    },
  };
}

/** Does the work in one workspace after the other, and adds up what it returns. */
async function inEachWorkspace(
  unscoped: Database['unscoped'],
  work: (workspaceId: string) => Promise<number>,
): Promise<number> {
  let done = 0;
  for (const { id } of await selectWorkspaces(unscoped)) done += await work(id);
  return done;
}

/**
 * Counts all issues once a day and corrects tallies, because servers of an earlier version, which run during an update,
 * do not change them.
 */
export function wrongTallies(database: Database): Chore {
  const { unscoped } = database;
  let nextMs = 0;
  return {
    name: 'wrong tallies',
    doSome: async (now) => {
      if (now.getTime() < nextMs) return 0;
      const wrong = await inEachWorkspace(unscoped, async (id) => {
        const corrected = await recountTallies(unscoped, id);
        // Not in the transaction of the recount, which would fail if a change got its position meanwhile.
        if (corrected > 0) await markUnlogged(database.of(id));
        return corrected;
      });
      nextMs = now.getTime() + 24 * hourMs;
      return wrong;
    },
  };
}

/** Removes issues that can no longer be restored, with everything that belongs to them. */
export function longDeletedIssues(database: Database, store: FileStore | undefined): Chore {
  return {
    name: 'deleted issues',
    doSome: async (now) => {
      // One hour later than necessary, so that a restoration that started in time has ended.
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

/** Removes expired idempotency keys. */
export function oldKeys({ unscoped }: Database): Chore {
  return { name: 'old idempotency keys', doSome: (now) => removeOldKeys(unscoped, now) };
}

/**
 * Removes old entries from the log of changes of reference data. A process that needs them reads all reference data
 * instead.
 */
export function oldReferenceChanges({ unscoped }: Database): Chore {
  return {
    name: 'old changes of reference data',
    doSome: () => removeReferenceChanges(unscoped, 1_000, 5_000),
  };
}

/** The maximum number of changes in the log of a workspace. */
const maxChanges = 1_000_000;

/** Removes changes that are older than `days`, and those beyond the maximum of their workspace. */
export function oldChanges(database: Database, days: number): Chore {
  return {
    name: 'old changes',
    doSome: async (now) => {
      const before = new Date(now.getTime() - days * 24 * hourMs);
      let removed = 0;
      for (const workspaceId of await selectLongLogs(database.unscoped, before, maxChanges)) {
        removed += await removeOldChanges(database.of(workspaceId), {
          before,
          most: maxChanges,
          limit: 5_000,
        });
      }
      return removed;
    },
  };
}

/** The number of days for which messages to webhooks are stored after they have arrived or failed. */
const deliveriesDays = 3;

/** Removes finished deliveries of webhooks after some days, and deleted webhooks with all of theirs. */
export function oldWebhookDeliveries(database: Database): Chore {
  return {
    name: 'old webhook deliveries',
    doSome: async (now) => {
      const before = new Date(now.getTime() - deliveriesDays * 24 * hourMs);
      let removed = 0;
      for (const workspaceId of await selectOldDeliveries(database.unscoped, before))
        removed += await removeOldDeliveries(database.of(workspaceId), before, 1_000);
      return removed;
    },
  };
}

async function removeBytes(store: FileStore, file: FileName): Promise<void> {
  for (const key of keysOf(file)) await store.remove(key);
}
