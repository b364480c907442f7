import { type Compilable, type Kysely, sql } from 'kysely';
import { webhookDeliveryState, webhookState } from '../model/codes.ts';
import { limits } from '../model/limits.ts';
import type { Database } from './engine/engine.ts';
import { PreparedSelect } from './query/prepared-select.ts';
import { typedSlot } from './statements/slots.ts';
import type { Row, Tables } from './tables/tables.ts';
import type { NewRow, TenantDb } from './tables/tenant-tables.ts';
import type { WebhookAttempt } from './tables/webhook-tables.ts';
import type { Trx } from './engine/transaction.ts';
import type { LogPoint } from './reads/change-pages.ts';
import type { WebhookChange, WebhookRow } from './webhooks.ts';

/** How many deliveries of a webhook may wait. Further changes stay in the log until some are finished. */
export const maxWaiting = 500;
/**
 * How many changes become deliveries at once. None are read while fewer deliveries may be added, so that rounds do not
 * read a few each.
 */
export const changesAtOnce = 100;

/** A webhook with work: deliveries that are due, or changes in the log that are not deliveries yet. */
export interface DueWebhook {
  readonly workspaceId: string;
  readonly id: string;
}

/**
 * The webhooks of all workspaces that have work and that no process has claimed: first one of each workspace, then a second one of
 * each, and so on, beginning with those that were served longest ago.
 */
export async function selectDueWebhooks(
  { connect, unscoped }: Pick<Database, 'connect' | 'unscoped'>,
  now: Date,
  limit: number,
): Promise<DueWebhook[]> {
  dueWebhooks ??= new PreparedSelect(dueWebhooksOf(unscoped), ['workspaceId', 'id']);
  return dueWebhooks.run(connect, { now, limit });
}

/** The statement is prepared because every write causes a search for due webhooks. */
let dueWebhooks: PreparedSelect<DueWebhook> | undefined;

function dueWebhooksOf(unscoped: Kysely<Tables>): Compilable<DueWebhook> {
  const now = typedSlot<Date>('now', 'timestamptz');
  const due = sql<DueWebhook>`
    select due."workspaceId", due.id from (
      select w.workspace_id as "workspaceId", w.id, w.claimed_until_utc as served,
        row_number() over (partition by w.workspace_id order by w.claimed_until_utc nulls first) as ordinal
      from webhook w left join change_head h on h.workspace_id = w.workspace_id
    where w.deleted_utc is null and (w.claimed_until_utc is null or w.claimed_until_utc < ${now})
      and case w.state
        when ${sql.lit(webhookState.active)} then
          exists (
            select from webhook_delivery d where d.workspace_id = w.workspace_id and d.webhook_id = w.id
              and d.state = ${sql.lit(webhookDeliveryState.waiting)} and d.next_attempt_utc <= ${now}
          ) or h.position > w.position and (
            select count(*) from webhook_delivery d where d.workspace_id = w.workspace_id and d.webhook_id = w.id
              and d.state = ${sql.lit(webhookDeliveryState.waiting)}
          ) <= ${sql.lit(maxWaiting - changesAtOnce)}
        when ${sql.lit(webhookState.backing_off)} then w.next_attempt_utc <= ${now}
        else false end
    ) due
    order by due.ordinal, due.served nulls first
    limit ${typedSlot('limit', 'int')}`;
  return { compile: () => due.compile(unscoped) };
}

/**
 * Claims a webhook for a process until a time, or extends its claim; undefined if another process has claimed it or it
 * is not active.
 */
export async function claimWebhook(
  db: TenantDb,
  id: string,
  claimId: string,
  { now, until }: { now: Date; until: Date },
): Promise<WebhookRow | undefined> {
  return db
    .updateTable('webhook')
    .set({ claimId, claimedUntilUtc: until })
    .where('id', '=', (eb) =>
      eb
        .selectFrom('webhook as w')
        .select('w.id')
        .where('w.id', '=', id)
        .where('w.deletedUtc', 'is', null)
        .where('w.state', '!=', webhookState.disabled)
        .where((or) =>
          or.or([
            or('w.claimedUntilUtc', 'is', null),
            or('w.claimedUntilUtc', '<', now),
            or('w.claimId', '=', claimId),
          ]),
        )
        .forNoKeyUpdate()
        .skipLocked(),
    )
    .returningAll()
    .executeTakeFirst();
}

/** Ends a claim, as if it had expired at a time. Webhooks that were served longer ago come first. */
export async function releaseWebhook(db: TenantDb, id: string, claimId: string, at: Date): Promise<void> {
  await db
    .updateTable('webhook')
    .set({ claimId: null, claimedUntilUtc: at })
    .where('id', '=', id)
    .where('claimId', '=', claimId)
    .execute();
}

/** Keeps a claim until a time, before which no process serves the webhook. */
export async function extendClaim(db: TenantDb, id: string, claimId: string, until: Date): Promise<void> {
  await db
    .updateTable('webhook')
    .set({ claimedUntilUtc: until })
    .where('id', '=', id)
    .where('claimId', '=', claimId)
    .execute();
}

/** Whether a process still has its claim on a webhook, which has not been changed or deleted since. */
export async function isStillClaimed(
  db: TenantDb,
  { id, revision }: WebhookRow,
  claimId: string,
): Promise<boolean> {
  const found = await db
    .selectFrom('webhook')
    .select('id')
    .where('id', '=', id)
    .where('claimId', '=', claimId)
    .where('revision', '=', revision)
    .where('deletedUtc', 'is', null)
    .executeTakeFirst();
  return found !== undefined;
}

/**
 * Locks a webhook that the process has claimed; undefined if it has lost the claim, so that it must not write anything.
 */
export async function lockClaimed(trx: Trx, id: string, claimId: string): Promise<WebhookRow | undefined> {
  return trx
    .selectFrom('webhook')
    .selectAll()
    .where('id', '=', id)
    .where('claimId', '=', claimId)
    .where('deletedUtc', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** How many more deliveries of a webhook may wait. */
export async function countFreeDeliveries(db: TenantDb, webhookId: string): Promise<number> {
  const { count } = await db
    .selectFrom('webhookDelivery')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('webhookId', '=', webhookId)
    .where('state', '=', webhookDeliveryState.waiting)
    .executeTakeFirstOrThrow();
  return maxWaiting - count;
}

/** Adds deliveries, and stores the point in the log up to which changes have become deliveries. */
export async function insertDeliveries(
  trx: Trx,
  webhookId: string,
  deliveries: readonly NewRow<'webhookDelivery'>[],
  { position, tag }: LogPoint,
): Promise<void> {
  if (deliveries.length > 0) await trx.insertInto('webhookDelivery').values(deliveries).execute();
  await trx.updateTable('webhook').set({ position, tag }).where('id', '=', webhookId).execute();
}

export type DueDelivery = Pick<
  Row<'webhookDelivery'>,
  'id' | 'changeId' | 'body' | 'createdUtc' | 'attemptCount'
>;

/**
 * The next deliveries of a webhook: the oldest waiting one of each issue, if it is due. `isProbe` selects those that
 * are due first, even if they are not due yet. `except` are those that are being sent; later deliveries of their issues
 * wait for them.
 */
export async function selectNextDeliveries(
  db: TenantDb,
  webhookId: string,
  { now, isProbe, limit, except }: { now: Date; isProbe: boolean; limit: number; except: readonly string[] },
): Promise<DueDelivery[]> {
  return db
    .with('heads', (parts) =>
      parts
        .selectFrom('webhookDelivery as d')
        .distinctOn(sql`coalesce(d.issue_id, d.id)`)
        .select(['d.id', 'd.position', 'd.nextAttemptUtc'])
        .where('d.webhookId', '=', webhookId)
        .where('d.state', '=', webhookDeliveryState.waiting)
        .orderBy(sql`coalesce(d.issue_id, d.id)`)
        .orderBy('d.position'),
    )
    .with('next', (parts) =>
      parts
        .selectFrom('heads')
        .select(['heads.id'])
        .$if(except.length > 0, (query) => query.where('heads.id', 'not in', except))
        .$if(!isProbe, (query) => query.where('heads.nextAttemptUtc', '<=', now).orderBy('heads.position'))
        .$if(isProbe, (query) => query.orderBy('heads.nextAttemptUtc').orderBy('heads.position'))
        .limit(limit),
    )
    .selectFrom('webhookDelivery as w')
    .innerJoin('next', 'next.id', 'w.id')
    .select(['w.id', 'w.changeId', 'w.body', 'w.createdUtc', 'w.attemptCount'])
    .orderBy('w.position')
    .execute();
}

/** The outcome of an attempt: the new state of the delivery, when it is due again, and the attempt. */
export interface DeliveryOutcome {
  readonly id: string;
  readonly state: number;
  readonly nextAttemptUtc: Date | null;
  readonly attempt: WebhookAttempt;
}

/**
 * Writes the outcomes of deliveries, and the change of their webhook, which the transaction has locked. A delivery that
 * was ended during its attempt, because the webhook may no longer send it, stays ended.
 */
export async function writeOutcomes(
  trx: Trx,
  webhookId: string,
  outcomes: readonly DeliveryOutcome[],
  change: WebhookChange & { claimedUntilUtc: Date },
  now: Date,
): Promise<void> {
  await trx
    .updateTable('webhookDelivery as d')
    .from(
      sql<DeliveryOutcome>`json_to_recordset(${JSON.stringify(outcomes)}::json)`.as<'outcome'>(
        sql`outcome(id uuid, state smallint, "nextAttemptUtc" timestamptz, attempt jsonb)`,
      ),
    )
    .set({
      state: sql<number>`case when ${isOpen} then outcome.state else d.state end`,
      nextAttemptUtc: sql<Date | null>`case when ${isOpen} then outcome."nextAttemptUtc" end`,
      // Another process may have stored an attempt of its own meanwhile, if this one had lost its claim and got it back.
      attempts: sql<string>`case when jsonb_array_length(d.attempts) < ${sql.lit(limits.webhookAttempts)} then d.attempts
        else d.attempts - 0 end || outcome.attempt`,
      attemptCount: sql<number>`d.attempt_count + 1`,
      finishedUtc: sql<Date | null>`case when not ${isOpen} then d.finished_utc
        when outcome.state <> ${webhookDeliveryState.waiting} then ${now}::timestamptz end`,
    })
    .whereRef('d.id', '=', 'outcome.id')
    .execute();
  await trx.updateTable('webhook').set(change).where('id', '=', webhookId).execute();
}

/**
 * Whether the outcome sets the state of the delivery: always if the message has arrived, and otherwise only if it still
 * waits.
 */
const isOpen = sql`(d.state = ${sql.lit(webhookDeliveryState.waiting)} or outcome.state = ${sql.lit(webhookDeliveryState.delivered)})`;

/** The member with whose permissions a webhook reads. */
export type WebhookMember = Pick<
  Row<'member'>,
  'id' | 'userAccountId' | 'displayName' | 'role' | 'status' | 'principalKind'
>;

export async function selectWebhookMember(
  db: TenantDb,
  userAccountId: string,
): Promise<WebhookMember | undefined> {
  return db
    .selectFrom('member')
    .select(['id', 'userAccountId', 'displayName', 'role', 'status', 'principalKind'])
    .where('userAccountId', '=', userAccountId)
    .executeTakeFirst();
}
