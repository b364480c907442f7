import {
  activeColumns,
  failDeliveries,
  makeDeliveriesDue,
  lockWebhook,
  type RedeliveryRequest,
  repeatDeliveries,
  selectWebhook,
  updateWebhookRow,
  type WebhookRow,
} from '../../db/webhooks.ts';
import { inTransaction } from '../../db/engine/transaction.ts';
import { webhookDeliveryState, webhookState } from '../../model/codes.ts';
import { events, type EventType, pingType } from '../../model/events.ts';
import { limits } from '../../model/limits.ts';
import { actorOf, recordAuditEntries } from '../access/audit.ts';
import type { Context, SignedIn } from '../context.ts';
import { raise, Violations } from '../errors.ts';
import { encodeId, newUuid } from '../ids.ts';
import { raiseNotFound } from '../not-found.ts';
import { uuidOf, uuidsOf } from '../writes/write-rules.ts';
import { write } from '../writes/write-transaction.ts';
import { isReceived, type ReceiverResponse } from './sending.ts';
import { uncoveredTypes, requireWebhookManager, webhookSubject, webhookUuid } from './webhooks.ts';

/** How long a ping waits for the answer: less than a request may take. */
const pingTimeoutMs = 5_000;

/**
 * The workspaces with a ping in progress. One at a time, so that receivers that do not answer cannot hold up many
 * requests.
 */
const workspacesWithPing = new Set<string>();

export interface PingedWebhook extends ReceiverResponse {
  webhook: WebhookRow;
  isReceived: boolean;
}

/**
 * Sends a message of the type `webhook.ping.v1` at once. If it arrives, a webhook that was backing off, or that the
 * service has disabled, is active again. Throws `conflict` during another ping of the workspace.
 */
export async function pingWebhook(ctx: Context, { id }: { id: string }): Promise<PingedWebhook> {
  const context = requireWebhookManager(ctx);
  const { db, principal, now, webhooks } = context;
  const uuid = webhookUuid(id);
  const webhook = (await selectWebhook(db, uuid)) ?? raiseNotFound('webhook');
  const { workspaceId } = principal;
  if (workspacesWithPing.has(workspaceId)) raise('conflict', 'Another ping of the workspace is in progress.');
  workspacesWithPing.add(workspaceId);
  try {
    const message = {
      id: encodeId('whdelivery', newUuid(now.getTime())),
      body: JSON.stringify({
        type: pingType,
        timestamp: now.toISOString(),
        data: { webhookId: encodeId('webhook', uuid) },
      }),
    };
    const answer = await webhooks.send(webhook, message, pingTimeoutMs);
    const arrived = isReceived(answer);
    const after = await recordPing(context, webhook, answer);
    return { ...answer, webhook: after ?? webhook, isReceived: arrived };
  } finally {
    workspacesWithPing.delete(workspaceId);
  }
}

async function recordPing(
  context: SignedIn,
  webhook: WebhookRow,
  answer: ReceiverResponse,
): Promise<WebhookRow | undefined> {
  const { db, now, webhooks } = context;
  const { id } = webhook;
  const after = await inTransaction(db, async (trx) => {
    const action = {
      act: 'webhook.pinged',
      subject: webhookSubject(webhook),
      changes: { status: { after: answer.status } },
    } as const;
    await recordAuditEntries(trx, actorOf(context), [action], now);
    const row = await lockWebhook(trx, id);
    if (!row || !isReceived(answer)) return row;
    const isPaused = row.state === webhookState.backing_off || row.disabledReason !== null;
    if (isPaused) await makeDeliveriesDue(trx, id, now);
    return updateWebhookRow(trx, id, { lastSuccessUtc: now, ...(isPaused && activeColumns) });
  });
  webhooks?.wake();
  return after;
}

export interface RedeliverInput {
  ids?: readonly string[] | null | undefined;
  webhookId?: string | null | undefined;
  state?: number | null | undefined;
  sinceUtc?: Date | null | undefined;
}

/** Sends deliveries again, with the same ids. */
export async function redeliverWebhookDeliveries(
  ctx: Context,
  input: RedeliverInput,
): Promise<{ count: number }> {
  const context = requireWebhookManager(ctx);
  const violations = new Violations();
  const request = parseRedelivery(violations, input);
  violations.throwIfAny();
  const { ids, webhookId } = request;
  const count = await write(context, undefined, async (trx) => {
    if (!ids && webhookId !== null && !(await selectWebhook(trx, webhookId))) raiseNotFound('webhook');
    const repeated = await repeatDeliveries(trx, request, context.now, limits.redeliveries);
    for (const { webhook } of repeated)
      await failDeliveries(trx, webhook.id, uncoveredTypes(webhook.scopes), context.now);
    const acts = repeated.map(({ webhook, count }) => ({
      act: 'webhook.redelivered' as const,
      subject: webhookSubject(webhook),
      changes: { deliveries: { after: count } },
    }));
    if (acts.length > 0) await recordAuditEntries(trx, actorOf(context), acts, context.now);
    return repeated.reduce((sum, { count }) => sum + count, 0);
  });
  if (count === 0 && ids) raise('not_found', 'There are no such webhook deliveries.');
  context.webhooks.wake();
  return { count };
}

function parseRedelivery(
  violations: Violations,
  { ids, webhookId, state, sinceUtc }: RedeliverInput,
): RedeliveryRequest {
  violations.addUnless(ids != null || webhookId != null, 'ids', 'is required, unless webhookId is set');
  violations.addUnless(ids == null || ids.length > 0, 'ids', 'must name at least one delivery');
  violations.addUnless(
    state == null || state === webhookDeliveryState.failed,
    'state',
    'can only be FAILED, which is also the default of a webhook',
  );
  return {
    ids: ids == null ? null : uuidsOf(violations, 'ids', 'whdelivery', ids, limits.redeliveries),
    webhookId: webhookId == null ? null : (uuidOf(violations, 'webhookId', 'webhook', webhookId) ?? null),
    onlyFailed: ids == null || state != null,
    since: sinceUtc ?? null,
  };
}

/** The body that was sent; null if the token may not read such events. */
export function bodyFor({ principal }: SignedIn, row: { eventType: string; body: string }): string | null {
  const needed = events[row.eventType as EventType]?.scope ?? 'issues:read';
  return needed === 'token' || principal.scopes.has(needed) ? row.body : null;
}
