import { dayMs } from '../model/times.ts';
import { keysOf } from '../db/attachments.ts';
import type { Database } from '../db/engine/engine.ts';
import {
  type AbandonedFile,
  copyMissedTexts,
  type DeletedIssue,
  fillMissedStages,
  type FileName,
  removeAbandonedAttachment,
  removeReferenceChanges,
  selectAbandonedAttachments,
  selectLongDeletedIssues,
  selectMissedSince,
  fillIdArrays,
} from '../db/housekeeping.ts';
import { abandonSomeFiles, type RemovalResult, removeSomeOfIssues } from '../db/issue-purge.ts';
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

/**
 * After this many failures, for example because a store does not answer, a round ends. The next one begins with other
 * rows.
 */
const maxFailures = 20;

/**
 * Goes through the items to remove, oldest first. An item that fails does not hold up the others: it is left to the
 * next round.
 */
class RemovalQueue<Item> {
  readonly #find: (now: Date) => Promise<readonly Item[]>;
  #waiting: Item[] = [];
  #failures: unknown[] = [];

  /**
   * `find` returns the items after those that it returned last. When there are no more it returns none, and starts over
   * with the next call.
   */
  constructor(find: (now: Date) => Promise<readonly Item[]>) {
    this.#find = find;
  }

  /** The item to remove next; undefined at the end of the round. */
  async next(now: Date): Promise<Item | undefined> {
    if (this.#failures.length >= maxFailures) return undefined;
    if (this.#waiting.length === 0) this.#waiting.push(...(await this.#find(now)));
    return this.#waiting[0];
  }

  /** Replaces the first item by `instead`; without items, the next item becomes the first. */
  replaceFirst(instead: readonly Item[] = []): void {
    this.#waiting.splice(0, 1, ...instead);
  }

  /** Records the failure of the first item, and leaves the item to the next round. */
  fail(error: unknown): void {
    this.replaceFirst();
    this.#failures.push(error);
  }

  /** Throws the failures of this round, if there are any. */
  throwFailures(): void {
    throwErrors(this.#failures.splice(0));
  }
}

/** Removes uploads that were not finished within an hour and deleted attachments, both rows and bytes. */
export function abandonedUploads(database: Database, store: FileStore): Chore {
  let last: AbandonedFile | undefined;
  const hourBefore = (now: Date) => new Date(now.getTime() - hourMs);
  const queue = new RemovalQueue(async (now) => {
    const found = await selectAbandonedAttachments(database.unscoped, hourBefore(now), 50, last);
    last = found.at(-1);
    return found;
  });
  return {
    name: 'abandoned uploads',
    doSome: async (now) => {
      for (let file = await queue.next(now); file; file = await queue.next(now)) {
        try {
          await removeFile(database, store, file);
          queue.replaceFirst();
          return 1;
        } catch (error) {
          queue.fail(error);
        }
      }
      const removed = await store.removeIncomplete(hourBefore(now));
      if (removed === 0) queue.throwFailures();
      return removed;
    },
  };
}

/** Fills the array columns of labels and assignees of issues that are older than these columns. */
export function issuesWithoutIdArrays({ unscoped }: Database): Chore {
  // Searching for such issues reads the whole table, so the search is not repeated once none are left: new issues always have
  // the arrays.
  let isDone = false;
  return {
    name: 'issues without arrays of ids',
    doSome: async () => {
      if (isDone) return 0;
      const written = rowsOf(await inEachWorkspace(unscoped, (id) => fillIdArrays(unscoped, id, 1_000)));
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
        if (since) {
          filled += rowsOf(await inEachWorkspace(unscoped, (id) => fill(unscoped, id, since, 1_000)));
        }
      }
      return filled;
    },
  };
}

/** What was done in several workspaces, and the errors of those in which it failed. */
interface WorkResult {
  readonly rows: number;
  readonly failures: readonly unknown[];
}

/** Does the work in one workspace after the other. One that fails does not hold up the others. */
async function inWorkspaces(
  workspaceIds: readonly string[],
  work: (workspaceId: string) => Promise<number>,
): Promise<WorkResult> {
  let rows = 0;
  const failures: unknown[] = [];
  for (const id of workspaceIds) {
    try {
      rows += await work(id);
    } catch (error) {
      failures.push(error);
    }
  }
  return { rows, failures };
}

async function inEachWorkspace(
  unscoped: Database['unscoped'],
  work: (workspaceId: string) => Promise<number>,
): Promise<WorkResult> {
  const workspaces = await selectWorkspaces(unscoped);
  return inWorkspaces(
    workspaces.map(({ id }) => id),
    work,
  );
}

/**
 * The number of rows, for a step that is repeated until there are none. Its failures are thrown by the last repetition.
 */
function rowsOf({ rows, failures }: WorkResult): number {
  if (rows === 0) throwErrors(failures);
  return rows;
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
      const { rows, failures } = await inEachWorkspace(unscoped, async (id) => {
        const corrected = await recountTallies(unscoped, id);
        // Not in the transaction of the recount, which would fail if a change got its position meanwhile.
        if (corrected > 0) await markUnlogged(database.of(id));
        return corrected;
      });
      throwErrors(failures);
      nextMs = now.getTime() + dayMs;
      return rows;
    },
  };
}

/** How many rows that belong to issues one transaction removes, and how many attachments one step removes. */
const maxPurged = { rows: 1_000, files: 50 };

/** Deleted issues of one workspace, which are removed together. */
interface DeletedIssues {
  readonly workspaceId: string;
  readonly ids: readonly string[];
}

/**
 * Removes issues that can no longer be restored, with everything that belongs to them. If those of a workspace cannot
 * be removed together, each is tried by itself.
 */
export function longDeletedIssues(database: Database, store: FileStore | undefined): Chore {
  let last: DeletedIssue | undefined;
  // One hour later than necessary, so that a restoration that started in time has ended.
  const purgeableBefore = (now: Date) => new Date(now.getTime() - restorableMs - hourMs);
  const queue = new RemovalQueue(async (now): Promise<DeletedIssues[]> => {
    const found = await selectLongDeletedIssues(database.unscoped, purgeableBefore(now), 20, last);
    last = found.at(-1);
    const byWorkspace = Map.groupBy(found, ({ workspaceId }) => workspaceId);
    return [...byWorkspace].map(([workspaceId, issues]) => ({
      workspaceId,
      ids: issues.map(({ id }) => id),
    }));
  });
  return {
    name: 'deleted issues',
    doSome: async (now) => {
      for (let group = await queue.next(now); group; group = await queue.next(now)) {
        try {
          const { rows, isDone } = await purgeSome(database, store, group, purgeableBefore(now));
          if (isDone) queue.replaceFirst();
          if (rows > 0) return rows;
        } catch (error) {
          const { workspaceId, ids } = group;
          if (ids.length > 1) queue.replaceFirst(ids.map((id) => ({ workspaceId, ids: [id] })));
          else queue.fail(error);
        }
      }
      queue.throwFailures();
      return 0;
    },
  };
}

async function purgeSome(
  database: Database,
  store: FileStore | undefined,
  { workspaceId, ids }: DeletedIssues,
  before: Date,
): Promise<RemovalResult> {
  const db = database.of(workspaceId);
  const files = await inTransaction(db, (trx) => abandonSomeFiles(trx, ids, before, maxPurged.files));
  for (const file of files) await removeFile(database, store, file);
  if (files.length > 0) return { rows: files.length, isDone: false };
  return inTransaction(db, (trx) => removeSomeOfIssues(trx, ids, before, maxPurged.rows));
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
      const before = new Date(now.getTime() - days * dayMs);
      const found = await selectLongLogs(database.unscoped, before, maxChanges);
      const limits = { before, maxChanges, limit: 5_000 };
      return rowsOf(await inWorkspaces(found, (id) => removeOldChanges(database.of(id), limits)));
    },
  };
}

/** The number of days for which messages to webhooks are stored after they have arrived or failed. */
const deliveriesDays = 3;

/** Removes finished deliveries of webhooks after a few days, and deleted webhooks with all of theirs. */
export function oldWebhookDeliveries(database: Database): Chore {
  return {
    name: 'old webhook deliveries',
    doSome: async (now) => {
      const before = new Date(now.getTime() - deliveriesDays * dayMs);
      const found = await selectOldDeliveries(database.unscoped, before);
      return rowsOf(await inWorkspaces(found, (id) => removeOldDeliveries(database.of(id), before, 1_000)));
    },
  };
}

/** Removes the bytes first: a row without bytes would be found again, but not bytes without a row. */
async function removeFile(
  database: Database,
  store: FileStore | undefined,
  attachment: FileName,
): Promise<void> {
  if (store) for (const key of keysOf(attachment)) await store.remove(key);
  await removeAbandonedAttachment(database.of(attachment.workspaceId), attachment);
}

/** Throws the error if there is only one, or one error that combines several. */
function throwErrors(errors: readonly unknown[]): void {
  if (errors.length > 1) throw new AggregateError(errors, `${errors.length} parts of it failed`);
  if (errors.length === 1) throw errors[0];
}
