import { randomInt } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { anyUuid } from './query/any-uuid.ts';
import type { Database } from './engine/engine.ts';
import { PreparedSelect } from './query/prepared.ts';
import { anyWorkspace } from './engine/tenant-handle.ts';
import { typed } from './query/slots.ts';
import type { Tables } from './tables/tables.ts';
import type { TenantDb } from './tables/tenant-tables.ts';
import type { Trx } from './engine/transaction.ts';

/** The channel on which processes hear of new positions. */
export const changesChannel = 'workgraph_changes';

/** The most changes that one run of the sequencer numbers in a workspace. */
export const changesPerRun = 2_000;

// 'wgch' in ASCII, so that these locks differ from all other advisory locks of the database.
const sequencerLocks = 0x77676368;

/** A new tag, below 2^48: of a run of the sequencer, or of a log that starts over. */
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

/** What a run has done in a workspace. */
export interface Numbered {
  /** False if another run held the workspace; it may have begun before the changes that this one is for. */
  held: boolean;
  /** How many changes it numbered. */
  count: number;
  /** The newest position afterwards; null if it numbered none. */
  position: number | null;
  /** The seconds since the oldest of them was written; null if it numbered none. */
  lagSeconds: number | null;
}

/** The workspaces with changes that wait for their positions, and how many these are. */
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
 * Gives the waiting changes of the handle's workspace their positions. Only committed changes are seen, so a change that
 * commits later gets a later position, and none is ever inserted between two others. A change never precedes one of the
 * same issue with a lower `sort_order`, whatever their identities say. `tag` is a random number, which becomes a part of the cursors of these changes.
 */
export async function numberChanges(
  { db, connect }: { db: TenantDb; connect: Database['connect'] },
  tag: number,
): Promise<Numbered> {
  const [numbered] = await numbering.send({ db, connect }, { tag });
  return numbered ?? { held: false, count: 0, position: null, lagSeconds: null };
}

/** Tells all processes up to which positions workspaces have changes. The runs that numbered them are committed. */
export async function notifyOfChanges(
  unscoped: Kysely<Tables>,
  heads: ReadonlyMap<string, number>,
): Promise<void> {
  const payloads = [...heads].map(([workspaceId, position]) => `${workspaceId} ${position}`);
  await sql`select pg_notify(${changesChannel}, payload) from unnest(${payloads}::text[]) payload`.execute(
    unscoped,
  );
}

/** The workspaces whose logs have changes from before the time, or more changes than the most. */
export async function selectLongLogs(
  unscoped: Kysely<Tables>,
  before: Date,
  most: number,
): Promise<string[]> {
  const rows = await unscoped
    .selectFrom('changeHead as h')
    .innerJoin('change as c', (join) =>
      join.onRef('c.workspaceId', '=', 'h.workspaceId').onRef('c.position', '<=', 'h.oldest'),
    )
    .select('h.workspaceId')
    .distinct()
    .where((eb) =>
      eb.or([
        eb.and([eb('c.position', '=', eb.ref('h.oldest')), eb('c.occurredUtc', '<', before)]),
        // A step that was interrupted has left it behind.
        eb('c.position', '<', eb('h.oldest', '-', 1)),
        sql<boolean>`h.position - h.oldest >= ${most}`,
      ]),
    )
    .execute();
  return rows.map(({ workspaceId }) => workspaceId);
}

/**
 * Removes the oldest changes of a workspace, at most `limit`: those from before the time, and those beyond the most. Readers
 * learn of it first, from `oldest`; nobody may find a gap. The newest of them stays, since cursors of its position are still
 * good and its tag says so. Returns the number of removed changes.
 */
export async function removeOldChanges(
  db: TenantDb,
  { before, most, limit }: { before: Date; most: number; limit: number },
): Promise<number> {
  const young = db
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
          greatest(coalesce((${young}), position + 1), position + 1 - ${most}::bigint),
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
 * Starts the log of the handle's workspace over behind its newest change: nobody can go on from an earlier cursor. The
 * janitor removes the changes that nobody can read any more.
 */
export async function beginLogAnew(trx: Trx): Promise<void> {
  // The lock keeps the sequencer from giving positions meanwhile.
  const head = await trx.selectFrom('changeHead').select('position').forUpdate().executeTakeFirst();
  if (!head) return;
  const tag = newTag();
  await trx
    .updateTable('changeHead')
    .set({ oldest: head.position + 1, tag })
    .execute();
  await trx.updateTable('change').set({ tag }).where('position', '=', head.position).execute();
}

/** What a change is logged with; in the inbox, its id is `change_id`. */
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

// The snapshot of the statement may be older than the lock. Then it also places changes that the run before has taken, and the
// deletion leaves them out.
const nthTaken = sql<number>`row_number() over (order by taken.place)`;

const numbering = new PreparedSelect<Numbered>(numberingOf(anyWorkspace), [
  'held',
  'count',
  'position',
  'lagSeconds',
]);

function numberingOf(db: TenantDb) {
  const lock = sql<boolean>`pg_try_advisory_xact_lock(${sequencerLocks}::int, hashtext(${typed('workspaceId', 'text')}))`;
  return db
    .with('lock', (parts) => parts.selectNoFrom(lock.as('held')))
    .with('waiting', (parts) =>
      parts
        .selectFrom('changeInbox as i')
        .select(['i.id', 'i.changeId', 'i.sortOrder'])
        // The largest identity so far among the changes of the issue.
        .select(
          sql<number>`max(i.id) over (partition by coalesce(i.issue_id, i.change_id) order by i.sort_order)`.as(
            'turn',
          ),
        )
        .where((eb) => eb.exists(eb.selectFrom('lock').select('held').where('held', '=', true))),
    )
    .with('placed', (parts) =>
      parts
        .selectFrom('waiting')
        .select(['waiting.id'])
        .select(sql<number>`row_number() over (order by turn, sort_order, id)`.as('place'))
        .orderBy('place')
        .limit(changesPerRun),
    )
    .with('taken', (parts) =>
      parts
        .deleteFrom('changeInbox')
        .using('placed')
        .whereRef('changeInbox.id', '=', 'placed.id')
        .returningAll('changeInbox')
        .returning('placed.place'),
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
            .select(['counted.count', typed<number>('tag', 'bigint').as('tag')])
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
            .selectFrom('taken')
            .innerJoin('head', (join) => join.onTrue())
            .innerJoin('counted', (join) => join.onTrue())
            .select([sql<number>`head.position - counted.count + ${nthTaken}`.as('position'), 'head.tag'])
            .select([
              'taken.changeId as id',
              ...loggedColumns.slice(1).map((column) => `taken.${column}` as const),
            ]),
        ),
    )
    .selectFrom('counted')
    .innerJoin('lock', (join) => join.onTrue())
    .leftJoin('head', (join) => join.onTrue())
    .select(['lock.held', 'counted.count', 'head.position', 'counted.lagSeconds']);
}
