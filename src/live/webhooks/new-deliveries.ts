import type { GraphQLSchema } from 'graphql';
import { selectLogHead } from '../../db/reads/change-pages.ts';
import { changesAtOnce, insertDeliveries, lockClaimed, countFreeDeliveries } from '../../db/webhook-work.ts';
import type { WebhookRow } from '../../db/webhooks.ts';
import { inTransaction } from '../../db/engine/transaction.ts';
import type { NewRow, TenantDb } from '../../db/tables/tenant-tables.ts';
import { executeOperation, type OperationContext } from '../../executor/run/execute.ts';
import { changeCursor, parseCursor } from '../../resolvers/changes/changes.ts';
import { decodeId, encodeId, newUuid } from '../../resolvers/ids.ts';
import { WebhookChangesDocument, type WebhookChangesQuery } from '../../rest-compat/operations.generated.ts';
import { lostMessage, lostType, webhookMessage } from '../../rest-compat/webhook-messages.ts';

type Page = WebhookChangesQuery['changes'];

/** Runs a read with the rights of the webhook, with limits of its own for time and bytes. */
type ReadAsWebhook = <Result>(work: (context: OperationContext) => Promise<Result>) => Promise<Result>;

/**
 * Creates deliveries for the next changes in the log that a webhook subscribes to. Returns whether the log has more changes;
 * undefined if the webhook is no longer as it was when it was claimed, so that nothing was created.
 */
export async function createDeliveries(
  schema: GraphQLSchema,
  db: TenantDb,
  webhook: WebhookRow,
  read: ReadAsWebhook,
  claimId: string,
): Promise<boolean | undefined> {
  if ((await countFreeDeliveries(db, webhook.id)) < changesAtOnce) return false;
  const page = await readChanges(schema, webhook, read);
  const now = new Date();
  if (page === 'expired') return skipToEnd(db, webhook, claimId, now);
  // A log that was started over begins with this event. By then the webhook has been sent its own message of this type.
  const nodes = page.nodes.filter(({ eventType }) => eventType !== lostType);
  // Deliveries of the same time are listed in the order of their ids.
  const ids = nodes.map(() => newUuid(now.getTime())).sort();
  const deliveries = nodes.map((node, index) => {
    const { changeId, issueId, ...message } = webhookMessage(node);
    const about = { changeId: uuidOf('change', changeId), issueId: issueId && uuidOf('issue', issueId) };
    return { ...deliveryOf(webhook, now, { ...message, ...about }), ...(ids[index] && { id: ids[index] }) };
  });
  const point = parseCursor(page.cursor);
  if (!point || (point.position === webhook.position && point.tag === webhook.tag)) return false;
  return inTransaction(db, async (trx) => {
    const claimed = await lockClaimed(trx, webhook.id, claimId);
    const { position, tag, revision } = webhook;
    // With another revision, it may have lost the scope for some of these changes.
    if (claimed?.revision !== revision || claimed.position !== position || claimed.tag !== tag)
      return undefined;
    await insertDeliveries(trx, webhook.id, deliveries, point);
    return page.hasMore;
  });
}

/** Reads the next changes: as many as fit into one answer with their texts, at least one. */
async function readChanges(
  schema: GraphQLSchema,
  { position, tag, eventTypes, teamId, hasImports }: WebhookRow,
  read: ReadAsWebhook,
): Promise<Page | 'expired'> {
  const filter = {
    ...(eventTypes.length > 0 && { eventType: { in: eventTypes } }),
    ...(teamId && { teamId: { eq: encodeId('team', teamId) } }),
    ...(!hasImports && { origin: { nin: ['IMPORT'] } }),
  };
  for (let first = changesAtOnce; ; first = Math.ceil(first / 2)) {
    const { data, errors } = await read((context) =>
      executeOperation({
        schema,
        document: WebhookChangesDocument,
        operationName: 'WebhookChanges',
        variables: { after: changeCursor({ position, tag }), first, filter },
        context,
      }),
    );
    const [error] = errors ?? [];
    if (!error && data) return (data as unknown as WebhookChangesQuery).changes;
    const code = error?.extensions?.code;
    if (code === 'CURSOR_EXPIRED') return 'expired';
    if (code !== 'QUERY_TOO_COMPLEX' || first === 1)
      throw new Error(`The changes for a webhook could not be read: ${error?.message}`);
  }
}

/** Continues at the end of the log, with a message to the receiver that it has missed the changes before. */
async function skipToEnd(
  db: TenantDb,
  { id, position, tag }: WebhookRow,
  claimId: string,
  now: Date,
): Promise<boolean> {
  return inTransaction(db, async (trx) => {
    const webhook = await lockClaimed(trx, id, claimId);
    if (!webhook) return false;
    const head = await selectLogHead(trx);
    const body = lostMessage(now, changeCursor({ position, tag }), changeCursor(head));
    const lost = {
      eventType: lostType,
      position: head.position,
      changeId: null,
      issueId: null,
      body,
    };
    await insertDeliveries(trx, id, [deliveryOf(webhook, now, lost)], head);
    return false;
  });
}

function deliveryOf(
  { id: webhookId }: WebhookRow,
  now: Date,
  message: Pick<NewRow<'webhookDelivery'>, 'changeId' | 'issueId' | 'eventType' | 'position' | 'body'>,
): NewRow<'webhookDelivery'> {
  return { ...message, id: newUuid(now.getTime()), webhookId, createdUtc: now, nextAttemptUtc: now };
}

function uuidOf(prefix: 'change' | 'issue', id: string): string {
  const decoded = decodeId(prefix, id);
  if ('problem' in decoded) throw new Error(`${prefix}: ${decoded.problem}`);
  return decoded.uuid;
}
