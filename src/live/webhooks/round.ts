import type { GraphQLSchema } from 'graphql';
import {
  claimWebhook,
  type DueDelivery,
  type DueWebhook,
  hasRevision,
  lockClaimed,
  selectNextDeliveries,
  selectWebhookMember,
  type WebhookMember,
  writeOutcomes,
} from '../../db/webhook-work.ts';
import { activated, makeDeliveriesDue, updateWebhook, type WebhookRow } from '../../db/webhooks.ts';
import type { Database } from '../../db/engine/engine.ts';
import { inTransaction, type Trx } from '../../db/engine/transaction.ts';
import type { TenantDb } from '../../db/tables/tenant-tables.ts';
import { logChanges } from '../../db/writes/change-log.ts';
import type { OperationContext } from '../../executor/run/execute.ts';
import { changeOrigin, memberRole, webhookState } from '../../model/codes.ts';
import type { EventType } from '../../model/events.ts';
import { mayUseTokens } from '../../resolvers/access/access-tokens.ts';
import { recordAuditEntries, systemActor } from '../../resolvers/access/audit.ts';
import type { Principal, Scope } from '../../resolvers/context.ts';
import { encodeId, newUuid } from '../../resolvers/ids.ts';
import { isReceived, type WebhookSending } from '../../resolvers/webhooks/sending.ts';
import { webhookSubject } from '../../resolvers/webhooks/webhooks.ts';
import { createDeliveries } from './new-deliveries.ts';
import { isOverloaded, outcomeOf, type Sent } from './outcomes.ts';

/** How long an attempt may take, and how long a process claims a webhook: longer than an attempt and what follows it. */
export const attemptMs = 15_000;
const claimMs = 40_000;
/** How many messages are sent to one webhook at once. */
const maxAtOnce = 4;
/** A round sends at most so many messages, and starts none after this time, because it must end before the claim expires. */
const maxPerRound = 50;
const startsWithinMs = 10_000;
/** How long messages may still be sent as before after a webhook was changed, disabled or deleted. */
const changedWithinMs = 1_000;

export interface RoundParts {
  readonly database: Database;
  readonly schema: GraphQLSchema;
  readonly sending: Pick<WebhookSending, 'send'>;
  /** Runs a read with the rights of a webhook. */
  readonly reading: <Result>(
    principal: Principal,
    work: (context: OperationContext) => Promise<Result>,
  ) => Promise<Result>;
  /** Counts an attempt. */
  readonly onAttempt: (isReceived: boolean) => void;
}

/** How many messages are sent to a webhook at once. Rounds change it and pass it on. */
export interface Pace {
  atOnce: number;
}

export const fullPace = (): Pace => ({ atOnce: maxAtOnce });

/**
 * Serves a webhook once: creates deliveries for new changes, sends those that are due, and stores the results. It claims the webhook,
 * so that no other process sends to it meanwhile. Returns whether another round may have work at once.
 */
export async function serveOnce(
  parts: RoundParts,
  { workspaceId, id }: DueWebhook,
  claimId: string,
  pace: Pace,
): Promise<boolean> {
  const db = parts.database.of(workspaceId);
  const now = new Date();
  const webhook = await claimWebhook(db, id, claimId, { now, until: later(now, claimMs) });
  if (!webhook) return false;
  const principal = principalOf(webhook, await selectWebhookMember(db, webhook.userAccountId));
  if (!principal) {
    await inTransaction(db, async (trx) => {
      const claimed = await lockClaimed(trx, id, claimId);
      if (claimed)
        await disable(trx, claimed, 'The member who changed it last may no longer read the events.', now);
    });
    return false;
  }
  const isUnchanged = checkedNowAndThen(() => hasRevision(db, webhook));
  const isProbe = webhook.state === webhookState.backing_off;
  const hasMore =
    !isProbe &&
    (await createDeliveries(parts.schema, db, webhook, (work) => parts.reading(principal, work), claimId));
  if (hasMore === undefined) return true;
  const due = await selectNextDeliveries(db, id, { now, isProbe, limit: isProbe ? 1 : maxPerRound });
  if (due.length === 0) {
    if (isProbe) await resume(db, webhook, claimId, now);
    return hasMore;
  }
  const sent = await sendAll(parts, webhook, due, { atOnce: pace.atOnce, isUnchanged });
  for (const { answer } of sent) parts.onAttempt(isReceived(answer));
  pace.atOnce = sent.some(({ answer }) => isOverloaded(answer))
    ? Math.max(Math.floor(pace.atOnce / 2), 1)
    : Math.min(pace.atOnce + 1, maxAtOnce);
  return inTransaction(db, (trx) => storeOutcomes(trx, webhook, claimId, sent));
}

/** Returns a check that looks again if its last look is too old. */
function checkedNowAndThen(look: () => Promise<boolean>): () => Promise<boolean> {
  let checkedMs = performance.now();
  let last = Promise.resolve(true);
  return () => {
    if (performance.now() - checkedMs >= changedWithinMs) {
      checkedMs = performance.now();
      // If that cannot be found out, no more is sent, but the results of what was sent are stored.
      last = look().catch(() => false);
    }
    return last;
  };
}

/**
 * Sends messages, several at a time. After a failure, when the time is up or when the webhook was changed, it starts no more; a
 * later round sends the rest.
 */
async function sendAll(
  parts: RoundParts,
  webhook: WebhookRow,
  due: readonly DueDelivery[],
  { atOnce, isUnchanged }: { atOnce: number; isUnchanged: () => Promise<boolean> },
): Promise<Sent[]> {
  const untilMs = performance.now() + startsWithinMs;
  const waiting = [...due];
  const sent: Sent[] = [];
  let hasFailure = false;
  const work = async () => {
    while ((await isUnchanged()) && !hasFailure && performance.now() < untilMs) {
      const delivery = waiting.shift();
      if (!delivery) return;
      const result = await attempt(parts, webhook, delivery);
      sent.push(result);
      // So a receiver that fails gets only a few messages in a round.
      hasFailure ||= !isReceived(result.answer);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  const order = new Map(due.map(({ id }, index) => [id, index]));
  return sent.toSorted((a, b) => (order.get(a.delivery.id) ?? 0) - (order.get(b.delivery.id) ?? 0));
}

async function attempt({ sending }: RoundParts, webhook: WebhookRow, delivery: DueDelivery): Promise<Sent> {
  const at = new Date();
  const { changeId, body } = delivery;
  const id = changeId ? encodeId('change', changeId) : encodeId('whdelivery', delivery.id);
  return { delivery, at, answer: await sending.send(webhook, { id, body }, attemptMs) };
}

/**
 * Writes the outcomes of a round, unless another process has claimed the webhook meanwhile. If a member has changed or disabled it,
 * the attempts say nothing about the new settings, and the webhook stays as the member wants it. Returns whether another round may
 * have work at once.
 */
async function storeOutcomes(
  trx: Trx,
  { id, revision }: WebhookRow,
  claimId: string,
  sent: readonly Sent[],
): Promise<boolean> {
  const webhook = await lockClaimed(trx, id, claimId);
  if (!webhook) return false;
  const now = new Date();
  const { outcomes, change, isRecovered, disabledReason } = outcomeOf(webhook, sent, now);
  const claimedUntilUtc = later(now, claimMs);
  if (webhook.revision !== revision) {
    const { lastSuccessUtc = webhook.lastSuccessUtc } = change;
    await writeOutcomes(trx, id, outcomes, { lastSuccessUtc, claimedUntilUtc }, now);
    return true;
  }
  await writeOutcomes(trx, id, outcomes, { ...change, claimedUntilUtc }, now);
  if (isRecovered) await makeDeliveriesDue(trx, id, now);
  if (disabledReason !== undefined) await disable(trx, webhook, disabledReason, now);
  return disabledReason === undefined && change.state !== webhookState.backing_off;
}

/** Activates a webhook that is backing off and has no delivery left that could serve as a probe. */
async function resume(db: TenantDb, { id }: WebhookRow, claimId: string, now: Date): Promise<void> {
  await inTransaction(db, async (trx) => {
    const claimed = await lockClaimed(trx, id, claimId);
    if (claimed?.state !== webhookState.backing_off) return;
    await makeDeliveriesDue(trx, id, now);
    await updateWebhook(trx, id, activated);
  });
}

/** Stops serving a webhook, with an entry in the audit log and an event. */
async function disable(trx: Trx, webhook: WebhookRow, reason: string, now: Date): Promise<void> {
  await updateWebhook(trx, webhook.id, {
    state: webhookState.disabled,
    disabledReason: reason,
    nextAttemptUtc: null,
  });
  const changes = { disabledReason: { after: reason } };
  const action = { act: 'webhook.disabled', subject: webhookSubject(webhook), changes } as const;
  await recordAuditEntries(trx, systemActor, [action], now);
  await logChanges(trx, [
    {
      changeId: newUuid(now.getTime()),
      eventType: 'webhook.disabled.v1' satisfies EventType,
      occurredUtc: now,
      actorUserAccountId: null,
      issueId: null,
      teamId: webhook.teamId,
      subjectId: webhook.id,
      origin: changeOrigin.system,
      requestId: null,
    },
  ]);
}

/** The principal that a webhook reads as; undefined if the member is suspended or removed, or no longer an owner or admin. */
function principalOf(
  { workspaceId, id, scopes }: WebhookRow,
  member: WebhookMember | undefined,
): Principal | undefined {
  if (!member || !mayUseTokens(member) || member.role > memberRole.admin) return undefined;
  return {
    workspaceId,
    userAccountId: member.userAccountId,
    memberId: member.id,
    displayName: member.displayName,
    role: member.role,
    principalKind: member.principalKind,
    tokenId: id,
    scopes: new Set(scopes as Scope[]),
    expiresUtc: null,
  };
}

function later(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}
