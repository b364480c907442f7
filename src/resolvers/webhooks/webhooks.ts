import { selectLogHead } from '../../db/reads/change-pages.ts';
import {
  activeColumns,
  countWebhooks,
  failDeliveries,
  makeDeliveriesDue,
  insertWebhook,
  lockWebhook,
  updateWebhookRow,
  type WebhookChange,
  type WebhookRow,
} from '../../db/webhooks.ts';
import type { Trx } from '../../db/engine/transaction.ts';
import { webhookState } from '../../model/codes.ts';
import { events, eventTypes } from '../../model/events.ts';
import { limits } from '../../model/limits.ts';
import type { AuditAct } from '../../model/audit-acts.ts';
import { dayMs } from '../../model/times.ts';
import { actorOf, type AuditedAction, recordAuditEntries } from '../access/audit.ts';
import { isManager } from '../access/managers.ts';
import { type Context, type SignedIn, requireSignedIn } from '../context.ts';
import { raise, Violations } from '../errors.ts';
import { decodeId, encodeId, newUuid } from '../ids.ts';
import { raiseNotFound } from '../not-found.ts';
import { type ExpectedRevision, requireRevision } from '../writes/revisions.ts';
import { write } from '../writes/write-transaction.ts';
import type { WebhookSending } from './sending.ts';
import { checkTeam, readWebhookFields, type WebhookFields } from './webhook-input.ts';

/** How long messages are also signed with the previous secret after a rotation. */
const previousSecretMs = dayMs;

interface NamedWebhook {
  id: string;
  expectedRevision?: ExpectedRevision;
}

/** A webhook with its secret, which cannot be shown again. */
export interface WebhookWithSecret {
  webhook: WebhookRow;
  secret: string;
}

/** The context of an owner or admin, in a server that can send. */
export function requireWebhookManager(ctx: Context): SignedIn & { readonly webhooks: WebhookSending } {
  const context = requireSignedIn(ctx);
  if (!isManager(context.principal)) raise('forbidden', 'Only owners and admins may manage webhooks.');
  if (!context.webhooks) raise('unavailable', 'This process sends no webhooks.');
  return { ...context, webhooks: context.webhooks };
}

/**
 * A webhook has the rights of the member who changed it last, so that a member cannot get events by it that they may
 * not read.
 */
function rightsOf({ principal }: SignedIn): Pick<WebhookRow, 'userAccountId' | 'scopes'> {
  return { userAccountId: principal.userAccountId, scopes: [...principal.scopes] };
}

export async function createWebhook(
  ctx: Context,
  input: WebhookFields & { url: string },
): Promise<WebhookWithSecret> {
  const context = requireWebhookManager(ctx);
  const { principal, now, webhooks } = context;
  const violations = new Violations();
  const fields = readWebhookFields(violations, input, { targets: webhooks.targets, principal });
  violations.throwIfAny();
  const rights = rightsOf(context);
  const id = newUuid(now.getTime());
  const { text, encrypted } = webhooks.secrets.make(id);
  const webhook = await write(context, undefined, async (trx) => {
    await checkTeam(trx, violations, fields.teamId);
    violations.throwIfAny();
    if ((await countWebhooks(trx)) >= limits.webhooks)
      raise('conflict', `The workspace has ${limits.webhooks} webhooks, and can have no more.`);
    const { position, tag } = await selectLogHead(trx);
    const row = await insertWebhook(trx, {
      ...fields,
      ...rights,
      id,
      url: input.url,
      secret: encrypted,
      position,
      tag,
      createdUtc: now,
      updatedUtc: now,
    });
    await audit(trx, context, 'webhook.created', row, { after: row });
    return row;
  });
  webhooks.wake();
  return { webhook, secret: text };
}

/** Changes a webhook, which from then on has the rights of this token. */
export async function updateWebhook(
  ctx: Context,
  { id, expectedRevision, ...input }: NamedWebhook & WebhookFields,
): Promise<{ webhook: WebhookRow }> {
  const context = requireWebhookManager(ctx);
  const { principal, now, webhooks } = context;
  const violations = new Violations();
  const fields = readWebhookFields(violations, input, { targets: webhooks.targets, principal });
  violations.throwIfAny();
  const rights = rightsOf(context);
  const webhook = await changeLockedWebhook(
    context,
    { id, expectedRevision },
    'webhook.updated',
    async (trx, row) => {
      await checkTeam(trx, violations, fields.teamId);
      violations.throwIfAny();
      await failDeliveries(trx, row.id, uncoveredTypes(rights.scopes), now);
      const isActivated = fields.state === webhookState.active && row.state !== webhookState.active;
      if (isActivated) await makeDeliveriesDue(trx, row.id, now);
      return {
        ...fields,
        ...rights,
        ...(isActivated && activeColumns),
        ...(fields.state === webhookState.disabled && { disabledReason: null, nextAttemptUtc: null }),
      };
    },
  );
  webhooks.wake();
  return { webhook };
}

/** The events that these scopes do not cover. Messages that were created with wider scopes must no longer be sent. */
export function uncoveredTypes(scopes: readonly string[]): string[] {
  return eventTypes.filter((type) => {
    const { scope } = events[type];
    return scope !== 'token' && !scopes.includes(scope);
  });
}

/** Gives a webhook a new secret. For a day, messages are signed with both secrets. */
export async function rotateWebhookSecret(ctx: Context, input: NamedWebhook): Promise<WebhookWithSecret> {
  const context = requireWebhookManager(ctx);
  const { now, webhooks } = context;
  let text = '';
  const webhook = await changeLockedWebhook(context, input, 'webhook.updated', (_trx, row) => {
    const secret = webhooks.secrets.make(row.id);
    text = secret.text;
    return {
      secret: secret.encrypted,
      previousSecret: row.secret,
      previousUntilUtc: new Date(now.getTime() + previousSecretMs),
    };
  });
  return { webhook, secret: text };
}

/** Deletes a webhook at once for all readers. The janitor removes its deliveries. */
export async function deleteWebhook(ctx: Context, input: NamedWebhook): Promise<{ id: string }> {
  const context = requireWebhookManager(ctx);
  const deletion = { deletedUtc: context.now, secret: Buffer.alloc(0), previousSecret: null };
  const { id } = await changeLockedWebhook(context, input, 'webhook.deleted', () => deletion);
  return { id };
}

async function changeLockedWebhook(
  context: SignedIn,
  { id, expectedRevision }: NamedWebhook,
  act: AuditAct,
  columnsOf: (trx: Trx, row: WebhookRow) => WebhookChange | Promise<WebhookChange>,
): Promise<WebhookRow> {
  const uuid = webhookUuid(id);
  return write(context, undefined, async (trx) => {
    const before = (await lockWebhook(trx, uuid)) ?? raiseNotFound('webhook');
    requireRevision('webhook', before, expectedRevision);
    const change = await columnsOf(trx, before);
    const after = await updateWebhookRow(trx, uuid, {
      ...change,
      updatedUtc: context.now,
      revision: before.revision + 1,
    });
    await audit(trx, context, act, after, act === 'webhook.deleted' ? { before } : { before, after });
    return after;
  });
}

export function webhookUuid(id: string): string {
  const decoded = decodeId('webhook', id);
  return 'uuid' in decoded ? decoded.uuid : raiseNotFound('webhook');
}

async function audit(
  trx: Trx,
  context: SignedIn,
  act: AuditAct,
  webhook: WebhookRow,
  { before, after }: { before?: WebhookRow; after?: WebhookRow },
): Promise<void> {
  const changes = Object.entries(audited).flatMap(([field, valueOf]) => {
    const values = { before: before && valueOf(before), after: after && valueOf(after) };
    return JSON.stringify(values.before) === JSON.stringify(values.after) ? [] : [[field, values] as const];
  });
  // The audit log records that the secret changed, but never its value.
  if (before && after && !before.secret.equals(after.secret))
    changes.push(['secret', { before: undefined, after: 'another one' }]);
  await recordAuditEntries(
    trx,
    actorOf(context),
    [{ act, subject: webhookSubject(webhook), changes: Object.fromEntries(changes) }],
    context.now,
  );
}

/** The webhook as the subject of an audit entry. */
export function webhookSubject({ id, url }: Pick<WebhookRow, 'id' | 'url'>): AuditedAction['subject'] {
  return { kind: 'webhook', id: encodeId('webhook', id), name: new URL(url).host };
}

const audited: Readonly<Record<string, (row: WebhookRow) => unknown>> = {
  url: ({ url }) => url,
  description: ({ description }) => description || undefined,
  eventTypes: ({ eventTypes }) => (eventTypes.length > 0 ? eventTypes : undefined),
  teamId: ({ teamId }) => teamId && encodeId('team', teamId),
  hasImports: ({ hasImports }) => hasImports || undefined,
  state: ({ state }) => Object.entries(webhookState).find(([, code]) => code === state)?.[0],
  userAccountId: ({ userAccountId }) => encodeId('user', userAccountId),
  scopes: ({ scopes }) => scopes,
};
