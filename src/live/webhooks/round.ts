import type { GraphQLSchema } from 'graphql';
import {
  claimWebhook,
  type DueDelivery,
  type DueWebhook,
  isStillClaimed,
  lockClaimed,
  selectNextDeliveries,
  selectWebhookMember,
  type WebhookMember,
  writeOutcomes,
} from '../../db/webhook-work.ts';
import { activeColumns, makeDeliveriesDue, updateWebhookRow, type WebhookRow } from '../../db/webhooks.ts';
import type { Database } from '../../db/engine/engine.ts';
import { inTransaction, type Trx } from '../../db/engine/transaction.ts';
import type { TenantDb } from '../../db/tables/tenant-tables.ts';
import type { OperationContext } from '../../executor/run/execute.ts';
import { webhookState } from '../../model/codes.ts';
import { mayUseTokens } from '../../resolvers/access/access-tokens.ts';
import { recordAuditEntries, systemActor } from '../../resolvers/access/audit.ts';
import { isManager } from '../../resolvers/access/managers.ts';
import { logEvents } from '../../resolvers/changes/log-events.ts';
import type { Principal, Scope } from '../../resolvers/context.ts';
import { isReceived, type WebhookSending } from '../../resolvers/webhooks/sending.ts';
import { webhookSubject } from '../../resolvers/webhooks/webhooks.ts';
import type { Attempts } from './attempts.ts';
import { createDeliveries } from './new-deliveries.ts';
import { later, outcomeOf, type AttemptResult } from './outcomes.ts';

/** How long a process claims a webhook. It renews the claim, so one that died holds a webhook no longer than this. */
export const claimMs = 10_000;
/** How many messages a round sends at most, so that a process that dies has not left many outcomes unstored. */
const maxPerRound = 50;
/** How long messages may still be sent as before after a webhook was changed, disabled or deleted. */
const changedWithinMs = 1_000;

export interface RoundParts {
  readonly database: Database;
  readonly schema: GraphQLSchema;
  readonly sending: Pick<WebhookSending, 'send'>;
  /** Runs a read with the rights of a webhook. */
  readonly readAs: <Result>(
    principal: Principal,
    work: (context: OperationContext) => Promise<Result>,
  ) => Promise<Result>;
  /** Does the part of a round that uses the database, once few others do. */
  readonly withPermit: <Result>(work: () => Promise<Result>) => Promise<Result>;
  /** Counts an attempt. */
  readonly onAttempt: (isReceived: boolean) => void;
}

/**
 * Serves a webhook once: creates deliveries for new changes, sends those that are due, and stores the results. It claims the webhook,
 * so that no other process sends to it meanwhile. Attempts that take long go on, and a later round stores their results. Returns
 * whether another round may have work.
 */
export async function serveOnce(
  parts: RoundParts,
  served: DueWebhook,
  claimId: string,
  attempts: Attempts,
): Promise<boolean> {
  const begun = await parts.withPermit(() => beginRound(parts, served, claimId, attempts));
  if (typeof begun === 'boolean') return begun;
  const { webhook, due, isUnchanged } = begun;
  if (due.length > 0) await attempts.send(webhook, due, isUnchanged);
  else await attempts.waitForWork();
  return storeEnded(parts, served, claimId, attempts);
}

/** What a round sends. */
interface BegunRound {
  readonly webhook: WebhookRow;
  readonly due: readonly DueDelivery[];
  /** Whether the process still has its claim on the webhook, which has not been changed since. */
  readonly isUnchanged: () => Promise<boolean>;
}

/** Claims the webhook, and finds what is due. If there is nothing to send or to wait for, returns whether another round may have work. */
async function beginRound(
  parts: RoundParts,
  { workspaceId, id }: DueWebhook,
  claimId: string,
  attempts: Attempts,
): Promise<BegunRound | boolean> {
  const db = parts.database.of(workspaceId);
  const mayHaveChanges = attempts.takeChanges();
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
  const isUnchanged = checkedAtIntervals(() => isStillClaimed(db, webhook, claimId));
  const isProbe = webhook.state === webhookState.backing_off;
  const hasMore =
    mayHaveChanges &&
    !isProbe &&
    (await createDeliveries(parts.schema, db, webhook, (work) => parts.readAs(principal, work), claimId));
  if (hasMore !== false) attempts.noteChanges();
  if (hasMore === undefined) return true;
  const due = await selectNextDeliveries(db, id, {
    now: new Date(),
    isProbe,
    limit: isProbe ? 1 : maxPerRound,
    except: attempts.deliveries,
  });
  if (due.length > 0 || attempts.deliveries.length > 0) return { webhook, due, isUnchanged };
  if (isProbe) await resume(db, webhook, claimId, now);
  return hasMore;
}

/**
 * Stores the outcomes of the attempts that have ended, unless another process has claimed the webhook meanwhile. Returns whether
 * another round may have work.
 */
export async function storeEnded(
  { database, onAttempt, withPermit }: Pick<RoundParts, 'database' | 'onAttempt' | 'withPermit'>,
  { workspaceId, id }: DueWebhook,
  claimId: string,
  attempts: Attempts,
): Promise<boolean> {
  const ended = attempts.take();
  if (ended.length === 0) return true;
  // Finished deliveries make room for further changes.
  attempts.noteChanges();
  for (const { answer } of ended) onAttempt(isReceived(answer));
  const store = async (trx: Trx) => {
    let mayHaveWork = true;
    for (const [revision, sent] of Map.groupBy(ended, (attempt) => attempt.revision))
      mayHaveWork = await storeOutcomes(trx, { id, revision }, claimId, sent);
    return mayHaveWork;
  };
  return withPermit(() => inTransaction(database.of(workspaceId), store));
}

/**
 * Returns a function with the result of `check`, which it repeats when the result is older than `changedWithinMs`. Before the first
 * repetition the result is true.
 */
function checkedAtIntervals(check: () => Promise<boolean>): () => Promise<boolean> {
  let checkedMs = performance.now();
  let last = Promise.resolve(true);
  return () => {
    if (performance.now() - checkedMs >= changedWithinMs) {
      checkedMs = performance.now();
      // If that cannot be found out, no more is sent, but the results of what was sent are stored.
      last = check().catch(() => false);
    }
    return last;
  };
}

/**
 * Writes the outcomes of attempts at a webhook of a revision. If it was changed or disabled meanwhile, the attempts say nothing about
 * the new settings, and it stays as it is. Returns whether another round may have work.
 */
async function storeOutcomes(
  trx: Trx,
  { id, revision }: Pick<WebhookRow, 'id' | 'revision'>,
  claimId: string,
  sent: readonly AttemptResult[],
): Promise<boolean> {
  const webhook = await lockClaimed(trx, id, claimId);
  if (!webhook) return false;
  const now = new Date();
  const { outcomes, change, isRecovered, disabledReason } = outcomeOf(webhook, sent, now);
  const claimedUntilUtc = later(now, claimMs);
  if (webhook.revision !== revision || webhook.state === webhookState.disabled) {
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
    await updateWebhookRow(trx, id, activeColumns);
  });
}

/** Stops serving a webhook, with an entry in the audit log and an event. */
async function disable(trx: Trx, webhook: WebhookRow, reason: string, now: Date): Promise<void> {
  await updateWebhookRow(trx, webhook.id, {
    state: webhookState.disabled,
    disabledReason: reason,
    nextAttemptUtc: null,
  });
  const changes = { disabledReason: { after: reason } };
  const action = { act: 'webhook.disabled', subject: webhookSubject(webhook), changes } as const;
  await recordAuditEntries(trx, systemActor, [action], now);
  const event = { eventType: 'webhook.disabled.v1', subjectId: webhook.id, teamId: webhook.teamId } as const;
  await logEvents(trx, [event], { origin: 'system', occurredUtc: now });
}

/** The principal that a webhook reads as; undefined if the member is suspended or removed, or no longer an owner or admin. */
function principalOf(
  { workspaceId, id, scopes }: WebhookRow,
  member: WebhookMember | undefined,
): Principal | undefined {
  if (!member || !mayUseTokens(member) || !isManager(member)) return undefined;
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
