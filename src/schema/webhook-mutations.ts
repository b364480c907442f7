import type { WebhookRow } from '../db/webhooks.ts';
import { pingType } from '../model/events.ts';
import { limits } from '../model/limits.ts';
import {
  pingWebhook,
  redeliverWebhookDeliveries,
  type RedeliverInput,
  type PingedWebhook,
} from '../resolvers/webhooks/webhook-deliveries.ts';
import {
  updateWebhook,
  createWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  type WebhookWithSecret,
} from '../resolvers/webhooks/webhooks.ts';
import { builder, type Types } from './builder/builder.ts';
import { WebhookDeliveryState, WebhookState } from './builder/enums.ts';
import { mutation } from './builder/mutation.ts';
import { naming } from './builder/naming.ts';
import { expectedRevision } from './builder/revisions.ts';
import { Webhook } from './webhooks.ts';

type InputFields = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>;

const identifyingField = (t: InputFields) => ({
  id: t.id({
    required: true,
    extensions: naming('id', 'webhook'),
    description: 'The id of the webhook (`webhook_…`).',
  }),
});

const settableFields = (t: InputFields) => ({
  description: t.string({ description: 'What it is for, at most 1,000 characters.' }),
  eventTypes: t.stringList({
    description: 'The types of events to send; all that the token may read if the list is empty.',
  }),
  teamId: t.id({
    extensions: naming('id', 'team'),
    description: 'The team whose events are sent; null for those of the whole workspace.',
  }),
  hasImports: t.boolean({ description: 'Whether to send changes made by imports; false when omitted.' }),
});

const urlDescription = 'Where to send messages: an https URL of a public address, at most 2,048 characters.';

const WebhookCreateInput = builder.inputType('WebhookCreateInput', {
  description: 'The webhook to create.',
  fields: (t) => ({
    url: t.field({ type: 'URL', required: true, description: urlDescription }),
    ...settableFields(t),
  }),
});

const WebhookUpdateInput = builder.inputType('WebhookUpdateInput', {
  description: 'A change to a webhook. A field that is omitted does not change.',
  fields: (t) => ({
    ...identifyingField(t),
    expectedRevision: expectedRevision(t),
    url: t.field({ type: 'URL', description: urlDescription }),
    ...settableFields(t),
    state: t.field({
      type: WebhookState,
      description:
        'ACTIVE to send messages again, DISABLED to stop. Changes made while it was stopped are sent when it is active again.',
    }),
  }),
});

const WebhookDeleteInput = builder.inputType('WebhookDeleteInput', {
  description: 'The webhook to delete.',
  fields: (t) => ({ ...identifyingField(t), expectedRevision: expectedRevision(t) }),
});

const WebhookSecretRotateInput = builder.inputType('WebhookSecretRotateInput', {
  description: 'The webhook that gets a new secret.',
  fields: (t) => ({ ...identifyingField(t), expectedRevision: expectedRevision(t) }),
});

const WebhookPingInput = builder.inputType('WebhookPingInput', {
  description: 'The webhook to send a test message to.',
  fields: (t) => identifyingField(t),
});

const WebhookDeliveryRedeliverInput = builder.inputType('WebhookDeliveryRedeliverInput', {
  description:
    'The deliveries to send again: those in `ids`, or those of `webhookId` that have failed. If several fields are set, a delivery must match all of them.',
  fields: (t) => ({
    ids: t.idList({
      extensions: naming('id', 'whdelivery'),
      description: `The ids of the deliveries (\`whdelivery_…\`), at most ${limits.redeliveries.toLocaleString('en')}.`,
    }),
    webhookId: t.id({
      extensions: naming('id', 'webhook'),
      description: `The webhook whose failed deliveries are sent again, the oldest first, at most ${limits.redeliveries.toLocaleString('en')}.`,
    }),
    state: t.field({
      type: WebhookDeliveryState,
      description: 'FAILED, which is also the default if `ids` is absent.',
    }),
    sinceUtc: t.field({ type: 'DateTime', description: 'Only deliveries that were created since then.' }),
  }),
});

const WebhookPayload = builder.objectRef<{ webhook: WebhookRow }>('WebhookUpdatePayload').implement({
  description: 'The webhook that was changed.',
  scope: 'inherited',
  fields: (t) => ({
    webhook: t.expose('webhook', { type: Webhook.ref, description: 'The webhook as it is now.' }),
  }),
});

const secretPayload = (name: string, description: string) =>
  builder.objectRef<WebhookWithSecret>(name).implement({
    description,
    scope: 'inherited',
    fields: (t) => ({
      webhook: t.expose('webhook', { type: Webhook.ref, description: 'The webhook.' }),
      secret: t.exposeString('secret', {
        description:
          'The secret that messages are signed with: `whsec_…`. It is shown only in this response.',
      }),
    }),
  });

const WebhookDeletePayload = builder.objectRef<{ id: string }>('WebhookDeletePayload').implement({
  description: 'The result of the deletion.',
  scope: 'inherited',
  fields: (t) => ({
    deletedWebhookId: t.idOf('webhook', 'id', { description: 'The id that the webhook had.' }),
  }),
});

const WebhookPingPayload = builder.objectRef<PingedWebhook>('WebhookPingPayload').implement({
  description: 'The result of the test message.',
  scope: 'inherited',
  fields: (t) => ({
    webhook: t.expose('webhook', { type: Webhook.ref, description: 'The webhook as it is now.' }),
    isReceived: t.exposeBoolean('isReceived', {
      description:
        'Whether the answer had a 2xx status. If so, a webhook that was backing off or disabled is active again.',
    }),
    status: t.exposeInt('status', {
      nullable: true,
      description: 'The HTTP status of the answer; null if there was none.',
    }),
    ms: t.exposeInt('ms', { description: 'How many milliseconds it took.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why there was no answer.' }),
    head: t.exposeString('head', { description: 'The first bytes of the answer, at most 1,024.' }),
  }),
});

const WebhookDeliveryRedeliverPayload = builder
  .objectRef<{ count: number }>('WebhookDeliveryRedeliverPayload')
  .implement({
    description: 'The result of sending deliveries again.',
    scope: 'inherited',
    fields: (t) => ({
      count: t.exposeInt('count', { description: 'The number of deliveries that will be sent again.' }),
    }),
  });

const scope = 'workspace:admin';
const events = { none: 'the log of changes does not record webhooks; the audit log does' } as const;
const takesNoKey = 'its response contains a secret, which is never stored';

mutation(
  'webhookCreate',
  WebhookCreateInput,
  secretPayload('WebhookCreatePayload', 'The new webhook, and its secret.'),
  createWebhook,
  {
    description:
      'Creates a webhook, which receives all changes from now on that the scopes of the token cover. An `Idempotency-Key` is not accepted.',
    scope,
    extensions: { takesNoKey },
    events,
  },
);

mutation('webhookUpdate', WebhookUpdateInput, WebhookPayload, updateWebhook, {
  description: 'Changes a webhook. From then on it has the account and the scopes of this token.',
  scope,
  events,
});

mutation('webhookDelete', WebhookDeleteInput, WebhookDeletePayload, deleteWebhook, {
  description: 'Deletes a webhook. Messages that have not been sent yet are discarded.',
  scope,
  events,
});

mutation(
  'webhookSecretRotate',
  WebhookSecretRotateInput,
  secretPayload('WebhookSecretRotatePayload', 'The webhook, and its new secret.'),
  rotateWebhookSecret,
  {
    description:
      'Gives a webhook a new secret. For 24 hours, messages are signed with both secrets. An `Idempotency-Key` is not accepted.',
    scope,
    extensions: { takesNoKey },
    events,
  },
);

mutation('webhookPing', WebhookPingInput, WebhookPingPayload, pingWebhook, {
  description: `Sends a message of the type \`${pingType}\` at once, and returns the result. An \`Idempotency-Key\` is not accepted.`,
  scope,
  extensions: { takesNoKey: 'it sends a test message each time' },
  events,
});

mutation<RedeliverInput, { count: number }>(
  'webhookDeliveryRedeliver',
  WebhookDeliveryRedeliverInput,
  WebhookDeliveryRedeliverPayload,
  redeliverWebhookDeliveries,
  {
    description: 'Sends deliveries again, with the same `webhook-id`s.',
    scope,
    events,
  },
);
