import { setTimeout as delay } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import { advisoryLocks } from './engine/advisory-locks.ts';
import type { AttachmentRow } from './attachments.ts';
import type { Database } from './engine/engine.ts';
import { inTransactionOn } from './engine/transaction.ts';
import type { Tables } from './tables/tables.ts';
import type { TenantDb } from './tables/tenant-tables.ts';

const lockedDatabases = new WeakSet<Database>();

/**
 * Runs housekeeping, unless this or another process runs housekeeping or a backup on the same database. Returns whether
 * it ran.
 */
export async function withJanitorLock(database: Database, work: () => Promise<void>): Promise<boolean> {
  if (lockedDatabases.has(database)) return false;
  lockedDatabases.add(database);
  try {
    // Only one process opens an embedded database.
    if (database.engine === 'postgres') return await underLock(database, work);
    await work();
    return true;
  } finally {
    lockedDatabases.delete(database);
  }
}

async function underLock(database: Database, work: () => Promise<void>): Promise<boolean> {
  // The janitor's tasks need the connections of the pool, which may have only one.
  const connection = await database.connectOutsidePool();
  // A pooler may give the session to another client, so the lock must belong to a transaction and not to the session.
  return inTransactionOn(connection, async () => {
    await connection.query('set local idle_in_transaction_session_timeout = 0', []);
    const { rows } = await connection.query<{ taken: boolean }>(
      'select pg_try_advisory_xact_lock($1::bigint) as taken',
      [advisoryLocks.janitor],
    );
    const taken = rows[0]?.taken ?? false;
    if (taken) await work();
    return taken;
  });
}

/**
 * Does the work while it holds the lock of the janitor, so that no file is removed from the store meanwhile. Waits for
 * the lock.
 */
export async function withFileRemovalPaused<Result>(
  database: Database,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  let done: { result: Result } | undefined;
  const attempt = () =>
    withJanitorLock(database, async () => {
      done = { result: await work() };
    });
  while (!(await attempt())) await delay(retryEveryMs, undefined, { ...(signal && { signal }) });
  if (!done) throw new Error('The lock was taken, but the work was not done.');
  return done.result;
}

const retryEveryMs = 200;

export type FileName = Pick<AttachmentRow, 'workspaceId' | 'id' | 'revision'>;

/** An abandoned attachment, with the columns that those of all workspaces are ordered by. */
export interface AbandonedFile extends FileName {
  readonly createdUtc: Date;
}

/**
 * The attachments of all workspaces that were deleted, or were created before a time but never uploaded, oldest first,
 * after the given one.
 */
export async function selectAbandonedAttachments(
  unscoped: Kysely<Tables>,
  before: Date,
  limit: number,
  after?: AbandonedFile,
): Promise<AbandonedFile[]> {
  return unscoped
    .selectFrom('attachment')
    .select(['workspaceId', 'id', 'revision', 'createdUtc'])
    .where('uploadedUtc', 'is', null)
    .where((eb) => eb.or([eb('deletedUtc', 'is not', null), eb('createdUtc', '<', before)]))
    .$if(after !== undefined, (query) =>
      query.where((eb) =>
        eb(
          eb.refTuple('createdUtc', 'workspaceId', 'id'),
          '>',
          eb.tuple(after?.createdUtc ?? before, after?.workspaceId ?? '', after?.id ?? ''),
        ),
      ),
    )
    .orderBy('createdUtc')
    .orderBy('workspaceId')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Removes the row of an attachment, unless an upload has been started or finished meanwhile. */
export async function removeAbandonedAttachment(
  db: TenantDb,
  { id, revision }: Pick<FileName, 'id' | 'revision'>,
): Promise<void> {
  await db
    .deleteFrom('attachment')
    .where('id', '=', id)
    .where('revision', '=', revision)
    .where('uploadedUtc', 'is', null)
    .execute();
}

/** A deleted issue, with the columns that those of all workspaces are ordered by. */
export interface DeletedIssue {
  readonly workspaceId: string;
  readonly id: string;
  readonly deletedUtc: Date | null;
}

/**
 * The issues of all workspaces that were deleted before a time, oldest first, after the given one. The rows must have
 * been created before that time as well: an issue may be imported with an old deletion time, and `verify` reports the
 * missing number of a newer row as damage.
 */
export async function selectLongDeletedIssues(
  unscoped: Kysely<Tables>,
  before: Date,
  limit: number,
  after?: DeletedIssue,
): Promise<DeletedIssue[]> {
  return unscoped
    .selectFrom('issue')
    .select(['workspaceId', 'id', 'deletedUtc'])
    .where('deletedUtc', '<', before)
    .where('id', '<', firstIdOf(before))
    .$if(after !== undefined, (query) =>
      query.where((eb) =>
        eb(
          eb.refTuple('deletedUtc', 'workspaceId', 'id'),
          '>',
          eb.tuple(after?.deletedUtc ?? null, after?.workspaceId ?? '', after?.id ?? ''),
        ),
      ),
    )
    .orderBy('deletedUtc')
    .orderBy('workspaceId')
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** The smallest UUIDv7 that is made at a time. */
function firstIdOf(time: Date): string {
  const hex = time.getTime().toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

// The following statements are about one workspace each: a distributed database locks and joins rows on one node only.

/**
 * Fills the arrays of labels and assignees of issues that were written before triggers maintained these arrays. Returns
 * the number of such issues.
 */
export async function fillIdArrays(
  unscoped: Kysely<Tables>,
  workspaceId: string,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    update issue i set
      label_ids = array(
        select l.label_id from issue_label l
        where l.workspace_id = i.workspace_id and l.issue_id = i.id order by l.label_id
      ),
      assignee_user_account_ids = array(
        select a.user_account_id from issue_assignee a
        where a.workspace_id = i.workspace_id and a.issue_id = i.id order by a.position, a.user_account_id
      )
      from (
        select id from issue
        where workspace_id = ${workspaceId} and (label_ids is null or assignee_user_account_ids is null)
        limit ${limit} for update skip locked
      ) older
      where i.workspace_id = ${workspaceId} and i.id = older.id`.execute(unscoped);
  return Number(numAffectedRows ?? 0);
}

/**
 * The time from which servers of an earlier version may have left something out that a migration filled: a day before
 * it was applied. Undefined a day after it, because the versions no longer run side by side.
 */
export async function selectMissedSince(
  unscoped: Kysely<Tables>,
  migration: string,
): Promise<Date | undefined> {
  const { rows } = await sql<{ since: Date }>`
    select applied_utc - interval '1 day' as since from migration
    where name = ${migration} and applied_utc > now() - interval '1 day'`.execute(unscoped);
  return rows[0]?.since;
}

/**
 * Copies the titles of issues that a server of an earlier version wrote while this version was rolled out, to the table
 * in which titles are searched. Returns their number.
 */
export async function copyMissedTexts(
  unscoped: Kysely<Tables>,
  workspaceId: string,
  since: Date,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    insert into issue_text (workspace_id, issue_id, title_fold)
    select i.workspace_id, i.id, i.title_fold
    from issue i left join issue_text x on x.workspace_id = i.workspace_id and x.issue_id = i.id
    where i.workspace_id = ${workspaceId} and i.updated_utc > ${since} and i.deleted_utc is null
      and x.title_fold is distinct from i.title_fold
    limit ${limit}
    on conflict (workspace_id, issue_id) do update set title_fold = excluded.title_fold`.execute(unscoped);
  return Number(numAffectedRows ?? 0);
}

/**
 * Fills in the previous status of stages that a server of an earlier version wrote while this version was rolled out.
 * Returns their number.
 */
export async function fillMissedStages(
  unscoped: Kysely<Tables>,
  workspaceId: string,
  since: Date,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    update issue_stage s set previous_status_id = x.status_id, previous_deleted = x.deleted
    from (
      select late.issue_id, late.sort_order, p.status_id, coalesce(p.deleted, true) as deleted
      from issue_stage late left join issue_stage p on p.workspace_id = late.workspace_id
        and p.issue_id = late.issue_id and p.sort_order = late.sort_order - 1
      where late.workspace_id = ${workspaceId} and late.since_utc > ${since} and late.previous_deleted is null
      limit ${limit}
    ) x
    where s.workspace_id = ${workspaceId} and s.issue_id = x.issue_id and s.sort_order = x.sort_order`.execute(
    unscoped,
  );
  return Number(numAffectedRows ?? 0);
}

/**
 * Removes the records of changed reference data except those of the last versions of a workspace. Returns their number.
 */
export async function removeReferenceChanges(
  unscoped: Kysely<Tables>,
  recentVersions: number,
  limit: number,
): Promise<number> {
  const old = unscoped
    .selectFrom('referenceChange as c')
    .innerJoin('workspaceVersion as v', 'v.workspaceId', 'c.workspaceId')
    .select(['c.workspaceId', 'c.version', 'c.keptTable', 'c.groupId'])
    .where(sql<boolean>`c.version < v.ref - ${recentVersions}::bigint`)
    .limit(limit);
  const { numDeletedRows } = await unscoped
    .with('old', () => old)
    .deleteFrom('referenceChange as d')
    .using('old as o')
    .whereRef('d.workspaceId', '=', 'o.workspaceId')
    .whereRef('d.version', '=', 'o.version')
    .whereRef('d.keptTable', '=', 'o.keptTable')
    .whereRef('d.groupId', '=', 'o.groupId')
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
