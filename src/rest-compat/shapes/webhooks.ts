import { eventTypes } from '../../model/events.ts';
import { limits } from '../../model/limits.ts';
import type {
  WebhookCreateMutation,
  WebhookDeliveryFieldsFragment,
  WebhookDeliveryRedeliverMutation,
  WebhookFieldsFragment,
  WebhookPingMutation,
} from '../operations.generated.ts';
import {
  boolean,
  id,
  integer,
  name,
  nullable,
  object,
  objects,
  type Shape,
  shape,
  text,
  texts,
  timestamp,
  url,
} from '../shape.ts';

/** The maximum length of the body of a message. */
const maxBodyLength = 70_000;
/** `whsec_` and 32 bytes in base64. */
const secretLength = 50;

const responseFields = {
  status: nullable(integer('status', { description: 'The HTTP status; null if there was no answer.' })),
  ms: integer('ms', { description: 'How many milliseconds it took.' }),
  error: nullable(text(limits.name, 'error', { description: 'Why there was no answer.' })),
  head: text(limits.webhookHead, 'head', { description: 'The first bytes of the answer.' }),
} as const;

/** A URL that receives changes. */
export const webhook: Shape<WebhookFieldsFragment> = shape(
  'Webhook',
  {
    id: id('webhook', 'id'),
    url: url('url'),
    description: text(limits.summary, 'description'),
    eventTypes: texts({ maxItems: eventTypes.length, maxLength: limits.eventType }, 'eventTypes'),
    teamId: nullable(id('team', 'teamId')),
    hasImports: boolean('hasImports', { description: 'Whether it receives changes made by imports.' }),
    state: name('WebhookState', 'state'),
    disabledReason: nullable(text(limits.name, 'disabledReason')),
    scopes: texts({ maxItems: 6, maxLength: limits.name }, 'scopes'),
    userAccountId: id('user', 'userAccountId'),
    failures: integer('failures', { description: 'How many attempts have failed since the last success.' }),
    lastSuccessUtc: nullable(timestamp('lastSuccessUtc')),
    nextAttemptUtc: nullable(timestamp('nextAttemptUtc')),
    backlog: integer('backlog', {
      description: 'The number of changes in the log after the last one that was processed for it.',
    }),
    waitingCount: integer('waitingCount', { description: 'How many messages wait to be delivered.' }),
    previousSecretUntilUtc: nullable(timestamp('previousSecretUntilUtc')),
    createdUtc: timestamp('createdUtc'),
    updatedUtc: timestamp('updatedUtc'),
  },
  'revision',
);

/** A webhook with its secret, which is shown only when the webhook is created or the secret is rotated. */
export const webhookWithSecret: Shape<WebhookCreateMutation['webhookCreate']> = shape('WebhookWithSecret', {
  secret: text(secretLength, 'secret', { description: 'The secret that messages are signed with.' }),
  webhook: object(webhook, 'webhook'),
});

/** The result of a test message. */
export const pingResult: Shape<WebhookPingMutation['webhookPing']> = shape('WebhookPinged', {
  isReceived: boolean('isReceived', { description: 'Whether the status was 2xx.' }),
  ...responseFields,
});

const webhookAttempt: Shape<WebhookDeliveryFieldsFragment['attempts'][number]> = shape('WebhookAttempt', {
  utc: timestamp('utc'),
  ...responseFields,
});

/** A message to a webhook. */
export const webhookDelivery: Shape<WebhookDeliveryFieldsFragment> = shape('WebhookDelivery', {
  id: id('whdelivery', 'id'),
  webhookId: id('webhook', 'webhookId'),
  changeId: nullable(id('change', 'changeId')),
  eventType: text(limits.eventType, 'eventType'),
  issueId: nullable(id('issue', 'issueId')),
  state: name('WebhookDeliveryState', 'state'),
  attemptCount: integer('attemptCount'),
  attempts: objects(webhookAttempt, limits.webhookAttempts, 'attempts'),
  nextAttemptUtc: nullable(timestamp('nextAttemptUtc')),
  body: nullable(text(maxBodyLength, 'body', { description: 'The body, as it is sent.' })),
  createdUtc: timestamp('createdUtc'),
});

/** The number of deliveries that are sent again. */
export const redelivery: Shape<WebhookDeliveryRedeliverMutation['webhookDeliveryRedeliver']> = shape(
  'Redelivery',
  { count: integer('count') },
);
