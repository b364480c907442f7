import { type Kysely, sql } from 'kysely';
import { webhookDeliveryState, webhookState } from '../model/codes.ts';
import { anyUuid } from './query/any-uuid.ts';
import type { Row, Tables } from './tables/tables.ts';
import type { NewRow, TenantDb } from './tables/tenant-tables.ts';
import type { Trx } from './engine/transaction.ts';

export type WebhookRow = Row<'webhook'>;

/** The columns of a webhook that its members and the service change. */
export type WebhookChange = Partial<
  Pick<
    WebhookRow,
    | 'url'
    | 'description'
    | 'eventTypes'
    | 'teamId'
    | 'hasImports'
    | 'state'
    | 'disabledReason'
    | 'secret'
    | 'previousSecret'
    | 'previousUntilUtc'
    | 'userAccountId'
    | 'scopes'
    | 'failures'
    | 'firstFailureUtc'
    | 'lastSuccessUtc'
    | 'nextAttemptUtc'
    | 'updatedUtc'
    | 'deletedUtc'
    | 'revision'
  >
>;

/** The columns that make a webhook active, whatever its state was. */
export const activeColumns = {
  state: webhookState.active,
  disabledReason: null,
  failures: 0,
  firstFailureUtc: null,
  nextAttemptUtc: null,
} as const satisfies WebhookChange;

export async function selectWebhook(db: TenantDb, id: string): Promise<WebhookRow | undefined> {
  return db
    .selectFrom('webhook')
    .selectAll()
    .where('id', '=', id)
    .where('deletedUtc', 'is', null)
    .executeTakeFirst();
}

/** Locks a webhook, unless it is deleted, until the transaction ends. */
export async function lockWebhook(trx: Trx, id: string): Promise<WebhookRow | undefined> {
  return trx
    .selectFrom('webhook')
    .selectAll()
    .where('id', '=', id)
    .where('deletedUtc', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst();
}

/** The number of webhooks of the workspace, whose row is locked so that no other transaction adds one meanwhile. */
export async function countWebhooks(trx: Trx): Promise<number> {
  await trx.selectFrom('workspace').select('id').forNoKeyUpdate().execute();
  const { count } = await trx
    .selectFrom('webhook')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('deletedUtc', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

/** The number of webhooks of all workspaces. */
export async function countAllWebhooks(unscoped: Kysely<Tables>): Promise<number> {
  const { count } = await unscoped
    .selectFrom('webhook')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('deletedUtc', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

export async function insertWebhook(trx: Trx, webhook: NewRow<'webhook'>): Promise<WebhookRow> {
  return trx.insertInto('webhook').values(webhook).returningAll().executeTakeFirstOrThrow();
}

/** Changes a webhook that the transaction has locked. */
export async function updateWebhookRow(trx: Trx, id: string, change: WebhookChange): Promise<WebhookRow> {
  return trx.updateTable('webhook').set(change).where('id', '=', id).returningAll().executeTakeFirstOrThrow();
}

/** Makes the waiting deliveries of a webhook due at once. */
export async function makeDeliveriesDue(db: TenantDb, webhookId: string, now: Date): Promise<void> {
  await db
    .updateTable('webhookDelivery')
    .set({ nextAttemptUtc: now })
    .where('webhookId', '=', webhookId)
    .where('state', '=', webhookDeliveryState.waiting)
    .where('nextAttemptUtc', '>', now)
    .execute();
}

/** Ends the waiting deliveries of a webhook with these event types, which its scopes no longer cover. */
export async function failDeliveries(
  trx: Trx,
  webhookId: string,
  types: readonly string[],
  now: Date,
): Promise<void> {
  if (types.length === 0) return;
  await trx
    .updateTable('webhookDelivery')
    .set({ state: webhookDeliveryState.failed, nextAttemptUtc: null, finishedUtc: now })
    .where('webhookId', '=', webhookId)
    .where('state', '=', webhookDeliveryState.waiting)
    .where('eventType', 'in', types)
    .execute();
}

/** Which deliveries to repeat: those that match all fields that are not null. `ids` or `webhookId` must be set. */
export interface RedeliveryRequest {
  ids: readonly string[] | null;
  webhookId: string | null;
  onlyFailed: boolean;
  since: Date | null;
}

/**
 * Makes the oldest of the wanted deliveries due again, up to the limit. Those of deleted webhooks are left out. Returns
 * how many there are of each webhook.
 */
export async function repeatDeliveries(
  trx: Trx,
  { ids, webhookId, onlyFailed, since }: RedeliveryRequest,
  now: Date,
  limit: number,
): Promise<{ webhook: Pick<WebhookRow, 'id' | 'url' | 'scopes'>; count: number }[]> {
  const repeated = await trx
    .updateTable('webhookDelivery')
    .set({ state: webhookDeliveryState.waiting, nextAttemptUtc: now, finishedUtc: null })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('webhookDelivery as d')
        .innerJoin('webhook as w', 'w.id', 'd.webhookId')
        .select('d.id')
        .where('w.deletedUtc', 'is', null)
        .where((where) =>
          where.and([
            ...(ids ? [where('d.id', '=', anyUuid(ids))] : []),
            ...(webhookId === null ? [] : [where('d.webhookId', '=', webhookId)]),
            ...(onlyFailed ? [where('d.state', '=', webhookDeliveryState.failed)] : []),
            ...(since ? [where('d.createdUtc', '>=', since)] : []),
          ]),
        )
        .orderBy('d.position')
        .limit(limit),
    )
    .returning('webhookId')
    .execute();
  const counts = Map.groupBy(repeated, ({ webhookId }) => webhookId);
  const webhooks = await trx
    .selectFrom('webhook')
    .select(['id', 'url', 'scopes'])
    .where('id', '=', anyUuid(counts.keys()))
    .execute();
  return webhooks.map((webhook) => ({ webhook, count: counts.get(webhook.id)?.length ?? 0 }));
}

/** The workspaces with deliveries that were finished before the time, or with deleted webhooks. */
export async function selectOldDeliveries(unscoped: Kysely<Tables>, before: Date): Promise<string[]> {
  const rows = await unscoped
    .selectFrom('webhook as w')
    .select('w.workspaceId')
    .distinct()
    .where((eb) =>
      eb.or([
        eb('w.deletedUtc', 'is not', null),
        eb.exists(
          eb
            .selectFrom('webhookDelivery as d')
            .select('d.id')
            .whereRef('d.workspaceId', '=', 'w.workspaceId')
            .whereRef('d.webhookId', '=', 'w.id')
            .where('d.createdUtc', '<', before)
            .where('d.finishedUtc', '<', before),
        ),
      ]),
    )
    .execute();
  return rows.map(({ workspaceId }) => workspaceId);
}

/**
 * Removes deliveries that were finished before a time or whose webhook is deleted, at most `limit`, and then the deleted
 * webhooks without deliveries. Returns the number of rows.
 */
export async function removeOldDeliveries(db: TenantDb, before: Date, limit: number): Promise<number> {
  const { numDeletedRows: deliveries } = await db
    .deleteFrom('webhookDelivery')
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('webhookDelivery as d')
        .innerJoin('webhook as w', 'w.id', 'd.webhookId')
        .select('d.id')
        .where((or) =>
          or.or([
            or('w.deletedUtc', 'is not', null),
            or.and([or('d.createdUtc', '<', before), or('d.finishedUtc', '<', before)]),
          ]),
        )
        .limit(limit),
    )
    .executeTakeFirstOrThrow();
  const { numDeletedRows: webhooks } = await db
    .deleteFrom('webhook')
    .where('deletedUtc', 'is not', null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('webhookDelivery as d')
            .select(sql.lit(1).as('one'))
            .whereRef('d.webhookId', '=', 'webhook.id'),
        ),
      ),
    )
    .executeTakeFirstOrThrow();
  return Number(deliveries) + Number(webhooks);
}
