import type { TenantDb } from '../../src/db/tables/tenant-tables.ts';
import { webhookDeliveryState, webhookState } from '../../src/model/codes.ts';
import { newUuid } from '../../src/resolvers/ids.ts';

/** Stores a webhook that sends nothing, with one message that was sent before. */
export async function storeWebhook(
  db: TenantDb,
  userAccountId: string,
  { webhookId = newUuid(), deliveryId = newUuid(), createdUtc = new Date() } = {},
): Promise<{ webhookId: string; deliveryId: string }> {
  const team = await db.selectFrom('team').select('id').limit(1).executeTakeFirst();
  await db
    .insertInto('webhook')
    .values({
      id: webhookId,
      url: 'https://example.com/',
      teamId: team?.id ?? null,
      state: webhookState.disabled,
      secret: Buffer.alloc(0),
      userAccountId,
      scopes: ['issues:read'],
      position: 0,
      tag: 0,
      createdUtc,
      updatedUtc: createdUtc,
    })
    .execute();
  const sent = { body: '{}', state: webhookDeliveryState.delivered, createdUtc, finishedUtc: createdUtc };
  await db
    .insertInto('webhookDelivery')
    .values({ ...sent, id: deliveryId, webhookId, position: 1, eventType: 'issue.created.v1' })
    .execute();
  return { webhookId, deliveryId };
}
