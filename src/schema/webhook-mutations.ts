import type { WebhookRow } from '../db/webhooks.ts';
import { limits } from '../model/limits.ts';
import {
  pingWebhook,
  redeliver,
  type RedeliverInput,
  type WebhookPinged,
} from '../resolvers/webhooks/webhook-deliveries.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  rotateSecret,
  type WebhookWithSecret,
} from '../resolvers/webhooks/webhooks.ts';
import { builder, type Types } from './builder/builder.ts';
import { WebhookDeliveryState, WebhookState } from './builder/enums.ts';
import { mutation } from './builder/mutation.ts';
import { naming } from './builder/naming.ts';
import { expectedRevision } from './builder/revisions.ts';
import { Webhook } from './webhooks.ts';

type InputFields = PothosSchemaTypes.InputFieldBuilder<Types, 'InputObject'>;

const named = (t: InputFields) => ({
  id: t.id({
    required: true,
    extensions: naming('id', 'webhook'),
    description: 'The id of the webhook (`webhook_…`).',
  }),
});

const fields = (t: InputFields) => ({
  description: t.string({ description: 'What it is for, at most 1,000 characters.' }),
  eventTypes: t.stringList({
    description: 'The kinds of events to tell of; all that the token may read if the list is empty.',
  }),
  teamId: t.id({
    extensions: naming('id', 'team'),
    description: 'The team whose events to tell of; null for all of the workspace.',
  }),
  hasImports: t.boolean({ description: 'Whether to tell of what imports change; false when omitted.' }),
});

const urlDescription =
  'Where to send messages: an https URL of at most 2,048 characters that leads to a public address.';

const WebhookCreateInput = builder.inputType('WebhookCreateInput', {
  description: 'The webhook to create.',
  fields: (t) => ({
    url: t.field({ type: 'URL', required: true, description: urlDescription }),
    ...fields(t),
  }),
});

const WebhookUpdateInput = builder.inputType('WebhookUpdateInput', {
  description: 'The changes of a webhook; what is omitted stays as it is.',
  fields: (t) => ({
    ...named(t),
    expectedRevision: expectedRevision(t),
    url: t.field({ type: 'URL', description: urlDescription }),
    ...fields(t),
    state: t.field({
      type: WebhookState,
      description:
        'ACTIVE to serve it again, DISABLED to stop. Changes meanwhile are sent when it is served again.',
    }),
  }),
});

const WebhookDeleteInput = builder.inputType('WebhookDeleteInput', {
  description: 'The webhook to delete.',
  fields: (t) => ({ ...named(t), expectedRevision: expectedRevision(t) }),
});

const WebhookSecretRotateInput = builder.inputType('WebhookSecretRotateInput', {
  description: 'The webhook that gets another secret.',
  fields: (t) => ({ ...named(t), expectedRevision: expectedRevision(t) }),
});

const WebhookPingInput = builder.inputType('WebhookPingInput', {
  description: 'The webhook to send a test message to.',
  fields: (t) => named(t),
});

const WebhookDeliveryRedeliverInput = builder.inputType('WebhookDeliveryRedeliverInput', {
  description:
    'The deliveries to repeat: `ids`, or those of `webhookId` that have failed. With both, `ids` must be of that webhook.',
  fields: (t) => ({
    ids: t.idList({
      extensions: naming('id', 'whdelivery'),
      description: `The ids of the deliveries (\`whdelivery_…\`), at most ${limits.redeliveries.toLocaleString('en')}.`,
    }),
    webhookId: t.id({
      extensions: naming('id', 'webhook'),
      description: `The webhook whose failed deliveries are repeated, the oldest first, at most ${limits.redeliveries.toLocaleString('en')}.`,
    }),
    state: t.field({ type: WebhookDeliveryState, description: 'FAILED, which is also the default.' }),
    sinceUtc: t.field({ type: 'DateTime', description: 'Only deliveries that were made since then.' }),
  }),
});

const WebhookPayload = builder.objectRef<{ webhook: WebhookRow }>('WebhookUpdatePayload').implement({
  description: 'The webhook that was changed.',
  fields: (t) => ({
    webhook: t.expose('webhook', { type: Webhook.ref, description: 'The webhook as it is now.' }),
  }),
});

const secretPayload = (name: string, description: string) =>
  builder.objectRef<WebhookWithSecret>(name).implement({
    description,
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
  fields: (t) => ({
    deletedWebhookId: t.idOf('webhook', 'id', { description: 'The id that the webhook had.' }),
  }),
});

const WebhookPingPayload = builder.objectRef<WebhookPinged>('WebhookPingPayload').implement({
  description: 'What came of the test message.',
  fields: (t) => ({
    webhook: t.expose('webhook', { type: Webhook.ref, description: 'The webhook as it is now.' }),
    isReceived: t.exposeBoolean('isReceived', {
      description: 'Whether the answer had a status of 2xx. The webhook is then served again if it was not.',
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
    description: 'The result of the repetition.',
    fields: (t) => ({
      count: t.exposeInt('count', { description: 'How many deliveries will be sent once more.' }),
    }),
  });

const scope = 'workspace:admin';
const events = { none: 'a webhook is no part of what the log tells; the audit log has it' } as const;
const takesNoKey = 'its answer holds a secret, which is never kept';

mutation(
  'webhookCreate',
  WebhookCreateInput,
  secretPayload('WebhookCreatePayload', 'The new webhook, and its secret.'),
  createWebhook,
  {
    description:
      'Creates a webhook, which is told of all changes from now on. It reads with the scopes of the token. An `Idempotency-Key` is not accepted.',
    scope,
    extensions: { takesNoKey },
    events,
  },
);

mutation('webhookUpdate', WebhookUpdateInput, WebhookPayload, changeWebhook, {
  description: 'Changes a webhook. From then on it reads with the account and the scopes of this token.',
  scope,
  events,
});

mutation('webhookDelete', WebhookDeleteInput, WebhookDeletePayload, deleteWebhook, {
  description: 'Deletes a webhook. What it was not told of yet, it is never told of.',
  scope,
  events,
});

mutation(
  'webhookSecretRotate',
  WebhookSecretRotateInput,
  secretPayload('WebhookSecretRotatePayload', 'The webhook, and its new secret.'),
  rotateSecret,
  {
    description:
      'Gives a webhook another secret. For 24 hours, messages are signed with both. An `Idempotency-Key` is not accepted.',
    scope,
    extensions: { takesNoKey },
    events,
  },
);

mutation('webhookPing', WebhookPingInput, WebhookPingPayload, pingWebhook, {
  description:
    'Sends a message of the type `webhook.ping.v1` at once, and answers with what came of it. An `Idempotency-Key` is not accepted.',
  scope,
  extensions: { takesNoKey: 'it changes nothing but what the receiver does' },
  events,
});

mutation<RedeliverInput, { count: number }>(
  'webhookDeliveryRedeliver',
  WebhookDeliveryRedeliverInput,
  WebhookDeliveryRedeliverPayload,
  redeliver,
  {
    description: 'Sends deliveries once more, with the same `webhook-id`s.',
    scope,
    events,
  },
);
