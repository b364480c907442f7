import { randomInt } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { advisoryLocks } from './engine/advisory-locks.ts';
import { anyUuid } from './query/any-uuid.ts';
import { PreparedSelect } from './query/prepared-select.ts';
import type { StatementTarget } from './engine/statement-target.ts';
import type { BorrowedConnection } from './engine/borrowed-connection.ts';
import { anyWorkspace } from './engine/tenant-handle.ts';
import { typedSlot } from './statements/slots.ts';
import type { Tables } from './tables/tables.ts';
import type { TenantDb } from './tables/tenant-tables.ts';
import type { Trx } from './engine/transaction.ts';

/** The channel of the notifications about new positions. */
export const changesChannel = 'workgraph_changes';

/** The maximum number of changes that one run of the sequencer numbers in a workspace. */
export const changesPerRun = 2_000;

/** A random tag below 2^48, for a run of the sequencer or for a log that starts over. */
export const newTag = (): number => randomInt(1, 2 ** 48 - 1);

/** The newest positions of workspaces. */
export async function selectHeads(
  unscoped: Kysely<Tables>,
  workspaceIds: readonly string[],
): Promise<{ workspaceId: string; position: number }[]> {
  return unscoped
    .selectFrom('changeHead')
    .select(['workspaceId', 'position'])
    .where('workspaceId', '=', anyUuid(workspaceIds))
    .execute();
}

/** The result of a run of the sequencer in a workspace. */
export interface SequencerResult {
  /**
   * False if another run had the workspace's lock, so that this one did nothing. That run may have started before the
   * newest changes were committed.
   */
  hasLock: boolean;
  /** How many changes it numbered. */
  count: number;
  /** The newest position afterwards; null if it numbered none. */
  position: number | null;
  /** The seconds since the oldest of them was written; null if it numbered none. */
  lagSeconds: number | null;
}

/** The workspaces with changes that wait for their positions, and the number of these changes. */
export async function selectUnnumbered(
  unscoped: Kysely<Tables>,
): Promise<{ workspaceId: string; count: number }[]> {
  return unscoped
    .selectFrom('changeInbox')
    .select((eb) => ['workspaceId', eb.fn.countAll<number>().as('count')])
    .groupBy('workspaceId')
    .execute();
}

/**
 * Gives the waiting changes of the handle's workspace their positions. Only committed changes are visible, so a change
 * that commits later gets a later position, and no change is ever inserted between two others. Changes of an issue are
 * in the order of their `sort_order`, even if their ids in the inbox are not. `tag` becomes a part of the cursors of
 * these changes.
 */
export async function numberChanges({ db, connect }: StatementTarget, tag: number): Promise<SequencerResult> {
  const [numbered] = await numberingStatement.send({ db, connect }, { tag });
  return numbered ?? { hasLock: false, count: 0, position: null, lagSeconds: null };
}

/**
 * Frees the space of changes that have moved to the log; otherwise each run would have to read past them. Autovacuum
 * comes once a minute at most, and on the embedded engine never. Does nothing while the table is being vacuumed
 * already.
 */
export async function vacuumInbox(unscoped: Kysely<Tables>): Promise<void> {
  // Truncating the file would lock the table against writes.
  await sql`vacuum (skip_locked, truncate off) change_inbox`.execute(unscoped);
}

/**
 * Notifies all processes of the newest positions of workspaces. It must come after the commit of the runs that gave
 * them. Its own commit changes nothing, so no client waits until it is on the disk.
 */
export async function notifyOfChanges(
  connect: () => Promise<BorrowedConnection>,
  heads: ReadonlyMap<string, number>,
): Promise<void> {
  const payloads = [...heads].map(([workspaceId, position]) => `${workspaceId} ${position}`);
  await notifyStatement.run(connect, { payloads });
}

const notifyStatement = new PreparedSelect(
  anyWorkspace.selectNoFrom([
    sql<string>`set_config('synchronous_commit', 'off', true)`.as('commit'),
    sql<string>`pg_notify(${sql.lit(changesChannel)}, unnest(${typedSlot('payloads', 'text[]')}))`.as(
      'notified',
    ),
  ]),
  ['commit', 'notified'],
);

/** The workspaces whose logs have changes from before a time, or more than `maxChanges` changes. */
export async function selectLongLogs(
  unscoped: Kysely<Tables>,
  before: Date,
  maxChanges: number,
): Promise<string[]> {
  const rows = await longLogsQuery(unscoped, before, maxChanges).execute();
  return rows.map(({ workspaceId }) => workspaceId);
}

/** The statement of `selectLongLogs`, which looks up two changes of each workspace at most. */
export function longLogsQuery(unscoped: Kysely<Tables>, before: Date, maxChanges: number) {
  return unscoped
    .selectFrom('changeHead as h')
    .select('h.workspaceId')
    .where((eb) => {
      const changes = eb.selectFrom('change as c').whereRef('c.workspaceId', '=', 'h.workspaceId');
      const oldest = changes.whereRef('c.position', '=', 'h.oldest').select('c.occurredUtc');
      const first = changes.select('c.position').orderBy('c.position').limit(1);
      return eb.or([
        eb(oldest, '<', before),
        // An interrupted removal has left changes behind.
        eb(first, '<', eb('h.oldest', '-', 1)),
        sql<boolean>`h.position - h.oldest >= ${maxChanges}`,
      ]);
    });
}

/**
 * Removes the oldest changes of a workspace, at most `limit`: those from before the time, and those beyond the newest
 * `maxChanges`. `oldest` is moved first, so that no reader finds a gap. The last change before `oldest` stays, because its
 * tag proves that cursors of its position are valid. Returns the number of removed changes.
 */
export async function removeOldChanges(
  db: TenantDb,
  { before, maxChanges, limit }: { before: Date; maxChanges: number; limit: number },
): Promise<number> {
  const firstRecent = db
    .selectFrom('change')
    .select('position')
    .where('occurredUtc', '>=', before)
    .orderBy('position')
    .limit(1);
  await db
    .updateTable('changeHead')
    .set({
      oldest: sql<number>`greatest(
        oldest,
        least(
          greatest(coalesce((${firstRecent}), position + 1), position + 1 - ${maxChanges}::bigint),
          oldest + ${limit}::bigint
        )
      )`,
    })
    .execute();
  const { numDeletedRows } = await db
    .deleteFrom('change')
    .where((eb) =>
      eb('position', '<', eb.selectFrom('changeHead').select(sql<number>`oldest - 1`.as('last'))),
    )
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/**
 * Starts the log of the handle's workspace over after its newest change, which makes all earlier cursors invalid. The
 * janitor removes the changes that can no longer be read.
 */
export async function restartLog(trx: Trx): Promise<void> {
  // The lock keeps the sequencer from assigning positions meanwhile.
  const head = await trx.selectFrom('changeHead').select('position').forUpdate().executeTakeFirst();
  if (!head) return;
  const tag = newTag();
  await trx
    .updateTable('changeHead')
    .set({ oldest: head.position + 1, tag })
    .execute();
  await trx.updateTable('change').set({ tag }).where('position', '=', head.position).execute();
}

/**
 * Marks a write that changes data which clients may read, but which the log does not record. The mark changes the version of
 * the data (`selectDataPosition`).
 */
export async function markUnlogged(db: TenantDb): Promise<void> {
  await db.updateTable('changeHead').set({ unloggedTag: newTag() }).execute();
}

/** The columns of a change except its position and tag. In the inbox, the column of its id is `change_id`. */
export const loggedColumns = [
  'id',
  'sortOrder',
  'eventType',
  'occurredUtc',
  'actorUserAccountId',
  'issueId',
  'teamId',
  'subjectId',
  'fields',
  'previous',
  'origin',
  'requestId',
] as const;

// The largest id among this change and the earlier ones of its issue: sorting by it keeps the changes of an issue in the order
// of their `sort_order`.
const effectiveId = sql<number>`max(id) over (partition by coalesce(issue_id, change_id) order by sort_order)`;
const byEffectiveId = sql`effective_id, sort_order, id`;

// The ids are an array, because a join would read all of one side for each row of the other: the inbox may have been
// empty when the statement was planned.
const firstIds = sql<number>`any(array(select id from first))`;

// The statement's snapshot may be older than its lock. Then `first` also has changes that the previous run has already
// taken, and the deletion does not find them. So positions are counted over the deleted rows.
const numberingStatement = new PreparedSelect<SequencerResult>(numberingQuery(anyWorkspace), [
  'hasLock',
  'count',
  'position',
  'lagSeconds',
]);

function numberingQuery(db: TenantDb) {
  const lock = sql<boolean>`pg_try_advisory_xact_lock(${advisoryLocks.sequencer}::int, hashtext(${typedSlot('workspaceId', 'text')}))`;
  return db
    .with('lock', (parts) => parts.selectNoFrom(lock.as('hasLock')))
    .with('waiting', (parts) =>
      parts
        .selectFrom('changeInbox as i')
        .select(['i.id', 'i.sortOrder', effectiveId.as('effective_id')])
        .where((eb) => eb.exists(eb.selectFrom('lock').select('hasLock').where('hasLock', '=', true))),
    )
    .with('first', (parts) =>
      parts.selectFrom('waiting').select('waiting.id').orderBy(byEffectiveId).limit(changesPerRun),
    )
    .with('taken', (parts) => parts.deleteFrom('changeInbox').where('id', '=', firstIds).returningAll())
    .with('ordered', (parts) =>
      parts.selectFrom('taken').selectAll('taken').select(effectiveId.as('effective_id')),
    )
    .with('counted', (parts) =>
      parts
        .selectFrom('taken')
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .select(
          sql<number>`extract(epoch from clock_timestamp() - min(taken.occurred_utc))::float8`.as(
            'lagSeconds',
          ),
        ),
    )
    .with('head', (parts) =>
      parts
        .insertInto('changeHead')
        .columns(['position', 'tag'])
        .expression(
          parts
            .selectFrom('counted')
            .select(['counted.count', typedSlot<number>('tag', 'bigint').as('tag')])
            .where('counted.count', '>', 0),
        )
        .onConflict((conflict) =>
          conflict.columns(['workspaceId']).doUpdateSet({
            position: sql<number>`change_head.position + excluded.position`,
            tag: sql<number>`excluded.tag`,
          }),
        )
        .returning(['changeHead.position', 'changeHead.tag']),
    )
    .with('moved', (parts) =>
      parts
        .insertInto('change')
        .columns(['position', 'tag', ...loggedColumns])
        .expression(
          parts
            .selectFrom('ordered')
            .innerJoin('head', (join) => join.onTrue())
            .innerJoin('counted', (join) => join.onTrue())
            .select(
              sql<number>`head.position - counted.count + row_number() over (order by ${byEffectiveId})`.as(
                'position',
              ),
            )
            .select('head.tag')
            .select([
              'ordered.changeId as id',
              ...loggedColumns.slice(1).map((column) => `ordered.${column}` as const),
            ]),
        ),
    )
    .selectFrom('counted')
    .innerJoin('lock', (join) => join.onTrue())
    .leftJoin('head', (join) => join.onTrue())
    .select(['lock.hasLock', 'counted.count', 'head.position', 'counted.lagSeconds']);
}
